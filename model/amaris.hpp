// The bulk-synchronous model of Amaris et al.: the cycles of one thread, times the threads, spread over all cores, and
// divided by a weight (lambda) that is fitted once for a kernel on a device.
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

/// Cycles of one thread; equations (1) to (3) of Karan Kumar, who takes them over.
struct ThreadCycles {
  double computation = 0; ///< thread_cycles, or one cycle for every instruction that computes
  double global = 0;      ///< requests to device memory: 500 cycles, 5 where they hit the first cache, 250 the second
  double shared = 0;      ///< requests to shared memory: 5 cycles
  [[nodiscard]] double all() const { return computation + global + shared; }
};
/// Notes the terms. Needs instructions and global_requests.
ThreadCycles thread_cycles(const KernelStatistics& statistics, Prediction& prediction);

/// `adjusting_weight` is lambda: see model/calibration.hpp. Errors: see check_inputs().
Expected<Prediction> amaris(const KernelStatistics& statistics, const Device& device, const ModelOptions& options = {});

} // namespace warplens::model
