// SPDX-License-Identifier: Apache-2.0
// From a profile to what the analytical models want to know, under the coalescing rule of a device.
//
//   Statistics(profile, module, kernel, device).of(threads_per_block, resident_blocks)
//
//   vector addition on the C1060: instructions 13.97 per warp, global_requests 2.97, transactions_64 5.94, …
#pragma once

#include "analyzers/findings.hpp"
#include "analyzers/profile.hpp"
#include "api/launch/counted_rows.hpp"
#include "emulator/exec/state/events.hpp"
#include "emulator/ir/module.hpp"
#include "model/device.hpp"

namespace warplens::api {

/// The statistics of a launch, averages per warp. Duplicate loads are those of scalar requests. Hit ratios are given
/// where the analyzer `caches` ran.
/// How requests are counted:
/// - Requests are loads and stores of global memory, and of local memory, which is interleaved and therefore always
///   coalesced. Atomics are requests only where the device's rule describes them.
/// - The device's rule decides the transactions.
/// - An instruction whose requests make over 10 % more transactions than the width of its words needs counts as
///   uncoalesced; where the rule asks for order, its requests are split by the transactions of lanes on their own.
class Statistics {
public:
  /// `profile`, `kernel` and `device` must live as long.
  Statistics(const analyzers::Profile& profile, const ir::Module& module, const ir::Function& kernel,
             const model::Device& device);

  /// `changes`: of the counts, to predict the launch after a remedy.
  [[nodiscard]] model::KernelStatistics of(std::uint64_t threads_per_block, std::optional<int> resident_blocks,
                                           const analyzers::Changes& changes = {}) const;

private:
  void change(model::KernelStatistics& s, const Totals& changed, const analyzers::Changes& changes) const;

  const analyzers::Profile& profile_;
  const model::Device& device_;
  CountedRows rows_;
  std::optional<double> duplicates_; ///< requested sectors by different ones, of scalar loads
  double executed_ = 0;              ///< instructions that some warp executes
};

/// Sets the statistics of the longest warps. If blocks may wait for each other or take work from a common counter,
/// which warp executes how much depends on the order in which the blocks ran, and the longest warp of the launch counts
/// as those of the blocks do on average.
void add_longest_warps(model::KernelStatistics& statistics, const exec::LongestWarps& longest, const ir::Module& module,
                       const ir::Function& kernel);

} // namespace warplens::api
