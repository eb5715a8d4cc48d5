// SPDX-License-Identifier: Apache-2.0
#include "model/micro_benchmarks.hpp"

#include "model/device_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace warplens::model {

namespace {

constexpr const char* kCalibrationHint = "tests/data/hardware/ask/calibration.py writes the answers";
constexpr double kUsualOverlap = 1.5; // chosen with the examined launches of tests/data/hardware/public_programs.jsonl

class Answers {
public:
  explicit Answers(std::span<const MicroBenchmark> answers) {
    for (const MicroBenchmark& one : answers) by_name_[one.name] = &one;
  }

  const MicroBenchmark& operator()(const std::string& name) {
    static const MicroBenchmark none{"", 1, 1, 1, 1, 0};
    const auto found = by_name_.find(name);
    const bool usable = found != by_name_.end() && found->second->device_cycles > 0 && found->second->nanoseconds > 0;
    if (usable) return *found->second;
    const bool missing = found == by_name_.end();
    errors_.error({},
                  missing ? fmt::format("the answer '{}' is missing", name)
                          : fmt::format("the numbers of '{}' are not positive", name),
                  kCalibrationHint);
    return none;
  }
  /// Cycles of each of the operations that it counts.
  double each(const std::string& name) {
    const MicroBenchmark& one = (*this)(name);
    if (one.times > 0 && one.cycles > 0) return one.cycles / one.times;
    errors_.error({}, fmt::format("the numbers of '{}' are not positive", name), kCalibrationHint);
    return 1;
  }
  double launch(const std::string& name) { return (*this)(name).device_cycles; }
  /// Of two launches, what the longer one does in addition.
  double difference(const std::string& longer, const std::string& shorter) { return launch(longer) - launch(shorter); }
  Diagnostics& errors() { return errors_; }

private:
  std::map<std::string, const MicroBenchmark*> by_name_;
  Diagnostics errors_;
};

double rounded(double value) {
  if (!(value > 0)) return value;
  const double scale = std::pow(10, 2 - std::floor(std::log10(value)));
  return std::round(value * scale) / scale;
}

/// The latency of a chase whose first pass over `lines` misses and takes `cold`.
double warm_latency(const MicroBenchmark& chase, double lines, double cold) {
  return (chase.cycles - lines * cold) / (chase.times - lines);
}

/// What a comparison's result takes until a branch can use it: the compiler's machine code waits that long.
constexpr double kPredicate = 13;

void add_latencies(CriticalPathParameters& p, Answers& answers) {
  constexpr double kLinesOf16K = 128, kLinesOf1M = 8192;
  const double memory = answers.each("memory 512M latency"), arithmetic = answers.each("fma_f32 latency");
  // Each turn of a loop adds to its counter, compares it and branches.
  const double loop = answers.each("loop latency of 32 threads"), branch = loop - arithmetic - kPredicate - 1;
  // A branch in the loop: all lanes take one side of 16 steps, or the other, or some each.
  const double side = 16 * arithmetic + 1;
  const double uniform = (answers.each("diverge latency of 0 lanes") + answers.each("diverge latency of 32 lanes")) / 2;
  const double reconvergence = uniform - loop - (branch + 1) - side;
  const double of_one = answers.each("barrier latency of 32 threads");
  const double of_warp = (answers.each("barrier latency of 1024 threads") - of_one) / 31;
  const struct {
    PathLatency which;
    double cycles;
  } measured[] = {{"latency_arithmetic", arithmetic},
                  {"latency_double_precision", answers.each("fma_f64 latency")},
                  {"latency_constant", answers.each("fma_f64 latency")}, // not measured: that of two instructions
                  {"latency_shared", answers.each("shared latency")},
                  {"latency_warp", answers.each("shuffle latency")},
                  {"latency_vote", answers.each("vote latency")},
                  {"latency_special_function", answers.each("ex2 latency")},
                  {"latency_reciprocal", answers.each("rcp_rn latency")},
                  {"latency_root", answers.each("sqrt_rn latency")},
                  {"latency_division", answers.each("div_rn latency")},
                  {"latency_double_division", answers.each("div_f64 latency")},
                  {"latency_double_root", answers.each("sqrt_f64 latency")},
                  {"latency_double_reciprocal", answers.each("rcp_f64 latency")},
                  {"latency_integer_division", answers.each("div_u32 latency")},
                  {"latency_wide_division", answers.each("div_u64 latency")},
                  {"latency_wide_multiplication", answers.each("mul_s64 latency")},
                  {"latency_conversion", answers.each("convert_s32 latency") / 2}, // there and back
                  {"latency_wide_conversion", answers.each("convert_f64 latency") / 2},
                  {"latency_matrix", answers.each("mma_f16 latency")},
                  {"latency_predicate", kPredicate},
                  {"latency_branch", branch},
                  {"latency_reconvergence", reconvergence},
                  {"latency_divergence", answers.each("diverge latency of 16 lanes") - uniform - side},
                  {"latency_l1", warm_latency(answers("l1 latency"), kLinesOf16K, memory)},
                  {"latency_l2", warm_latency(answers("l2 1M latency"), kLinesOf1M, memory)},
                  {"latency_memory", memory},
                  {"latency_atomic", answers.each("atomic latency")},
                  {"latency_barrier", of_one - of_warp},
                  {"latency_barrier_of_warp", of_warp}};
  static_assert(std::size(measured) == std::size(kPathLatencies));
  for (const auto& [which, cycles] : measured) p.latency[which.place] = rounded(cycles);
}

/// What a launch costs before and besides its work.
void add_launch(CriticalPathParameters& p, Answers& answers, double multiprocessors) {
  const auto nothing = [&](int waves, int threads) {
    return fmt::format("nothing {:.0f} {}", waves * multiprocessors, threads);
  };
  constexpr int kMore = 256, kFewer = 64, kWarps = 32;
  const double blocks = (kMore - kFewer) * multiprocessors;
  p.overhead = answers.launch("compute_only 1 32 0");
  p.first_access = (answers.difference("read_words 64 256 1", "read_words 1 32 1") +
                    answers.difference("read_words 256 256 1", "read_words 1 256 1")) /
                   2;
  const auto once = [&](int instructions) {
    return fmt::format("run_once_apart {:.0f} 32 {}", multiprocessors, instructions);
  };
  p.first_execution = answers.difference(once(1024), once(16)) / (1024 - 16);
  p.block_cycles = answers.difference(nothing(kMore, 32), nothing(kFewer, 32)) / blocks;
  p.warp_cycles = std::max(
      0.0, (answers.difference(nothing(kMore, 1024), nothing(kFewer, 1024)) / blocks - p.block_cycles) / kWarps);
}

void add_rates(CriticalPathParameters& p, Answers& answers, const Device& device) {
  const double multiprocessors = device.multiprocessors;
  constexpr double kSector = 32, kMegabyte = 1 << 20;
  const auto again = [&](const char* what, int passes) {
    return fmt::format("{} {:.0f} 256 16 MB {}", what, 8 * multiprocessors, passes);
  };
  // The clock starts when the first warp starts, so that what others have done before is missing.
  p.issue = std::min(device.throughput.issue.value_or(4), 1 / answers.each("fma_f32 rate"));
  p.special_functions = 1 / answers.each("ex2 rate");
  p.double_precision = 1 / answers.each("fma_f64 rate");
  p.alu = rounded(1 / answers.each("min_f32 rate"));
  p.integer_multiply = rounded(1 / answers.each("mad_s32 rate"));
  p.wavefronts = 1 / answers.each("shared loads stride 1");
  const double sectors = 10 * 16 * kMegabyte / kSector; // ten more passes
  p.l2_read = sectors / answers.difference(again("read_again", 11), again("read_again", 1));
  p.l2_write = sectors / answers.difference(again("write_again", 11), again("write_again", 1));
  // A quarter of the words of 16 MB at random: each is a sector of its own.
  constexpr double kLanes = 49152.0 * 256;
  p.l2_read_scattered = kLanes / answers.difference("gather_words 65536 256 20", "gather_words 16384 256 20");
  p.l2_write_scattered = kLanes / answers.difference("scatter_words 65536 256 20", "scatter_words 16384 256 20");
  // Reads of a sector of every 64 bytes fetch all 64.
  constexpr double kRead = 64.0 * (16384 - 4096) * 256, kCopied = 16.0 * (524288 - 262144) * 256;
  p.memory_read = kRead / answers.difference("read_words 16384 256 16", "read_words 4096 256 16");
  p.memory_write =
      kCopied / (answers.difference("copy_fours 524288 256", "copy_fours 262144 256") - kCopied / p.memory_read);
  p.kept_bytes =
      64 * kMegabyte - answers(fmt::format("write_again {:.0f} 256 64 MB 1", 8 * multiprocessors)).bytes_written;
  p.memory_scattered = 64 * kLanes / answers.difference("gather_words 65536 256 28", "gather_words 16384 256 28");
}

void add_atomics(CriticalPathParameters& p, Answers& answers) {
  constexpr double kUpdates = 65536.0 * 4;
  p.atomic_half_line = answers.launch("add_atomically s32 256 256 0 1") / kUpdates;
  p.float_atomic_word = answers.launch("add_atomically f32 256 256 0 1") / kUpdates;
  // 256 words that lie in a kilobyte: a warp updates 32 of them, 4 sectors.
  p.atomic_kilobyte = answers.launch("add_atomically s32 256 256 8 1") / (kUpdates / 8);
  constexpr double kPairs = 32.0 * 3128 * 3127; // each thread updates one of 32 words
  p.swap_pair = rounded(answers.launch("add_by_exchange 391 256 5") / kPairs);
}

/// What other micro-benchmarks measure: ask/compare_and_swap.cu, ask/swaps.cu, ask/ports.cu, ask/in_flight.cu,
/// ask/constants.cu and ask/short_launches.cu; and the time between two blocks, which shows only if nothing else limits
/// copies of words.
void keep_others(CriticalPathParameters& p, const CriticalPathParameters& known) {
  p.shared_swap = known.shared_swap;
  p.global_swap = known.global_swap;
  p.port_read = known.port_read;
  p.port_read_scattered = known.port_read_scattered;
  p.port_write = known.port_write;
  p.port_write_scattered = known.port_write_scattered;
  p.port_update_scattered = known.port_update_scattered;
  p.latency_line = known.latency_line;
  p.latency_memory_doubling = known.latency_memory_doubling;
  p.latency_shared_pass = known.latency_shared_pass;
  p.block_turnover = known.block_turnover;
  p.latency_constant_load = known.latency_constant_load;
  p.constant_line = known.constant_line;
  p.constant_line_of_two = known.constant_line_of_two;
  p.constant_segment = known.constant_segment;
  p.latency_special_division = known.latency_special_division;
  p.latency_special_double_division = known.latency_special_double_division;
  p.latency_special_root = known.latency_special_root;
  p.host_read = known.host_read;
  p.host_write = known.host_write;
  p.latency_host = known.latency_host;
}

} // namespace

