// SPDX-License-Identifier: Apache-2.0
// Two lower bounds: all transactions at the bandwidth of device memory, and all loads and stores at the rate of the
// units that execute them. The larger one limits a kernel that only moves data.
//
//   a Tesla K80 die copies bytes: 240 GB/s by memory, but 875 MHz * 13 * 32 units * 1 byte = 364 GB/s by the units, of
//   which a quarter is used: 91 GB/s; with words of four bytes it is four times as much, and memory is the limit
//
// E. Darve, CME 213, Stanford University 2019, "Possible bottlenecks".
#pragma once

#include "emulator/base/expected.hpp"
#include "model/device.hpp"
#include "model/prediction.hpp"
#include "model/statistics.hpp"

namespace warplens::model {

/// The second bound needs device.throughput.load_store_units; load_store_use is 1 by default. Errors: see
/// check_inputs().
Expected<Prediction> bounds(const KernelStatistics& statistics, const Device& device, const ModelOptions& options = {});

} // namespace warplens::model
