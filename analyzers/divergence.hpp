// SPDX-License-Identifier: Apache-2.0
// Branches: how many, and whether all active lanes of a warp took the same path.
//
//   a warp of 32 lanes branches, 8 take it: branch += 1, divergent_branch += 1, branch_taken_lanes += 8
//
// A branch that diverged at least once is charged for the lane slots lost between it and the point where its paths
// reconverge (its immediate post-dominator), except in regions of nested divergent branches: branch_lost_lane_slots.
// The other lost slots of a launch come from partial warps and guards.
#pragma once

#include "analyzers/analyzer.hpp"
#include "analyzers/lane_boxes.hpp"

#include <array>

namespace warplens::analyzers {

/// Of one branch instruction.
struct BranchRow {
  std::uint64_t executed = 0;
  std::uint64_t divergent = 0;
  std::uint64_t active_lanes = 0; ///< summed over the branches executed
  std::uint64_t taken_lanes = 0;
  std::uint64_t lost_slots = 0; ///< inactive lanes of the instructions charged to it
  std::uint64_t at_a_bound = 0; ///< of the divergent ones: all lanes that take it are above, or below, all others
  bool irregular = false;       ///< once, neither the lanes that take it nor the others were a box of threads
  bool loops = false;           ///< one of its paths leads back
  bool one_sided = false;       ///< one of its paths leads to the point of reconvergence, or out of the kernel, at once
  void add(const BranchRow& other);
  [[nodiscard]] bool any() const { return executed != 0; }
};

class BranchShard final : public RowShard<BranchRow> {
public:
  /// Without `boxes`, all divergent branches are irregular.
  explicit BranchShard(std::size_t rows, const LaneBoxes* boxes = nullptr) : RowShard(rows), boxes_(boxes) {}
  void branch(const exec::Branch& branch) override;
  void fields(Archive& a) override { a(rows_, active_); }

  using ActiveLanes = std::array<std::uint64_t, exec::kWarpSize + 1>; ///< branches by the number of active lanes
  [[nodiscard]] const ActiveLanes& active() const { return active_; }

private:
  [[nodiscard]] bool is_box(exec::Mask part, exec::Mask all) const {
    return boxes_ != nullptr && boxes_->is_box(part, all);
  }
  ActiveLanes active_{};
  const LaneBoxes* boxes_;
};

class Divergence final : public RowAnalyzer<BranchShard> {
public:
  static constexpr AnalyzerInfo kInfo = {"divergence", "Divergence", "executed branches and divergent branches"};
  explicit Divergence(const ir::Function& function, const exec::LaunchShape& shape = {})
      : RowAnalyzer(kInfo, function.instructions.size()), function_(function), boxes_(shape) {}
  [[nodiscard]] const LaneBoxes& boxes() const { return boxes_; }

  void absorb(exec::Shard& shard) override;
  void conclude(const std::vector<exec::InstructionCount>& counts) override;
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;

private:
  const ir::Function& function_;
  LaneBoxes boxes_;
  BranchShard::ActiveLanes active_{};
};

} // namespace warplens::analyzers
