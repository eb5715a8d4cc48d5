// SPDX-License-Identifier: Apache-2.0
// The roofline: the peak throughput of the cores limits the arithmetic of a kernel, and the peak bandwidth limits its
// memory traffic. The operations per byte decide which limit applies.
//
//   attainable = min(peak, intensity * bandwidth)
//
// S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model for multicore
// architectures", Communications of the ACM 52 (4), 2009.
#pragma once

#include "emulator/base/expected.hpp"
#include "model/device.hpp"
#include "model/prediction.hpp"
#include "model/statistics.hpp"

namespace warplens::model {

/// The roof counts floating-point operations (two for every core and cycle) if `flops` is given, otherwise warp
/// instructions. Errors: see check_inputs().
Expected<Prediction> roofline(const KernelStatistics& statistics, const Device& device,
                              const ModelOptions& options = {});

} // namespace warplens::model
