// Branches: how many, and whether all active lanes of a warp went the same way.
//
//   a warp of 32 lanes branches, 8 take it: branch += 1, divergent_branch += 1
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
  };
  using ActiveLanes = std::array<std::uint64_t, exec::kWarpSize + 1>; ///< branches by the number of active lanes

  explicit Divergence(std::size_t instructions) : rows_(instructions + 1) {}

  [[nodiscard]] const AnalyzerInfo& info() const override;
  std::unique_ptr<exec::Shard> make_shard() override;
  void absorb(exec::Shard& shard) override;
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;

private:
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
