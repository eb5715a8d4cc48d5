// SPDX-License-Identifier: Apache-2.0
// Volkov's bound: a multiprocessor executes memory instructions at the lowest of four rates: the rate that its warps
// sustain if each waits for one latency after the other, and the rates of memory, arithmetic and issue.
//
//   per cycle: min( n / (mem_lat + alpha * alu_lat), mem_thru, alu_thru / alpha, issue_thru / (alpha + 1) )
//
// n: resident warps times the loads that each has in flight; alpha: other instructions per memory instruction.
// V. Volkov, "Understanding Latency Hiding on GPUs", dissertation, University of California at Berkeley 2016; the
// formula is taken from notes that restate it.
#pragma once

#include "emulator/base/expected.hpp"
#include "model/device.hpp"
#include "model/prediction.hpp"
#include "model/statistics.hpp"

namespace warplens::model {

/// Needs device.latency.arithmetic and .memory; cache hits shorten the latency if the device has their latencies.
/// alu_thru is one warp for every 32 cores. Errors: see check_inputs().
Expected<Prediction> volkov(const KernelStatistics& statistics, const Device& device, const ModelOptions& options = {});

} // namespace warplens::model
