// SPDX-License-Identifier: Apache-2.0
// From a profile to what the analytical models want to know, under the coalescing rule of a device.
//
//   vector addition on the C1060: instructions 13.97 per warp, global_requests 2.97, transactions_64 5.94, …
#pragma once

#include "analyzers/findings.hpp"
#include "analyzers/profile.hpp"
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
/// `changes`: of the counts, to predict the launch after a remedy.
model::KernelStatistics statistics(const analyzers::Profile& profile, const ir::Module& module,
                                   const ir::Function& kernel, const model::Device& device,
                                   std::uint64_t threads_per_block, std::optional<int> resident_blocks,
                                   const analyzers::Changes& changes = {});

/// Sets the statistics of the longest warps. If blocks may wait for each other or take work from a common counter,
/// which warp executes how much depends on the order in which the blocks ran, and the longest warp of the launch counts
/// as those of the blocks do on average.
void add_longest_warps(model::KernelStatistics& statistics, const exec::LongestWarps& longest, const ir::Module& module,
                       const ir::Function& kernel);

} // namespace warplens::api
