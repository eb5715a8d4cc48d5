// SPDX-License-Identifier: Apache-2.0
#include "model/karan_kumar.hpp"

#include "model/amaris.hpp"
#include "model/models.hpp"

namespace warplens::model {

Expected<Prediction> karan_kumar(const KernelStatistics& statistics, const Device& device, const ModelOptions&) {
  if (Diagnostics errors = check_inputs(kKaranKumar, statistics, device); errors.has_errors())
    return failure(std::move(errors));
  Prediction p;
  p.model = kKaranKumar;
  p.device = device.name;
  const double threads = note(p, "N_threads", *statistics.threads_per_block * *statistics.blocks, "threads");
  const ThreadCycles thread = thread_cycles(statistics, p);
  const double warps = *statistics.resident_blocks * warps_per_block(statistics);
  const double occupancy = note(p, "O", warps / device.limits.warps, "");
  const double weight = note(p, "adjustingWeight", *statistics.adjusting_weight, "");
  p.bound = thread.computation > thread.global + thread.shared ? "compute" : "memory";
  return finish(std::move(p), threads * thread.all() / (occupancy * weight), device.clock_ghz);
}

} // namespace warplens::model
