// SPDX-License-Identifier: Apache-2.0
// The fewest bytes that device memory has to move for a launch: not those that requests ask for, because the caches
// serve most of what is used again.
//
//   a warp each of 1000 loads the same 128 bytes: 128 000 bytes asked, 128 bytes moved at least
#pragma once

#include "model/device.hpp"
#include "model/prediction.hpp"
#include "model/statistics.hpp"

namespace warplens::model {

/// With an L2 cache, the distinct sectors that the launch loads and does not write, because a byte that is loaded or
/// stored again can be there, and the written ones that do not fit. With simulated caches, the loads that they miss
/// instead. Where neither is known, all transactions count, but at most the allocations that the arguments point into.
/// Needs the transactions of each size.
double memory_bytes(Prediction& prediction, const KernelStatistics& statistics, const Device& device);

} // namespace warplens::model