Expected<Device> with_micro_benchmarks(Device device, std::span<const MicroBenchmark> given,
                                       const std::string& source) {
  Answers answers(given);
  CriticalPathParameters p;
  const MicroBenchmark& longest = answers("copy_fours 524288 256");
  p.clock_ghz = longest.device_cycles / longest.nanoseconds;
  add_latencies(p, answers);
  add_launch(p, answers, device.multiprocessors);
  add_rates(p, answers, device);
  add_atomics(p, answers);
  for (double* one : {&p.clock_ghz,
                      &p.overhead,
                      &p.first_access,
                      &p.first_execution,
                      &p.block_cycles,
                      &p.warp_cycles,
                      &p.issue,
                      &p.special_functions,
                      &p.double_precision,
                      &p.wavefronts,
                      &p.l2_read,
                      &p.l2_read_scattered,
                      &p.l2_write,
                      &p.l2_write_scattered,
                      &p.memory_read,
                      &p.memory_write,
                      &p.memory_scattered,
                      &p.kept_bytes,
                      &p.atomic_half_line,
                      &p.float_atomic_word,
                      &p.atomic_kilobyte})
    *one = rounded(*one);
  if (!answers.errors().empty()) return failure(answers.errors());
  p.overlap = device.critical_path ? device.critical_path->overlap : kUsualOverlap;
  if (device.critical_path) keep_others(p, *device.critical_path);
  device.critical_path = p;
  visit_fields(p,
               [&](std::string_view key, const auto&) { device.sources.erase(fmt::format("critical_path.{}", key)); });
  device.sources["critical_path"] = source;
  return device;
}

} // namespace warplens::model
