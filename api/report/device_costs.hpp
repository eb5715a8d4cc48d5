// SPDX-License-Identifier: Apache-2.0
// What accesses cost under the rules of the device, in its own units: sectors; bytes, in transactions of several sizes
// (compute capability 1.2 and 1.3, and caches with lines of 128 bytes); or transactions (1.0 and 1.1).
//
//   global_cost(row.metrics, row.counts, device.coalescing_rule)   // {unit "bytes", 1024, least 128, 32 transactions}
#pragma once

#include "analyzers/metrics.hpp"
#include "analyzers/rule_counts.hpp"
#include "rules/rule_set.hpp"

#include <cstdint>
#include <string_view>

namespace warplens::api {

/// Of an instruction or a launch. Atomics do not count under rules that do not describe them.
struct GlobalCost {
  std::string_view unit;              ///< of `taken` and `least`: "sectors", "bytes" or "transactions"
  std::uint64_t taken = 0, least = 0; ///< least: of perfect accesses
  std::uint64_t transactions = 0;     ///< sectors, where these are the unit
  std::uint64_t bytes = 0;            ///< that are moved
};
GlobalCost global_cost(const analyzers::Metrics& metrics, const analyzers::RuleCounts& counts,
                       const rules::CoalescingRule& rule);

/// Passes over the banks of shared memory.
struct BankCost {
  std::uint64_t passes = 0, conflicts = 0;
};
BankCost bank_cost(const analyzers::Metrics& metrics, const analyzers::RuleCounts& counts, const rules::BankRule& rule);

} // namespace warplens::api
