// SPDX-License-Identifier: Apache-2.0
// Karan Kumar's equation 4: the model of Amaris (model/amaris.hpp) with occupancy. The weight includes the number of
// cores; it is fitted to one run of the kernel on the device and then used for all sizes.
//
//   T = threads * (n_computations + memAccess_GM + memAccess_SM) / (F * O * adjustingWeight)
//
// Karan Kumar G, "Analytical Model for Kernel Performance Prediction", New York University 2023, equations (1) to (4).
#pragma once

#include "emulator/base/expected.hpp"
#include "model/device.hpp"
#include "model/prediction.hpp"
#include "model/statistics.hpp"

namespace warplens::model {

/// `thread_cycles` is n_computations: operations weighted by hand (2 cycles for a fused multiply-add, 24 for an
/// addition, 32 for a multiplication, 96 for a division). O and the weight cannot be separated in the paper's tables;
/// here O is the occupancy of the launch. Errors: see check_inputs().
Expected<Prediction> karan_kumar(const KernelStatistics& statistics, const Device& device,
                                 const ModelOptions& options = {});

} // namespace warplens::model
