// SPDX-License-Identifier: Apache-2.0
#include "model/amaris.hpp"

#include "model/cache_hits.hpp"
#include "model/models.hpp"

#include <algorithm>

namespace warplens::model {
namespace {

// Cycles of a request; the same for every GPU.
constexpr double kGlobal = 500, kShared = 5, kL1 = 5, kL2 = 250;

} // namespace

ThreadCycles thread_cycles(const KernelStatistics& s, Prediction& p) {
  const double requests = *s.global_requests;
  const double shared = s.shared_requests.value_or(0);
  const CacheHits hits = cache_hits(p, s);
  const double l1 = requests * hits.first(), l2 = requests * hits.second();
  if (!s.thread_cycles)
    p.remarks.push_back("'thread_cycles' was not given: one cycle is assumed for each non-memory instruction");
  if (!s.shared_requests) p.remarks.push_back("'shared_requests' was not given: no use of shared memory is assumed");
  ThreadCycles cycles;
  cycles.computation = note(p, "Comp", s.thread_cycles.value_or(std::max(*s.instructions - requests - shared, 0.0)),
                            "cycles per thread");
  cycles.global = note(p, "Comm_GM", requests * hits.memory * kGlobal + l1 * kL1 + l2 * kL2, "cycles per thread");
  cycles.shared = note(p, "Comm_SM", shared * kShared, "cycles per thread");
  return cycles;
}

/// `adjusting_weight` is lambda: see model/calibration.hpp.
Expected<Prediction> amaris(Prediction p, const KernelStatistics& statistics, const Device& device,
                            const ModelOptions&) {
  const double threads = note(p, "t", *statistics.threads_per_block * *statistics.blocks, "threads");
  const ThreadCycles thread = thread_cycles(statistics, p);
  const double cores =
      note(p, "P", static_cast<double>(device.multiprocessors) * device.cores_per_multiprocessor, "cores");
  const double lambda = note(p, "lambda", *statistics.adjusting_weight, "");
  p.bound = thread.computation > thread.global + thread.shared ? "compute" : "memory";
  return finish(std::move(p), threads * thread.all() / (cores * lambda), device.clock_ghz);
}

} // namespace warplens::model
