// SPDX-License-Identifier: Apache-2.0
// cp.async.cg: the sectors that these copies by the lanes of a warp fetch, which depend on sources and destinations
// together.
//
//   32 lanes copy 16 bytes each from consecutive addresses to addresses 32 bytes apart: 32 sectors, 16 ideal
#pragma once

#include "analyzers/analyzer.hpp"

namespace warplens::analyzers {

struct LaneCopyRow {
  std::uint64_t fetched = 0, sectors = 0;
  void add(const LaneCopyRow& other) {
    fetched += other.fetched;
    sectors += other.sectors;
  }
  [[nodiscard]] bool any() const { return fetched != 0; }
};

class LaneCopyShard final : public RowShard<LaneCopyRow> {
public:
  using RowShard::RowShard;
  void lane_copy(const exec::LaneCopy& copy) override {
    row_of(copy.instruction).add({copy.count * copy.fetched, copy.count * copy.sectors});
  }
};

class LaneCopies final : public RowAnalyzer<LaneCopyShard> {
public:
  static constexpr AnalyzerInfo kInfo = {"lane_copies", "Copies by lanes", "sectors that cp.async.cg fetches"};
  explicit LaneCopies(std::size_t instructions) : RowAnalyzer(kInfo, instructions) {}
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override {
    const auto add = [](Metrics& metrics, const LaneCopyRow& row) {
      metrics.add(MetricId::lane_copy_sectors, row.fetched);
      metrics.add(MetricId::lane_copy_sectors_ideal, row.sectors);
      metrics.add(MetricId::lane_copy_sectors_excessive, row.fetched - row.sectors);
    };
    const LaneCopyRow total = add_rows(rows_, rows, add);
    if (total.any()) add(launch, total);
  }
};

} // namespace warplens::analyzers
