// SPDX-License-Identifier: Apache-2.0
// A model for current hardware whose parameters are measured by micro-benchmarks: a launch takes the time of its
// busiest unit, and more if several units are busy or if it has too few warps to hide latency.
//
//   busiest = max(issue, units, wavefronts, port, L2, memory, constants)
//   joined  = (busiest^q + latency^q + barriers^q + atomics^q + swaps^q)^(1/q)
//   time    = overhead + max(joined, launch + time of a warp)
//
// A launch with enough warps keeps one unit busy all the time, whatever the others do: an H100 that reads device
// memory, or writes it, computes or loads from shared memory at the same time, at no cost until that takes longer. What
// follows each other, in a warp or at a barrier, leaves units idle.
//
// Each term is the number of cycles that the launch would take if it were the only one: instructions at the rate of the
// schedulers; special functions, double precision, products of integers and what only the ALU executes at the rate of
// their units; passes over the L1 cache and shared
// memory; sectors at the rate at which a multiprocessor exchanges them with the L2 cache, and at the rate of that
// cache; bytes at the rate of device memory; different addresses of constant memory, one after the other; the time of a
// single warp, times the rounds of blocks on a multiprocessor, and what passes between two of them; warps at barriers,
// one after the other; and atomics on the word and the kilobyte that most of them update, one after the other, as are
// compare-and-swaps of a word of shared memory.
//
// Memory of the host is read and written at the same time, but not as fast as one of both alone: "host" is the
// hypotenuse of the two times. Blocks start at a certain rate, whatever those before them do, and the last one runs
// after that.
//
// The time of a warp is that of its critical path (analyzers/warp_path.hpp); a block takes as long as its longest warp.
//
//   docs/models.md has the equations and the errors
#include "model/cache_hits.hpp"
#include "model/joined_bounds.hpp"
#include "model/memory_traffic.hpp"
#include "model/models.hpp"

#include <algorithm>
#include <cmath>

