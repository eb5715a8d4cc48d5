#include "model/dasgupta.hpp"

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

// Section 3.2.4.3: duplicate loads piggyback on each other; section 3.2.5.1: those of vector requests do not.
Transactions merge(const KernelStatistics& s) {
  const double duplicates = s.duplicate_loads.value_or(1);
  Transactions t;
  t.vector_32 = s.vector_transactions_32.value_or(0);
  t.vector_64 = s.vector_transactions_64.value_or(0);
  t.vector_128 = s.vector_transactions_128.value_or(0);
  // Parts may exceed their whole in the last digits.
  t.scalar_32 = std::max(*s.transactions_32 - t.vector_32, 0.0) / duplicates;
  t.scalar_64 = std::max(*s.transactions_64 - t.vector_64, 0.0) / duplicates;
  t.scalar_128 = std::max(*s.transactions_128 - t.vector_128, 0.0) / duplicates;
  t.merging = (*s.transactions_32 + *s.transactions_64 + *s.transactions_128) / t.all();
  return t;
}

// Equations (20) to (23), with the delay of vector transactions as one more weight.
double average_delay(const Transactions& t, const DasguptaParameters& parameters) {
  return (t.scalar_32 * parameters.delay_32 + t.scalar_64 * parameters.delay_64 + t.scalar_128 * parameters.delay_128 +
          t.vector() * parameters.delay_vector) /
         t.all();
}

// Equations (16) to (28).
void memory(Prediction& p, WarpWork& work, const KernelStatistics& s, const Device& device, const Residency& r,
            const ModelOptions& options) {
  const DasguptaParameters& parameters = *device.dasgupta;
  const Transactions t = merge(s);
  const double bytes = note(p, "Data_per_request", t.bytes() / work.requests, "bytes");
  const double per_request = note(p, "num_trans_per_request", t.all() / work.requests, "transactions per request");
  const double delay = note(p, "avg_dep_delay_per_tran", average_delay(t, parameters), "cycles");
  // Strong merging can leave less than one transaction per request; what is left still takes the base latency.
  work.memory_latency =
      note(p, "mem_latency_final", parameters.memory_latency + std::max(per_request - 1, 0.0) * delay, "cycles");
  work.departure_delay = note(p, "dep_delay_per_request", per_request * delay, "cycles");
  work.memory_cycles = work.memory_latency * work.requests;

  MwpLimits limits;
  const double per_warp =
      note(p, "bandwidth_requirements_per_warp", parameters.clock_ghz * bytes / work.memory_latency, "GB/s");
  limits.bandwidth = note(p, "MWP_peak_bandwidth", device.bandwidth_gb_s / (per_warp * r.multiprocessors), "warps");
  limits.departure = note(p, "MWP_without_BW_full", work.memory_latency / work.departure_delay, "warps");
  limits.warps = note(p, "Active_warps_for_MWP", r.warps * s.independent_loads.value_or(1) / t.merging, "warps");
  choose_mwp(p, limits, options);
  if (!s.duplicate_loads) p.remarks.push_back("no merging: 'duplicate_loads' was not given");
  if (!s.independent_loads) p.remarks.push_back("one load in flight per warp: 'independent_loads' was not given");
}

// Section 3.2.3: every instruction takes the basic cycles, except those of a slower class and conflicting accesses.
Expected<double> compute_cycles(const KernelStatistics& s, const Device& device) {
  const IssueCycles& issue = *device.issue_cycles;
  double cycles = issue.basic * *s.instructions;
  for (std::size_t i = 0; i < kInstructionClasses; ++i) {
    const double count = s.by_class[i].value_or(0);
    if (count == 0) continue;
    if (!issue.by_class[i])
      return failure(fmt::format("device '{}' has no issue cycles for class '{}', but the kernel has {} of it per warp",
                                 device.name, to_string(static_cast<InstructionClass>(i)), count));
    cycles += count * (*issue.by_class[i] - issue.basic);
  }
  if (const double passes = s.bank_conflict_passes.value_or(0); passes > 0) {
    if (!issue.bank_pass)
      return failure(fmt::format("device '{}' has no issue cycles for bank conflicts, but the kernel has {} passes of "
                                 "them per warp",
                                 device.name, passes));
    cycles += passes * *issue.bank_pass;
  }
  return cycles;
}

} // namespace

Expected<Prediction> dasgupta(const KernelStatistics& statistics, const Device& device, const ModelOptions& options) {
  if (!device.dasgupta || !device.issue_cycles) return failure(no_parameters(device, kDasgupta));
  if (Diagnostics errors = check_statistics(statistics, kDasgupta); errors.has_errors())
    return failure(std::move(errors));

  Prediction prediction;
  prediction.model = kDasgupta;
  prediction.device = device.name;
  const Residency r = residency(statistics, device, options);
  WarpWork work;
  work.instructions = *statistics.instructions;
  work.requests = *statistics.global_requests;
  work.synchronizations = statistics.synchronizations.value_or(0);
  if (work.requests > 0) memory(prediction, work, statistics, device, r, options);
  const Expected<double> cycles = compute_cycles(statistics, device);
  if (!cycles) return failure(cycles.error());
  work.compute_cycles = *cycles;
  return overlap(std::move(prediction), work, r, statistics, device.dasgupta->clock_ghz,
                 options.synchronization.value_or(ModelOptions::Synchronization::block));
}

} // namespace warplens::model
