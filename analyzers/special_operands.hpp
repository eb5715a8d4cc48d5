// SPDX-License-Identifier: Apache-2.0
// Divisions, roots and reciprocals that round: how many warps executed them with operands for which machine code calls
// a subroutine, in at least one lane. The subroutine takes longer than the instruction itself.
//
//   div.rn.f64 of 0 by 3 in lane 5, of 1 by 3 in the others:  special_operands += 1
#pragma once

#include "analyzers/analyzer.hpp"

namespace warplens::analyzers {

struct SpecialRow {
  std::uint64_t warps = 0;
  void add(const SpecialRow& other) { warps += other.warps; }
  [[nodiscard]] bool any() const { return warps != 0; }
};

class SpecialShard final : public RowShard<SpecialRow> {
public:
  using RowShard::RowShard;
  void special_operands(const exec::SpecialOperands& special) override {
    row_of(special.instruction).warps += special.count;
  }
};

class SpecialOperands final : public RowAnalyzer<SpecialShard> {
public:
  static constexpr AnalyzerInfo kInfo = {"special_operands", "Special operands",
                                         "divisions, roots and reciprocals for which machine code calls a subroutine"};
  explicit SpecialOperands(std::size_t instructions) : RowAnalyzer(kInfo, instructions) {}
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override {
    const auto add = [](Metrics& metrics, const SpecialRow& row) {
      metrics.add(MetricId::special_operands, row.warps);
    };
    const SpecialRow total = add_rows(rows_, rows, add);
    if (total.any()) add(launch, total);
  }
};

} // namespace warplens::analyzers
