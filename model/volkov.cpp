// SPDX-License-Identifier: Apache-2.0
// Volkov's bound: a multiprocessor executes memory instructions at the lowest of four rates: the rate that its warps
// sustain if each waits for one latency after the other, and the rates of memory, arithmetic and issue.
//
//   per cycle: min( n / (mem_lat + alpha * alu_lat), mem_thru, alu_thru / alpha, issue_thru / (alpha + 1) )
//
// n: resident warps times the loads that each has in flight; alpha: other instructions per memory instruction.
// V. Volkov, "Understanding Latency Hiding on GPUs", dissertation, University of California at Berkeley 2016; the
// formula is taken from notes that restate it.
#include "model/cache_hits.hpp"
#include "model/memory_bytes.hpp"
#include "model/memory_traffic.hpp"
#include "model/models.hpp"
#include "model/warp_parallelism.hpp"

#include <algorithm>

namespace warplens::model {
namespace {

struct Rates {
  double latency = 0, memory = 0, arithmetic = 0, issue = 0;
};

// Without memory instructions, the formula counts the other instructions instead.
Rates arithmetic_only(const Device& device, double warps, double ilp) {
  Rates r;
  r.arithmetic = device.cores_per_multiprocessor / double{kWarpSize};
  r.issue = device.throughput.issue.value_or(r.arithmetic);
  r.latency = warps * ilp / *device.latency.arithmetic;
  r.memory = std::max({r.latency, r.arithmetic, r.issue}); // no limit
  return r;
}

} // namespace

/// Needs device.latency.arithmetic and .memory; cache hits shorten the latency if the device has their latencies.
/// alu_thru is one warp for every 32 cores.
Expected<Prediction> volkov(Prediction p, const KernelStatistics& statistics, const Device& device,
                            const ModelOptions& options) {
  const KernelStatistics& s = statistics;
  const Residency r = residency(s, device, options);
  const double requests = *s.global_requests;
  const double warps = total_warps(s) / r.multiprocessors;
  const double n = note(p, "n", r.warps, "warps");
  const double ilp = s.instruction_parallelism.value_or(1);
  Rates rate = arithmetic_only(device, n, ilp);
  double work = *s.instructions;
  if (requests > 0) {
    const double alpha = note(p, "alpha", std::max(*s.instructions - requests, 0.0) / requests, "");
    const CacheHits hits = cache_hits(p, s);
    const double full = *device.latency.memory;
    const double latency = note(p, "mem_lat",
                                hits.first() * device.latency.l1.value_or(full) +
                                    hits.second() * device.latency.l2.value_or(full) + hits.memory * full,
                                "cycles");
    const double bytes =
        note(p, "bytes_per_request", memory_bytes(p, s, device) / (requests * total_warps(s)), "bytes");
    const double per_cycle = device.bandwidth_gb_s / (device.clock_ghz * r.multiprocessors); // bytes
    rate.latency = n * s.independent_loads.value_or(1) / (latency + alpha * *device.latency.arithmetic / ilp);
    if (alpha > 0) rate.arithmetic /= alpha;
    rate.issue /= alpha + 1;
    rate.memory = std::max({rate.latency, rate.arithmetic, rate.issue}); // no limit where all hits
    if (bytes > 0) rate.memory = per_cycle / bytes;
    work = requests;
  }
  const std::string unit = requests > 0 ? "memory instructions per cycle" : "instructions per cycle";
  note(p, "latency_bound", rate.latency, unit);
  if (requests > 0) note(p, "mem_thru", rate.memory, unit);
  note(p, "alu_thru", rate.arithmetic, unit);
  note(p, "issue_thru", rate.issue, unit);
  const double least = note(p, "throughput", std::min({rate.latency, rate.memory, rate.arithmetic, rate.issue}), unit);
  const double constants = note(p, "constants", constant_cycles(s, device, warps), "cycles");
  if (constants > work * warps / least) {
    p.bound = "constant memory";
    return finish(std::move(p), constants, device.clock_ghz);
  }
  p.bound = least == rate.latency ? "latency" : least == rate.memory && requests > 0 ? "memory" : "compute";
  return finish(std::move(p), work * warps / least, device.clock_ghz);
}

} // namespace warplens::model
