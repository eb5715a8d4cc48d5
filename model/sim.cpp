// SPDX-License-Identifier: Apache-2.0
// GPUPerf, the model of Sim et al.: it computes the computation and memory times of a multiprocessor separately and
// then overlaps them. It includes caches, instruction-level (ILP) and memory-level parallelism (MLP), and
// serialisation.
//
//   T_exec = T_comp + T_mem - T_overlap
//
// J. Sim, A. Dasgupta, H. Kim, R. Vuduc, "A Performance Analysis Framework for Identifying Potential Benefits in GPGPU
// Applications", PPoPP 2012, equations (1) to (17) and (A.1) to (A.7), made for Fermi. The text of the paper was not
// available: the equations are those of an implementation that cites their numbers. The potential-benefit metrics
// (B_itilp, B_serial, B_fp, B_memlp) are recalled, and their equation numbers are not confirmed.
#include "model/cache_hits.hpp"
#include "model/models.hpp"
#include "model/warp_parallelism.hpp"

#include <algorithm>

namespace warplens::model {
namespace {

constexpr double kGamma = 64; ///< of equation (8)

// What the equations need, per warp.
struct Work {
  double instructions = 0, requests = 0, synchronizations = 0, special = 0, bank_passes = 0, floating_point = 0;
  double ilp = 1, mlp = 1;
};

Work work_of(const KernelStatistics& s) {
  Work w;
  w.instructions = *s.instructions;
  w.requests = *s.global_requests;
  w.synchronizations = s.synchronizations.value_or(0);
  w.bank_passes = s.bank_conflict_passes.value_or(0);
  w.floating_point = s.floating_point_instructions.value_or(0);
  w.ilp = s.instruction_parallelism.value_or(1);
  w.mlp = s.independent_loads.value_or(1);
  for (std::size_t i = 0; i < kIssueClasses; ++i)
    if (runs_on_special_units(static_cast<IssueClass>(i))) w.special += s.by_class[i].value_or(0);
  return w;
}

// Equations (12), (13), and the hit latency of the implementation: L1 + (miss ratio of L1) * L2.
struct Memory {
  double dram_latency = 0; ///< avg_DRAM_lat
  double access_time = 0;  ///< AMAT
};
Memory memory_of(Prediction& p, const Work& w, const KernelStatistics& s, const Device& device) {
  Memory m;
  const double per_request = w.requests > 0 ? transactions(s) / w.requests : 1;
  note(p, "avg_trans_warp", per_request, "transactions per request");
  m.dram_latency =
      note(p, "avg_DRAM_lat", *device.latency.memory + std::max(per_request - 1, 0.0) * device.sim->departure_delay,
           "cycles");
  const CacheHits hits = cache_hits(p, s);
  const double miss = note(p, "miss_ratio", hits.memory, "");
  remark_unknown_hits(p, s);
  const double hit =
      note(p, "hit_lat", device.latency.l1.value_or(0) + hits.first_miss * device.latency.l2.value_or(0), "cycles");
  m.access_time = note(p, "AMAT", m.dram_latency * miss + hit, "cycles");
  return m;
}

// Equations (14), (15), (17), (A.1) to (A.7).
struct Parallelism {
  double memory = 1;      ///< ITMLP
  double memory_peak = 1; ///< ITMLP when only the bandwidth limits it
  double overlap = 0;     ///< F_overlap
};
Parallelism parallelism_of(Prediction& p, const Work& w, const Memory& m, const Device& device, const Residency& r,
                           double cycles_per_instruction) {
  const double n = note(p, "N", r.warps, "warps");
  const double compute = note(p, "comp_cycles", w.instructions * cycles_per_instruction, "cycles per warp");
  const double memory = note(p, "mem_cycles", w.requests * m.access_time / w.mlp, "cycles per warp");
  p.cwp = note(p, "CWP", std::min((memory + compute) / compute, n), "warps");
  const double per_warp =
      note(p, "BW_per_warp", device.clock_ghz * device.sim->transaction_bytes / m.dram_latency, "GB/s");
  const double peak = note(p, "MWP_peak_bw", device.bandwidth_gb_s / (per_warp * r.multiprocessors), "warps");
  const double departure = m.dram_latency / device.sim->departure_delay;
  p.mwp = note(p, "MWP", std::min({departure, peak, n}), "warps");
  p.mwp_bound = p.mwp == n ? "warps" : p.mwp == peak ? "bandwidth" : "departure";
  const double mwp_cp = note(p, "MWP_cp", std::min(std::max(1.0, p.cwp - 1), p.mwp), "warps");
  const double zeta = p.cwp <= p.mwp ? 1 : 0;
  Parallelism result;
  result.memory = note(p, "ITMLP", std::min(w.mlp * mwp_cp, peak), "");
  result.memory_peak = std::max(peak, result.memory);
  result.overlap = note(p, "F_overlap", std::max(n - zeta, 0.0) / n, "");
  return result;
}

// Equations (6) to (10). The sources have no equation for bank conflicts: here each pass takes one more slot of the
// multiprocessor. O_CFdiv is part of W_parallel, because `instructions` counts both sides of a branch.
double serialization(Prediction& p, const Work& w, const Memory& m, const Device& device, double warps) {
  const double sync = kGamma * m.dram_latency * w.requests / w.instructions;
  const double share = w.special / w.instructions - device.sim->sfu_width / device.sim->simd_width;
  const double o_sync = note(p, "O_sync", w.synchronizations * warps * sync, "cycles");
  const double o_sfu =
      note(p, "O_SFU", w.special * warps * kWarpSize / device.sim->sfu_width * std::clamp(share, 0.0, 1.0), "cycles");
  const double o_bank = note(p, "O_bank", w.bank_passes * warps * kWarpSize / device.sim->simd_width, "cycles");
  return note(p, "W_serial", o_sync + o_sfu + o_bank, "cycles");
}

} // namespace

/// Terms have the paper's names; cycles are those of the shader clock. Needs device.sim, device.latency.arithmetic and
/// device.latency.memory; latency.l1 and l2 if the device has caches.
Expected<Prediction> sim(Prediction p, const KernelStatistics& statistics, const Device& device,
                         const ModelOptions& options) {
  const Work w = work_of(statistics);
  const Residency r = residency(statistics, device, options);
  const double warps = note(p, "warps_per_SM", total_warps(statistics) / r.multiprocessors, "warps");
  const double latency = *device.latency.arithmetic;

  const double itilp_max = note(p, "ITILP_max", std::max(latency / (kWarpSize / device.sim->simd_width), 1.0), "");
  const double itilp = note(p, "ITILP", std::min(w.ilp * r.warps, itilp_max), "");
  const double parallel = note(p, "W_parallel", w.instructions * warps * latency / itilp, "cycles");
  const Memory m = memory_of(p, w, statistics, device);
  const double serial = serialization(p, w, m, device, warps);
  const double compute = note(p, "T_comp", parallel + serial, "cycles");

  const Parallelism parallelism = parallelism_of(p, w, m, device, r, latency / itilp);
  const double memory = note(p, "T_mem", w.requests * warps / parallelism.memory * m.access_time, "cycles");
  const double overlap = note(p, "T_overlap", std::min(compute * parallelism.overlap, memory), "cycles");

  const double best = w.instructions * warps * latency / itilp_max;
  const double b_itilp = note(p, "B_itilp", parallel - best, "cycles");
  note(p, "B_serial", serial, "cycles");
  if (statistics.floating_point_instructions)
    note(p, "B_fp", std::max(compute - w.floating_point * warps * latency / itilp - b_itilp - serial, 0.0), "cycles");
  note(p, "B_memlp", std::max(w.requests * warps / parallelism.memory_peak * m.access_time - compute, 0.0), "cycles");
  p.remarks.push_back("B_itilp, B_serial, B_fp and B_memlp are recalled from the paper and not checked against it");

  // If no resource is exhausted, warps wait for their own results.
  const bool idle = itilp < itilp_max && parallelism.memory < parallelism.memory_peak;
  p.bound = memory >= compute ? (idle ? "latency" : "memory") : (idle ? "latency" : "compute");
  return finish(std::move(p), compute + memory - overlap, device.clock_ghz);
}

} // namespace warplens::model
