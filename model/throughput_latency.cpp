// SPDX-License-Identifier: Apache-2.0
// A model for current hardware: a launch takes the time of its busiest unit, and more if several units are busy or if
// it has too few warps to hide latency.
//
//   time = overhead + (issue^q + units^q + wavefronts^q + L2^q + memory^q + launch^q + latency^q + atomics^q)^(1/q)
//
// Each term is the number of cycles that the launch would take if it were the only one: instructions at the rate of the
// schedulers; special functions and double precision at the rate of their units; passes over the L1 cache and shared
// memory; sectors at the rate of the L2 cache; bytes at the rate of device memory; blocks at the rate at which they
// start; the time of a single warp, times the rounds of blocks on a multiprocessor; and atomics on the word and the
// kilobyte that most of them update, one after the other. Conversions from and to 64-bit types run on the
// special-function units, too.
//
//   a vector addition of 2^22 floats on an H200: 16.6 us measured; docs/models.md has the equations and the errors
//
// The parameters are fitted to measured launches: tests/data/hardware/ask/fit_throughput_latency.py.
#include "model/cache_hits.hpp"
#include "model/joined_bounds.hpp"
#include "model/memory_traffic.hpp"
#include "model/models.hpp"

#include <algorithm>
#include <cmath>

namespace warplens::model {
namespace {

double of_class(const KernelStatistics& s, IssueClass c) { return value_of(s.by_class[static_cast<std::size_t>(c)]); }

/// Per warp.
struct Instructions {
  double machine = 0; ///< that the compiler generates from PTX
  double special = 0; ///< on the special-function units
  double doubles = 0;
  double conversions = 0; ///< from and to 64-bit types: likewise on the special-function units
};

Instructions instructions(const KernelStatistics& s, const ThroughputLatencyParameters& d) {
  Instructions result;
  const double rounded = of_class(s, IssueClass::divide) + of_class(s, IssueClass::square_root);
  for (std::size_t i = 0; i < kIssueClasses; ++i)
    if (runs_on_special_units(static_cast<IssueClass>(i))) result.special += value_of(s.by_class[i]);
  result.doubles = of_class(s, IssueClass::double_precision);
  result.conversions = value_of(s.wide_conversions);
  result.machine = *s.instructions + d.division_instructions * rounded +
                   d.special_instructions * (result.special - rounded) +
                   d.integer_division_instructions * value_of(s.integer_divisions);
  return result;
}

/// Cycles of one warp on a multiprocessor of its own.
double time_of_warp(Prediction& p, const KernelStatistics& s, const ThroughputLatencyParameters& d, const Traffic& t) {
  const double hits = value_of(s.l1_hit_ratio);
  const double cold = t.cold();
  const double wait =
      note(p, "load_latency", hits * d.l1_latency + (1 - hits) * (cold * d.memory_latency + (1 - cold) * d.l2_latency),
           "cycles");
  const double waits =
      note(p, "load_waits", s.load_waits.value_or(*s.global_requests / s.independent_loads.value_or(1)), "per warp");
  constexpr double kArithmeticLatency = 4;
  const double chain = note(
      p, "issue_chain",
      s.issue_chain.value_or(*s.instructions * kArithmeticLatency / s.instruction_parallelism.value_or(1)), "cycles");
  return note(p, "warp_cycles", chain * d.issue_chain + waits * wait + value_of(s.synchronizations) * d.barrier_latency,
              "cycles");
}

void add_remarks(Prediction& p, const KernelStatistics& s, const ThroughputLatencyParameters& d) {
  remark_each_unknown_hit(p, s);
  if (value_of(s.atomic_transactions) == 0) return;
  const bool contention_known = s.half_line_updates && s.word_float_updates && s.kilobyte_updates &&
                                d.atomic_half_line && d.float_atomic_word && d.atomic_kilobyte;
  p.remarks.push_back(
      contention_known
          ? "contention of atomics for the same addresses is estimated from the first and the last block"
          : "atomics are assumed to access different addresses: they take longer if warps contend for the same ones");
}

} // namespace

/// Needs device.throughput_latency. Without l2_hit_ratio, all L1 misses come from device memory, but at most
/// argument_bytes, if given.
Expected<Prediction> throughput_latency(Prediction p, const KernelStatistics& statistics, const Device& device,
                                        const ModelOptions&) {
  const KernelStatistics& s = statistics;
  const ThroughputLatencyParameters& d = *device.throughput_latency;
  const Instructions i = instructions(s, d);
  const Traffic t = traffic(s, {.kept_bytes = d.kept_bytes});
  const double blocks = note(p, "blocks_of_busiest", std::ceil(*s.blocks / device.multiprocessors), "blocks");
  const double warps = blocks * warps_per_block(s);
  note(p, "machine_instructions", i.machine, "per warp");
  note(p, "memory_bytes", t.memory_read + t.memory_written, "bytes");
  const double alone = time_of_warp(p, s, d, t);
  const double rounds = note(p, "rounds", std::max(1.0, blocks / *s.resident_blocks), "");
  const AtomicIntervals intervals{value_of(d.atomic_half_line), value_of(d.float_atomic_word),
                                  value_of(d.atomic_kilobyte)}; // unknown ones do not limit the launch

  const Bound bounds[] = {
      {"issue", warps * i.machine / d.issue, "compute"},
      {"units", warps * std::max((i.special + i.conversions) / d.special_functions, i.doubles / d.double_precision),
       "compute"},
      {"wavefronts", warps * *s.l1_wavefronts / d.wavefronts, "memory"},
      {"L2", t.read / d.l2_read + t.written / d.l2_write, "memory"},
      {"memory", (t.memory_read + t.memory_written) / d.memory_bytes, "memory"},
      {"constants", constant_cycles(s, device, warps), "constant memory"},
      {"launch", *s.blocks * d.block_cycles + total_warps(s) * d.warp_cycles, "launch of blocks"},
      {"latency", rounds * alone, "latency"},
      {"atomics", contention(s, intervals), "contended atomics"},
      {"swaps", rounds * value_of(s.shared_word_swaps) * d.shared_swap.value_or(0), "contended atomics"},
  };
  const JoinedBounds joined = join(p, bounds, d.overlap);
  note(p, "overhead", d.overhead, "cycles");
  p.bound = d.overhead > joined.cycles ? "overhead of the launch" : joined.largest->kind;
  add_remarks(p, s, d);
  return finish(std::move(p), d.overhead + joined.cycles, d.clock_ghz);
}

} // namespace warplens::model
