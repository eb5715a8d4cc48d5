// SPDX-License-Identifier: Apache-2.0
// Karan Kumar's equation 4: the model of Amaris (model/amaris.hpp) with occupancy. The weight includes the number of
// cores; it is fitted to one run of the kernel on the device and then used for all sizes.
//
//   T = threads * (n_computations + memAccess_GM + memAccess_SM) / (F * O * adjustingWeight)
//
// Karan Kumar G, "Analytical Model for Kernel Performance Prediction", New York University 2023, equations (1) to (4).
#include "model/amaris.hpp"
#include "model/models.hpp"

namespace warplens::model {

/// `thread_cycles` is n_computations: operations weighted by hand (2 cycles for a fused multiply-add, 24 for an
/// addition, 32 for a multiplication, 96 for a division). O and the weight cannot be separated in the paper's tables;
/// here O is the occupancy of the launch.
Expected<Prediction> karan_kumar(Prediction p, const KernelStatistics& statistics, const Device& device,
                                 const ModelOptions&) {
  const double threads = note(p, "N_threads", *statistics.threads_per_block * *statistics.blocks, "threads");
  const ThreadCycles thread = thread_cycles(statistics, p);
  const double warps = *statistics.resident_blocks * warps_per_block(statistics);
  const double occupancy = note(p, "O", warps / device.limits.warps, "");
  const double weight = note(p, "adjustingWeight", *statistics.adjusting_weight, "");
  p.bound = thread.computation > thread.global + thread.shared ? "compute" : "memory";
  return finish(std::move(p), threads * thread.all() / (occupancy * weight), device.clock_ghz);
}

} // namespace warplens::model
