// SPDX-License-Identifier: Apache-2.0
// Dasgupta's model: that of Hong & Kim adapted to GT200, where a request causes a varying number of transactions of
// 32, 64 or 128 bytes. It adds the merging of transactions that fetch the same data, independent loads, vector
// requests, slow instructions and bank conflicts. Four extensions that the thesis leaves to future work are optional:
// merging by occupancy (model/merging.hpp), special-function units in parallel with the others (ModelOptions),
// computation independent of an outstanding load (independent_instructions), and caches (Fermi).
//
//   400 requests of two 32-byte transactions each, 256 threads, 120 blocks on a Tesla C1060: 0.7222 ms (Table 8)
//
// A. Dasgupta, "CUDA Performance Analyzer", MS thesis, Georgia Institute of Technology 2011, section 3.2, equations
// (16) to (30). Equations (17), (25) and (26), lost in the available text, were restored from ISCA 2009 and confirmed
// on Tables 8 to 10.
#include "model/cache_hits.hpp"
#include "model/memory_traffic.hpp"
#include "model/merging.hpp"
#include "model/models.hpp"
#include "model/warp_parallelism.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::model {
namespace {

// Transactions of one warp after merging.
struct Transactions {
  double scalar_32 = 0, scalar_64 = 0, scalar_128 = 0;
  double vector_32 = 0, vector_64 = 0, vector_128 = 0;
  double merging = 1; ///< transactions before merging / after

