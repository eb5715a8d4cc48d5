// SPDX-License-Identifier: Apache-2.0
#include "model/warp_parallelism.hpp"

#include <algorithm>
#include <cmath>

namespace warplens::model {
namespace {

// Warps beyond the first that wait for memory; a bandwidth so small that MWP < 1 leaves none.
double others(double mwp) { return std::max(mwp - 1, 0.0); }

// Equations (22) to (24): the cycles of one round of blocks, and what bounds them. The published pseudo-code tests
// MWP and CWP for equality with N; both are minima with N, so >= is equivalent without comparing doubles for equality.
double round_cycles(Prediction& p, const WarpWork& work, double n, LongComputation long_computation) {
  const bool any = work.requests > 0;
  // Comp_p is the computation between two requests: never more than all of it, even if only some warps have a request.
  const double compute_per_request = work.compute_cycles / std::max(work.requests, 1.0);
  if (any && p.mwp >= n && p.cwp >= n) {
    p.bound = "latency";
    return work.memory_cycles + work.compute_cycles + compute_per_request * others(p.mwp);
  }
  p.bound = any && p.cwp >= p.mwp ? "memory" : "compute";
  const bool longer = work.compute_cycles > work.memory_cycles && long_computation == LongComputation::equation_23;
  if (any && (p.cwp >= p.mwp || longer)) return work.memory_cycles * n / p.mwp + compute_per_request * others(p.mwp);
  return work.memory_latency + work.compute_cycles * n;
}

} // namespace

Residency residency(const KernelStatistics& statistics, const Device& device, const ModelOptions& options) {
  const double blocks = *statistics.blocks;
  Residency r;
  r.multiprocessors = std::min<double>(device.multiprocessors, blocks);
  r.warps_per_block = warps_per_block(statistics);
  const double share = blocks / r.multiprocessors; // blocks that each multiprocessor runs in all
  r.blocks = std::min(*statistics.resident_blocks, share);
  r.warps = r.blocks * r.warps_per_block;
  r.repetitions = share / r.blocks;
  if (options.repetitions == ModelOptions::Repetitions::whole) r.repetitions = std::ceil(r.repetitions);
  return r;
}

void choose_mwp(Prediction& prediction, const MwpLimits& limits, const ModelOptions& options) {
  prediction.mwp = std::min({limits.departure, limits.bandwidth, limits.warps});
  prediction.mwp_bound = prediction.mwp == limits.warps       ? "warps"
                         : prediction.mwp == limits.departure ? "departure"
                                                              : "bandwidth";
  if (options.mwp_rounding == ModelOptions::Rounding::two_digits)
    prediction.mwp = std::max(std::round(prediction.mwp * 100) / 100, 0.01);
  note(prediction, "MWP", prediction.mwp, "warps");
}

Expected<Prediction> overlap(Prediction p, const WarpWork& work, const Residency& r, const KernelStatistics& statistics,
                             double clock_ghz, ModelOptions::Synchronization synchronization,
                             LongComputation long_computation) {
  note(p, "Mem_cycles", work.memory_cycles, "cycles per warp");
  note(p, "Comp_cycles", work.compute_cycles, "cycles per warp");
  if (work.requests > 0) {
    const double full = note(p, "CWP_full", (work.memory_cycles + work.compute_cycles) / work.compute_cycles, "warps");
    p.cwp = std::min(full, r.warps);
  } else {
    p.mwp = r.warps;
    p.mwp_bound = "warps";
    note(p, "MWP", p.mwp, "warps");
  }
  note(p, "CWP", p.cwp, "warps");
  note(p, "Active_SMs", r.multiprocessors, "multiprocessors");
  note(p, "Active_blocks_per_SM", r.blocks, "blocks");
  note(p, "N", r.warps, "warps");
  note(p, "Rep", r.repetitions, "");

  const double app =
      note(p, "Exec_cycles_app", round_cycles(p, work, r.warps, long_computation) * r.repetitions, "cycles");
  const double warps_per_sm = r.warps_per_block * *statistics.blocks / r.multiprocessors;
  note(p, "CPI", app / (work.instructions * warps_per_sm), "cycles per warp instruction");

  const bool per_block = synchronization == ModelOptions::Synchronization::block;
  const double waiting = per_block ? std::min(p.mwp, r.warps_per_block) : p.mwp;
  const double synch =
      note(p, "Synch_cost", work.departure_delay * others(waiting) * work.synchronizations * r.blocks * r.repetitions,
           "cycles");
  if (p.cwp < p.mwp && work.compute_cycles > work.memory_cycles && app < work.compute_cycles * r.warps * r.repetitions)
    p.remarks.push_back("faster than the multiprocessors can issue: equation (23) underestimates kernels that compute "
                        "longer than they wait (Comp_cycles > Mem_cycles)");
  if (!statistics.synchronizations) p.remarks.push_back("'synchronizations' was not given: no barriers are assumed");

  return finish(std::move(p), app + synch, clock_ghz);
}

} // namespace warplens::model
