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

#include <array>

namespace warplens::analyzers {

class Divergence final : public Analyzer {
public:
  class Shard;
  /// Of one branch instruction.
  struct Row {
    std::uint64_t executed = 0;
    std::uint64_t divergent = 0;
    std::uint64_t active_lanes = 0; ///< summed over the branches executed
    std::uint64_t taken_lanes = 0;
    std::uint64_t lost_slots = 0; ///< inactive lanes of the instructions charged to it
  };
  using ActiveLanes = std::array<std::uint64_t, exec::kWarpSize + 1>; ///< branches by the number of active lanes

  explicit Divergence(const ir::Function& function) : function_(function), rows_(function.instructions.size() + 1) {}

  [[nodiscard]] const AnalyzerInfo& info() const override;
  std::unique_ptr<exec::Shard> make_shard() override;
  void absorb(exec::Shard& shard) override;
  void conclude(const std::vector<exec::InstructionCount>& counts) override;
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;

private:
  const ir::Function& function_;
  std::vector<Row> rows_; // the last: instructions out of range
  ActiveLanes active_{};
};

class Divergence::Shard final : public exec::Shard {
public:
  explicit Shard(std::size_t rows) : rows_(rows) {}
  void branch(const exec::Branch& branch) override;

  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] const ActiveLanes& active() const { return active_; }

private:
  std::vector<Row> rows_;
  ActiveLanes active_{};
};

} // namespace warplens::analyzers