namespace warplens::model {
namespace {

/// Per warp: some conversions and counts of bits run on the special-function units, too.
double special_functions(const KernelStatistics& s) {
  double result = value_of(s.wide_conversions) + value_of(s.special_operations);
  for (std::size_t i = 0; i < kIssueClasses; ++i)
    if (runs_on_special_units(static_cast<IssueClass>(i))) result += value_of(s.by_class[i]);
  return result;
}

/// Cycles in which the units are busy for a warp that execute fewer instructions in a cycle than the schedulers issue.
double cycles_of_units(const KernelStatistics& s, const CriticalPathParameters& d) {
  const double doubles =
      s.double_operations.value_or(value_of(s.by_class[static_cast<std::size_t>(IssueClass::double_precision)]));
  const double products = value_of(s.by_class[static_cast<std::size_t>(IssueClass::integer_multiply)]);
  const auto at = [](double instructions, const std::optional<double>& rate) {
    return rate ? instructions / *rate : 0;
  };
  return std::max({special_functions(s) / d.special_functions, doubles / d.double_precision,
                   at(value_of(s.alu_operations), d.alu), at(products, d.integer_multiply)});
}

/// A block takes as long as its longest warp; a launch takes at least as long as its longest warp. Of warps on a
/// multiprocessor of their own.
double latency(Prediction& p, const KernelStatistics& s, const Traffic& t, double rounds,
               const CriticalPathParameters& d) {
  const double from_host = t.from_host();
  // Multiprocessors of the first wave that read the same wait for memory side by side.
  const double first_wave = (s.first_wave_from_memory.value_or(t.cold()) - t.cold()) / rounds;
  const double cold = note(p, "cold", std::min(t.cold() + first_wave, 1 - from_host), "of the L1 misses");
  const double l2_latency = path_latency(d, "latency_l2"), memory_latency = path_latency(d, "latency_memory");
  const double farther = d.latency_host ? (*d.latency_host - l2_latency) / (memory_latency - l2_latency) : 1;
  const auto along = [&](double l2, double memory) {
    const double host = l2 + farther * std::max(0.0, memory - l2);
    return cold * memory + from_host * host + (1 - cold - from_host) * l2;
  };
  const double average = note(p, "warp_cycles", along(*s.path_l2, *s.path_memory), "cycles");
  using Field = KernelStatistics::Field;
  // Without a path of its own, the longest warp takes longer by its share of the instructions.
  const auto longest = [&](const Field& l2, const Field& memory, const Field& instructions) {
    if (l2 && memory) return std::max(average, along(*l2, *memory));
    const double of_average = std::max(1.0, *s.instructions);
    return average * std::max(1.0, instructions.value_or(of_average) / of_average);
  };
  const double of_block = longest(s.longest_of_blocks_path_l2, s.longest_of_blocks_path_memory, s.longest_of_blocks);
  const double of_launch = longest(s.longest_warp_path_l2, s.longest_warp_path_memory, s.longest_warp);
  const double of_rounds =
      rounds * note(p, "longest_of_blocks", of_block, "cycles") + (rounds - 1) * d.block_turnover.value_or(0);
  return std::max(of_rounds, note(p, "longest_warp", of_launch, "cycles"));
}

/// Cycles in which the busiest multiprocessor exchanges its sectors with the L2 cache. Few blocks cannot use what the
/// L2 cache delivers to all multiprocessors.
double port(const Traffic& t, double share, const CriticalPathParameters& d) {
  if (!d.port_read || !d.port_read_scattered || !d.port_write || !d.port_write_scattered || !d.port_update_scattered)
    return 0;
  const double stored = t.written - t.updated;
  return share * (t.read * cycles_each(t, *d.port_read, *d.port_read_scattered) +
                  stored * cycles_each(t, *d.port_write, *d.port_write_scattered) +
                  t.updated * cycles_each(t, *d.port_write, *d.port_update_scattered));
}

/// Cycles in which the first block of a multiprocessor waits for constants and parameters: one line after the other.
/// Two multiprocessors share what delivers them.
double constants_of_first_block(const KernelStatistics& s, const Device& device, const CriticalPathParameters& d) {
  if (!d.constant_line || !d.constant_line_of_two || !d.constant_segment) return 0;
  const bool alone = *s.blocks <= device.multiprocessors / 2.0;
  return value_of(s.constant_segments) * *d.constant_segment + value_of(s.constant_lines) * *d.constant_line +
         value_of(s.parameter_lines) * (alone ? *d.constant_line : *d.constant_line_of_two);
}

/// Cycles in which warps wait for compare-and-swaps of other warps: the updates of a word follow each other, and each
/// of them makes those repeat that wait for the same word. Each resident thread waits for one word at a time.
double swaps_of_others(const KernelStatistics& s, const Device& device, const CriticalPathParameters& d) {
  const double resident = std::min(*s.blocks, device.multiprocessors * *s.resident_blocks) * *s.threads_per_block;
  const double waiting = std::min(1.0, resident / std::max(1.0, value_of(s.global_swaps)));
  return value_of(s.swaps_of_other_warps) * d.global_swap.value_or(0) +
         value_of(s.swap_pairs) * waiting * d.swap_pair.value_or(0);
}

void add_path_remarks(Prediction& p, const KernelStatistics& s) {
  remark_each_unknown_hit(p, s);
  if (value_of(s.atomic_transactions) > 0)
    p.remarks.push_back("contention of atomics for the same addresses is estimated from the first and the last block");
}

} // namespace

/// Without l2_hit_ratio, all L1 misses come from device memory, but at most
/// argument_bytes, if given.
Expected<Prediction> critical_path(Prediction p, const KernelStatistics& statistics, const Device& device,
                                   const ModelOptions&) {
  const KernelStatistics& s = statistics;
  const CriticalPathParameters& d = *device.critical_path;
  constexpr double kPair = 2; // device memory delivers pairs of sectors
  const bool host = d.host_read && d.host_write && d.latency_host;
  const Traffic t = traffic(s, {d.kept_bytes, kPair, host});
  const double blocks = note(p, "blocks_of_busiest", std::ceil(*s.blocks / device.multiprocessors), "blocks");
  const double warps = blocks * warps_per_block(s);
  const double machine = note(p, "machine_instructions", s.machine_instructions.value_or(*s.instructions), "per warp");
  note(p, "memory_bytes", t.memory_read + t.memory_written, "bytes");
  const double rounds = note(p, "rounds", std::max(1.0, blocks / *s.resident_blocks), "");
  const double alone = latency(p, s, t, rounds, d);
  const double swaps = note(p, "swap_chain", swaps_of_others(s, device, d), "cycles");

  const Bound units[] = {
      {"issue", warps * machine / d.issue, "compute"},
      {"units", warps * cycles_of_units(s, d), "compute"},
      {"wavefronts", warps * *s.l1_wavefronts / d.wavefronts, "memory"},
      {"port", port(t, blocks / *s.blocks, d), "memory"},
      {"L2",
       t.read * cycles_each(t, d.l2_read, d.l2_read_scattered) +
           t.written * cycles_each(t, d.l2_write, d.l2_write_scattered),
       "memory"},
      {"memory",
       t.memory_read * cycles_each(t, d.memory_read, d.memory_scattered) +
           t.memory_written * cycles_each(t, d.memory_write, d.memory_scattered / 2),
       "memory"},
      {"constants", constant_cycles(s, device, warps), "constant memory"},
  };
  const Bound& busiest = largest(p, units);
  const Bound bounds[] = {
      {"busiest", busiest.cycles, busiest.kind},
      {"latency", alone + swaps, swaps > alone ? "contended atomics" : "latency"},
      {"barriers", warps * value_of(s.synchronizations) * path_latency(d, "latency_barrier_of_warp"), "barriers"},
      {"atomics", contention(s, {d.atomic_half_line, d.float_atomic_word, d.atomic_kilobyte}), "contended atomics"},
      {"host", host ? std::hypot(t.host_read / *d.host_read, t.host_written / *d.host_write) : 0, "memory of the host"},
      {"swaps", rounds * value_of(s.shared_word_swaps) * d.shared_swap.value_or(0), "contended atomics"},
  };
  const JoinedBounds joined = join(p, bounds, d.overlap);
  const double launch = note(p, "launch", *s.blocks * d.block_cycles + total_warps(s) * d.warp_cycles, "cycles");
  const double path = p.term("warp_cycles").value_or(0);
  const double last_ends = *s.blocks > 1 ? launch + path : 0; // a single block starts within the overhead
  const double work = std::max(joined.cycles, last_ends);
  // The first accesses of all multiprocessors translate their addresses at the same time.
  const double first = *s.global_requests > 0 ? d.first_access * (1 - 1 / *s.blocks) : 0;
  const double constants = note(p, "first_constants", constants_of_first_block(s, device, d), "cycles");
  const double executed = s.executed_machine_instructions.value_or(value_of(s.executed_instructions));
  const double overhead = note(p, "overhead", d.overhead + first + constants + d.first_execution * executed, "cycles");
  if (overhead > work)
    p.bound = "overhead of the launch";
  else if (last_ends > joined.cycles && launch > path)
    p.bound = "launch of blocks";
  else
    p.bound = joined.largest->kind;
  add_path_remarks(p, s);
  return finish(std::move(p), overhead + work, d.clock_ghz);
}

} // namespace warplens::model
