// SPDX-License-Identifier: Apache-2.0
// The roofline: the peak throughput of the cores limits the arithmetic of a kernel, and the peak bandwidth limits its
// memory traffic. The operations per byte decide which limit applies.
//
//   attainable = min(peak, intensity * bandwidth)
//
// S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model for multicore
// architectures", Communications of the ACM 52 (4), 2009.
#include "model/matrix_work.hpp"
#include "model/memory_bytes.hpp"
#include "model/models.hpp"

#include <algorithm>

namespace warplens::model {

namespace {

/// The roof of the matrix units: notes its terms, and returns the time that they need.
double matrix_bound(Prediction& p, const MatrixWork& matrices, double bytes, const Device& device) {
  if (matrices.operations == 0) return 0;
  const char* const kUnit = "operations";
  note(p, "matrix_work", matrices.operations, kUnit);
  if (bytes > 0) note(p, "matrix_intensity", matrices.operations / bytes, "operations per byte");
  for (const std::string_view type : matrices.unknown)
    p.remarks.push_back("the rate of the matrix units for " + std::string(type) +
                        " is not known: the model leaves these operations out");
  if (matrices.milliseconds == 0) return 0;
  if (matrices.unknown.empty()) {
    // Of several types, the peak of their mix.
    const double peak =
        note(p, "matrix_peak", matrices.operations / matrices.milliseconds * 1e-6, "10^9 operations per second");
    note(p, "matrix_ridge", peak / device.bandwidth_gb_s, "operations per byte");
    if (bytes > 0)
      note(p, "matrix_attainable", std::min(peak, matrices.operations / bytes * device.bandwidth_gb_s),
           "10^9 operations per second");
  }
  return note(p, "matrix_bound", matrices.milliseconds, "ms");
}

} // namespace

/// The roof counts floating-point operations (two for every core and cycle) if `flops` is given, otherwise warp
/// instructions. Matrix instructions have a roof of their own: the matrix units work beside the cores.
Expected<Prediction> roofline(Prediction p, const KernelStatistics& statistics, const Device& device,
                              const ModelOptions&) {
  const bool floating = statistics.flops.value_or(0) > 0;
  const std::string unit = floating ? "flop" : "warp instructions";
  const double warps = total_warps(statistics);
  const double cores = static_cast<double>(device.multiprocessors) * device.cores_per_multiprocessor;
  const double issue = device.throughput.issue.value_or(device.cores_per_multiprocessor / double{kWarpSize});
  const double work = note(p, "work", (floating ? *statistics.flops : *statistics.instructions) * warps, unit);
  const double bytes = memory_bytes(p, statistics, device);
  const double peak = note(p, "peak", device.clock_ghz * (floating ? 2 * cores : device.multiprocessors * issue),
                           "10^9 " + unit + " per second");
  note(p, "ridge", peak / device.bandwidth_gb_s, unit + " per byte");
  if (bytes > 0) {
    const double intensity = note(p, "intensity", work / bytes, unit + " per byte");
    note(p, "attainable", std::min(peak, intensity * device.bandwidth_gb_s), "10^9 " + unit + " per second");
  }
  const double arithmetic = note(p, "arithmetic_bound", work / peak * 1e-6, "ms");
  const double memory = note(p, "memory_bound", bytes / device.bandwidth_gb_s * 1e-6, "ms");
  const double matrices = matrix_bound(p, matrix_work(statistics, device), bytes, device);
  const double computation = std::max(arithmetic, matrices);
  p.bound = memory >= computation ? "memory" : "compute";
  if (!floating) p.remarks.push_back("no floating-point operations are known: the roof is that of warp instructions");
  p.remarks.push_back("a lower bound: the model ignores latency");
  return finish(std::move(p), std::max(computation, memory) * device.clock_ghz * 1e6, device.clock_ghz);
}

} // namespace warplens::model
