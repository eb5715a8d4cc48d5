// SPDX-License-Identifier: Apache-2.0
// What the instructions of a launch add to its statistics, as counted and after changes.
//
//   const CountedRows rows(profile, module, kernel, device.coalescing_rule);
//   rows.counted().totals.requests           // of the launch
//   rows.after(finding.changes).totals.requests
#pragma once

#include "analyzers/findings.hpp"
#include "analyzers/machine_work.hpp"
#include "analyzers/profile.hpp"
#include "api/launch/contention.hpp"
#include "emulator/ir/module.hpp"
#include "model/statistics.hpp"
#include "rules/coalescing.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace warplens::api {

/// Sums over the instructions of a launch.
struct Totals {
  double requests = 0, bytes = 0;
  double coalesced = 0, uncoalesced = 0, uncoalesced_transactions = 0, lone_sectors = 0;
  double by_size[3]{}, vector_by_size[3]{};
  double by_class[model::kIssueClasses]{};
  double floating_point = 0, flops = 0;
  double loads = 0, stores = 0, atomics = 0; ///< transactions
  double merged_stores = 0;                  ///< those that the first-level cache does not join with earlier ones
  double wavefronts = 0, integer_divisions = 0, wide_conversions = 0;
  double machine_instructions = 0, doubles = 0, alu = 0, special = 0; ///< as in analyzers::MachineWork
  double executed_text = 0;               ///< machine instructions, of those that some warp executes
  double missed = 0;                      ///< load transactions that miss the first-level cache, where it was simulated
  double changed = 0, changed_missed = 0; ///< those of changed loads: transactions now, and misses before
  double load_requests = 0;
  /// A change that saves transactions saves first those that hit: what the loads need of the lines is the same.
  [[nodiscard]] double all_missed() const { return missed + std::min(changed, changed_missed); }
};
Totals operator+(const Totals& a, const Totals& b);

class CountedRows {
public:
  struct Counts {
    Totals totals;
    std::shared_ptr<const Contention> contention;
  };

  CountedRows(const analyzers::Profile& profile, const ir::Module& module, const ir::Function& kernel,
              const rules::Coalescing& rule);

  [[nodiscard]] const Counts& counted() const { return counted_; }
  [[nodiscard]] Counts after(const analyzers::Changes& changes) const;

private:
  /// What one instruction adds.
  struct Row {
    Totals totals;
    std::optional<double> updates; ///< sectors of atomics
    double lanes = 0;              ///< of an average block, that execute it
  };
  class Counting;

  using ChangedRows = std::map<std::size_t, Row>; ///< by place in the profile

  [[nodiscard]] Totals sum(const ChangedRows& changed) const;
  [[nodiscard]] std::shared_ptr<const Contention> contention(const ChangedRows& changed) const;

  const analyzers::Profile& profile_;
  const ir::Function& kernel_;
  const rules::Coalescing& rule_;
  double blocks_ = 1;
  std::vector<analyzers::MachineWork> machine_code_; ///< by instruction
  std::map<std::uint32_t, double> fresh_stores_;     ///< by instruction: the share of its sectors that is new
  std::vector<Row> rows_;                            ///< as counted
  /// Sums of rows_: the first n elements each of two others, element i of 2 * i and 2 * i + 1; then the rows.
  std::vector<Totals> sums_;
  Counts counted_;
};

} // namespace warplens::api
