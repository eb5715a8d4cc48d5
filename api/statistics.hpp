// From a profile to what the analytical models want to know, under the coalescing rule of a device.
//
//   vector addition on the C1060: instructions 13.97 per warp, global_requests 2.97, transactions_64 5.94, …
#pragma once

#include "analyzers/profile.hpp"
#include "emulator/ir/module.hpp"
#include "model/device.hpp"

namespace warplens::api {

/// The statistics of a launch, averages per warp. Duplicate loads are those of scalar requests. Hit ratios are given
/// where the analyzer `caches` ran.
/// How requests are counted:
/// - Requests are loads and stores of global memory, and of local memory, which is interleaved and therefore always
///   coalesced. Atomics are requests only under the sector rule: the profile has no transactions of them for 1.x.
/// - The device's rule decides the transactions: "1.0" (half-warps in order, or a transaction a lane), "1.2"
/// (half-warps,
///   32 to 128 bytes), any other: 32-byte sectors.
/// - An instruction whose requests make over 10 % more transactions than the width of its words needs counts as
///   uncoalesced; under "1.0" its requests are split by the transactions of lanes on their own.
model::KernelStatistics statistics(const analyzers::Profile& profile, const ir::Function& kernel,
                                   const model::Device& device, std::uint64_t threads_per_block,
                                   std::optional<int> resident_blocks);

} // namespace warplens::api
