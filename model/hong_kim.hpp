// SPDX-License-Identifier: Apache-2.0
// The model of Hong & Kim: the number of warps that can wait for memory at a time (MWP) and that can compute meanwhile
// (CWP) determine how much of the memory time computation hides.
//
//   tiled matrix multiplication of the paper's section 3.5: MWP 2.28, CWP 20, 50738 cycles
//
// S. Hong, H. Kim, "An Analytical Model for a GPU Architecture with Memory-level and Thread-level Parallelism
// Awareness", ISCA 2009, equations (5) to (27); made for compute capability 1.0 to 1.3.
#pragma once

#include "emulator/base/expected.hpp"
#include "model/device.hpp"
#include "model/prediction.hpp"
#include "model/statistics.hpp"

namespace warplens::model {

/// Terms have the paper's names; cycles are those of the shader clock. Needs device.hong_kim and device.issue_cycles,
/// of which only `basic` is used: all instructions cost the same. Errors: see check_inputs().
Expected<Prediction> hong_kim(const KernelStatistics& statistics, const Device& device,
                              const ModelOptions& options = {});

} // namespace warplens::model