  [[nodiscard]] double vector() const { return vector_32 + vector_64 + vector_128; }
  [[nodiscard]] double all() const { return scalar_32 + scalar_64 + scalar_128 + vector(); }
  [[nodiscard]] double bytes() const {
    return (scalar_32 + vector_32) * 32 + (scalar_64 + vector_64) * 64 + (scalar_128 + vector_128) * 128;
  }
};

// Either given, or estimated from the data that warps of a block share and the requests that meet in the controller.
double duplicates(Prediction& p, const KernelStatistics& s, const Device& device, const Residency& r) {
  if (s.duplicate_loads) return *s.duplicate_loads;
  if (!s.ideal_duplicate_loads || !device.dasgupta->merge_queue) {
    p.remarks.push_back(s.ideal_duplicate_loads
                            ? "the merge queue of the device is not known: no merging is assumed"
                            : "neither 'duplicate_loads' nor 'ideal_duplicate_loads' was given: no merging is assumed");
    return 1;
  }
  if (*s.ideal_duplicate_loads == 1) return 1; // nothing to merge
  p.remarks.push_back("merging follows from occupancy and block size: a hypothesis, see docs/models.md");
  return note(p, "duplicate_loads",
              effective_duplicate_loads(*s.ideal_duplicate_loads, r.warps, *device.dasgupta->merge_queue), "requests");
}

// Section 3.2.4.3: duplicate loads piggyback on each other; section 3.2.5.1: those of vector requests do not.
Transactions merge(const KernelStatistics& s, double duplicates) {
  Transactions t;
  t.vector_32 = s.vector_transactions_32.value_or(0);
  t.vector_64 = s.vector_transactions_64.value_or(0);
  t.vector_128 = s.vector_transactions_128.value_or(0);
  // Parts may exceed their whole in the last digits.
  t.scalar_32 = std::max(*s.transactions_32 - t.vector_32, 0.0) / duplicates;
  t.scalar_64 = std::max(*s.transactions_64 - t.vector_64, 0.0) / duplicates;
  t.scalar_128 = std::max(*s.transactions_128 - t.vector_128, 0.0) / duplicates;
  t.merging = transactions(s) / t.all();
  return t;
}

// Equations (20) to (23), with the delay of vector transactions as one more weight.
double average_delay(const Transactions& t, const DasguptaParameters& parameters) {
  return (t.scalar_32 * parameters.delay_32 + t.scalar_64 * parameters.delay_64 + t.scalar_128 * parameters.delay_128 +
          t.vector() * parameters.delay_vector) /
         t.all();
}

// Fermi and later have caches, which the thesis does not model. Requests that hit wait for the cache instead of memory
// and depart without delay, as in Sim et al., equation (12).
struct Caches {
  double hit_latency = 0;
  double miss_ratio = 1;
};
Caches caches(Prediction& p, const KernelStatistics& s, const Device& device) {
  Caches c;
  if (!device.latency.l1 || !device.latency.l2) return c;
  const CacheHits hits = cache_hits(p, s);
  c.hit_latency = note(p, "hit_latency", *device.latency.l1 + hits.first_miss * *device.latency.l2, "cycles");
  c.miss_ratio = note(p, "miss_ratio", hits.memory, "");
  remark_unknown_hits(p, s);
  return c;
}

// Equations (16) to (28).
void dasgupta_memory(Prediction& p, WarpWork& work, const KernelStatistics& s, const Device& device, const Residency& r,
                     const ModelOptions& options) {
  const DasguptaParameters& parameters = *device.dasgupta;
  const Transactions t = merge(s, duplicates(p, s, device, r));
  const Caches c = caches(p, s, device);
  const double bytes = note(p, "Data_per_request", c.miss_ratio * t.bytes() / work.requests, "bytes");
  const double per_request = note(p, "num_trans_per_request", t.all() / work.requests, "transactions per request");
  const double delay = note(p, "avg_dep_delay_per_tran", average_delay(t, parameters), "cycles");
  // Strong merging can leave less than one transaction per request; the rest still takes the base latency.
  const double base = parameters.memory_latency + std::max(per_request - 1, 0.0) * delay;
  work.memory_latency = note(p, "mem_latency_final", c.hit_latency + c.miss_ratio * base, "cycles");
  work.departure_delay = note(p, "dep_delay_per_request", c.miss_ratio * per_request * delay, "cycles");

  MwpLimits limits;
  limits.warps = note(p, "Active_warps_for_MWP", r.warps * s.independent_loads.value_or(1) / t.merging, "warps");
  limits.bandwidth = limits.departure = limits.warps; // requests that always hit depart at once
  if (c.miss_ratio > 0) {
    const double per_warp =
        note(p, "bandwidth_requirements_per_warp", parameters.clock_ghz * bytes / work.memory_latency, "GB/s");
    limits.bandwidth = note(p, "MWP_peak_bandwidth", device.bandwidth_gb_s / (per_warp * r.multiprocessors), "warps");
    limits.departure = note(p, "MWP_without_BW_full", work.memory_latency / work.departure_delay, "warps");
  }
  choose_mwp(p, limits, options);

  // Computation that does not wait for an outstanding request (prefetching) hides that much of its latency; it does not
  // change the bandwidth.
  const double beside = s.independent_instructions.value_or(0) * device.issue_cycles->basic;
  double waiting = work.memory_latency;
  if (beside > 0)
    waiting = note(p, "latency_not_hidden",
                   std::max(waiting - beside, waiting * std::min(p.mwp / limits.bandwidth, 1.0)), "cycles");
  work.memory_cycles = waiting * work.requests;
  if (!s.independent_loads)
    p.remarks.push_back("'independent_loads' was not given: one load in flight per warp is assumed");
}

// Section 3.2.3: every instruction takes the basic cycles, except slower classes and accesses with conflicts. In the
// thesis all instructions take turns. The special-function units can also work in parallel (section 4.2.4 and chapter
// 6); the other units then lose only the issue slots of special functions.
Expected<double> compute_cycles(const KernelStatistics& s, const Device& device, const ModelOptions& options) {
  const IssueCycles& issue = *device.issue_cycles;
  const bool beside = options.special_functions == ModelOptions::SpecialFunctions::beside;
  double cycles = issue.basic * *s.instructions;
  double special = 0; ///< cycles of the special-function units
  for (std::size_t i = 0; i < kIssueClasses; ++i) {
    const double count = s.by_class[i].value_or(0);
    if (count == 0) continue;
    if (!issue.by_class[i])
      return failure(fmt::format("device '{}' has no issue cycles for class '{}', but the kernel has {} per warp",
                                 device.name, to_string(static_cast<IssueClass>(i)), count));
    if (beside && runs_on_special_units(static_cast<IssueClass>(i)))
      special += count * *issue.by_class[i];
    else
      cycles += count * (*issue.by_class[i] - issue.basic);
  }
  if (const double passes = s.bank_conflict_passes.value_or(0); passes > 0) {
    if (!issue.bank_pass)
      return failure(fmt::format("device '{}' has no issue cycles for bank conflicts, but the kernel has {} further "
                                 "passes per warp",
                                 device.name, passes));
    cycles += passes * *issue.bank_pass;
  }
  cycles += constant_cycles(s, device, 1);
  return std::max(cycles, special);
}

} // namespace

/// Terms have the names of the thesis; cycles are those of the tuned clock. Needs device.dasgupta and
/// device.issue_cycles. device.latency.l1 and l2 enable the caches. `duplicate_loads` divides the transactions of
/// scalar requests (vector ones do not merge, section 3.2.5.1) and the warps that count for MWP. Errors: an
/// instruction class or bank conflicts for which the device has no cycles.
Expected<Prediction> dasgupta(Prediction prediction, const KernelStatistics& statistics, const Device& device,
                              const ModelOptions& options) {
  const Residency r = residency(statistics, device, options);
  WarpWork work;
  work.instructions = *statistics.instructions;
  work.requests = *statistics.global_requests;
  work.synchronizations = statistics.synchronizations.value_or(0);
  if (work.requests > 0) dasgupta_memory(prediction, work, statistics, device, r, options);
  const Expected<double> cycles = compute_cycles(statistics, device, options);
  if (!cycles) return failure(cycles.error());
  work.compute_cycles = *cycles;
  // In the thesis, the relation of MWP and CWP decides; of the three equations, it prints only (24).
  return overlap(std::move(prediction), work, r, statistics, device.dasgupta->clock_ghz,
                 options.synchronization.value_or(ModelOptions::Synchronization::block), LongComputation::equation_24);
}

} // namespace warplens::model
