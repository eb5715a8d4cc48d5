// The roofline: a kernel runs no faster than its arithmetic at the peak of the cores, nor than its bytes at the peak of
// memory; which of the two binds is told by operations per byte.
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

/// The roof is that of floating-point operations (two for every core and cycle) where `flops` is given, otherwise that
/// of warp instructions. Errors: see check_inputs().
Expected<Prediction> roofline(const KernelStatistics& statistics, const Device& device,
                              const ModelOptions& options = {});

} // namespace warplens::model
