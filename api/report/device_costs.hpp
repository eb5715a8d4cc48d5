// SPDX-License-Identifier: Apache-2.0
// What accesses cost under the rules of the device, in its own units: sectors; bytes, in transactions of several sizes
// (compute capability 1.2 and 1.3, and caches with lines of 128 bytes); or transactions (1.0 and 1.1).
//
//   global_cost(row.metrics, row.counts, device.coalescing_rule)   // {unit "bytes", 1024, least 128, 32 transactions}
#pragma once

#include "analyzers/metrics.hpp"
#include "analyzers/rule_counts.hpp"
#include "model/device.hpp"
#include "rules/rule_set.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

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

/// A count in the units of the device, as reports in JSON name it: "transactions", "bank_conflicts", …
struct DeviceCount {
  std::string_view name, unit, definition;
  std::string_view label; ///< for comparisons and the page; empty: not of interest by itself
};
std::span<const DeviceCount> device_counts();
/// Of a device that does not count in sectors, the transactions of a launch or an instruction; of one with other banks
/// than those of current GPUs, the passes. Empty for other devices, and without such accesses.
struct CountOfDevice {
  const DeviceCount* what;
  std::uint64_t value;
};
std::vector<CountOfDevice> counts_of_device(const analyzers::Metrics& metrics, const analyzers::RuleCounts& counts,
                                            const model::Device& device);

} // namespace warplens::api
