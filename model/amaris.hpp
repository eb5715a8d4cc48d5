// SPDX-License-Identifier: Apache-2.0
// The bulk-synchronous model of Amaris et al.: the cycles of one thread times the number of threads, divided by the
// number of cores and by a weight (lambda) that is fitted once for a kernel on a device.
//
//   T = threads * (Comp + Comm_GM + Comm_SM) / (clock * cores * lambda)
//
// M. Amaris, D. Cordeiro, A. Goldman, R. de Camargo, "A Simple BSP-based Model to Predict Execution Time in GPU
// Applications", HiPC 2015 (venue recalled); formula, latencies and lambdas from the authors' published code.
#pragma once

#include "emulator/base/expected.hpp"
#include "model/device.hpp"
#include "model/prediction.hpp"
#include "model/statistics.hpp"

namespace warplens::model {

/// Cycles of one thread; also equations (1) to (3) of Karan Kumar.
struct ThreadCycles {
  double computation = 0; ///< thread_cycles, or one cycle for every non-memory instruction
  double global = 0;      ///< requests to device memory: 500 cycles; 5 for L1 cache hits, 250 for L2 cache hits
  double shared = 0;      ///< requests to shared memory: 5 cycles
  [[nodiscard]] double all() const { return computation + global + shared; }
};
/// Adds its terms to the prediction. Needs instructions and global_requests.
ThreadCycles thread_cycles(const KernelStatistics& statistics, Prediction& prediction);

} // namespace warplens::model
