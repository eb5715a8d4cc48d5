// SPDX-License-Identifier: Apache-2.0
// Barriers and the imbalance of warps at them: how much less work each warp does between barriers than the busiest warp
// of its block.
//
//   between two barriers warp 0 runs 100 instructions, warps 1 to 3 run 20: 240 of 400 instruction slots are waits
//
// The work of a warp is its number of warp instructions between two barriers; differences in memory latency do not
// count. Warps that take part in no barrier do not count.
#pragma once

#include "analyzers/analyzer.hpp"

#include <map>

namespace warplens::analyzers {

class BarrierWaits final : public Analyzer {
public:
  static constexpr AnalyzerInfo kInfo = {"barrier_waits", "Imbalance at barriers",
                                         "imbalance of the work of a block's warps between barriers"};
  class Shard;
  /// Of the barriers at one instruction.
  struct Row {
    std::uint64_t arrivals = 0; ///< of warps
    std::uint64_t work = 0;     ///< instructions that they executed since their previous barrier
    std::uint64_t waited = 0;   ///< instructions that the busiest warp executed in addition
    std::uint64_t busiest = 0;  ///< instructions of the busiest warp, summed over meetings
    std::uint64_t meetings = 0;
    void add(const Row& other);
    [[nodiscard]] bool any() const { return arrivals != 0 || meetings != 0; }
  };
  BarrierWaits(std::size_t instructions, const exec::LaunchShape& shape)
      : Analyzer(kInfo), rows_(instructions + 1), shape_(shape) {}

  std::unique_ptr<exec::Shard> make_shard() override;
  void absorb(exec::Shard& shard) override;
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;

private:
  std::vector<Row> rows_; // the last: instructions out of range
  exec::LaunchShape shape_;
};

class BarrierWaits::Shard final : public exec::Shard {
public:
  Shard(std::size_t rows, std::uint32_t warps) : rows_(rows), warps_(warps) {}
  void barrier(const exec::Barrier& barrier) override;
  void end_cta(std::uint64_t cta) override;
  /// Everything counted so far, as if no further warp arrives.
  const std::vector<Row>& rows();
  void fields(Archive& a) override {
    rows(); // ends the blocks
    a(rows_);
  }

private:
  static constexpr std::uint32_t kBarriers = 16;
  /// The progress of a warp between barriers.
  struct Progress {
    std::uint64_t met = 0;     ///< steps at its previous barrier
    std::uint64_t arrived = 0; ///< steps at its arrival at the barrier below
    exec::Mask lanes = 0;      ///< that have arrived; 0: at no barrier
    std::uint32_t number = 0;
    std::uint32_t instruction = 0;
  };
  struct Cta {
    std::vector<Progress> warps;
  };
  Cta& cta_of(std::uint64_t number);
  void meet(Cta& cta, std::uint32_t number);

  std::vector<Row> rows_;
  std::uint32_t warps_;
  std::map<std::uint64_t, Cta> ctas_; // that have begun and not ended
  std::uint64_t last_number_ = 0;
  Cta* last_ = nullptr; // used last; most events belong to the same block
};

} // namespace warplens::analyzers
