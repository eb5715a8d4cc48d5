// SPDX-License-Identifier: Apache-2.0
// The model of Hong & Kim: the number of warps that can wait for memory at a time (MWP) and that can compute meanwhile
// (CWP) determine how much of the memory time computation hides.
//
//   tiled matrix multiplication of the paper's section 3.5: MWP 2.28, CWP 20, 50738 cycles
//
// S. Hong, H. Kim, "An Analytical Model for a GPU Architecture with Memory-level and Thread-level Parallelism
// Awareness", ISCA 2009, equations (5) to (27); made for compute capability 1.0 to 1.3.
#include "model/models.hpp"
#include "model/warp_parallelism.hpp"

namespace warplens::model {
namespace {

// Equations (6), (7) and (10) to (18): cost of a warp's memory requests, and how many warps can wait at a time.
void hong_kim_memory(Prediction& p, WarpWork& work, const KernelStatistics& s, const Device& device, const Residency& r,
                     const ModelOptions& options) {
  const HongKimParameters& parameters = *device.hong_kim;
  const double uncoalesced = *s.uncoalesced_requests;
  const double coalesced = *s.coalesced_requests;
  const double transactions =
      note(p, "Uncoal_per_mw", s.uncoalesced_transactions.value_or(parameters.uncoalesced_transactions),
           "transactions per request");
  if (!s.uncoalesced_transactions && uncoalesced > 0)
    p.remarks.push_back("'uncoalesced_transactions' was not given: the device's average is used");

  const double weight_uncoalesced = note(p, "Weight_uncoal", uncoalesced / work.requests, "");
  const double weight_coalesced = note(p, "Weight_coal", coalesced / work.requests, "");
  const double latency_uncoalesced =
      note(p, "Mem_L_Uncoal", parameters.memory_latency + (transactions - 1) * parameters.uncoalesced_delay, "cycles");
  const double latency_coalesced = note(p, "Mem_L_Coal", parameters.memory_latency, "cycles");
  work.memory_latency =
      note(p, "Mem_L", latency_uncoalesced * weight_uncoalesced + latency_coalesced * weight_coalesced, "cycles");
  work.departure_delay = note(p, "Departure_delay",
                              parameters.uncoalesced_delay * transactions * weight_uncoalesced +
                                  parameters.coalesced_delay * weight_coalesced,
                              "cycles");
  work.memory_cycles = latency_uncoalesced * uncoalesced + latency_coalesced * coalesced;

  MwpLimits limits;
  limits.departure = note(p, "MWP_Without_BW_full", work.memory_latency / work.departure_delay, "warps");
  const double per_warp = note(p, "BW_per_warp", device.clock_ghz * *s.bytes_per_request / work.memory_latency, "GB/s");
  limits.bandwidth = note(p, "MWP_peak_BW", device.bandwidth_gb_s / (per_warp * r.multiprocessors), "warps");
  limits.warps = r.warps;
  choose_mwp(p, limits, options);
}

} // namespace

/// Terms have the paper's names; cycles are those of the shader clock. Needs device.hong_kim and device.issue_cycles,
/// of which only `basic` is used: all instructions cost the same.
Expected<Prediction> hong_kim(Prediction prediction, const KernelStatistics& statistics, const Device& device,
                              const ModelOptions& options) {
  const Residency r = residency(statistics, device, options);
  WarpWork work;
  work.instructions = *statistics.instructions;
  work.requests = *statistics.coalesced_requests + *statistics.uncoalesced_requests;
  work.synchronizations = statistics.synchronizations.value_or(0);
  if (work.requests > 0) hong_kim_memory(prediction, work, statistics, device, r, options);
  work.compute_cycles = device.issue_cycles->basic * work.instructions; // equation (19)
  return overlap(std::move(prediction), work, r, statistics, device.clock_ghz,
                 options.synchronization.value_or(ModelOptions::Synchronization::all_warps),
                 LongComputation::equation_23);
}

} // namespace warplens::model
