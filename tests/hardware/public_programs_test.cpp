// SPDX-License-Identifier: Apache-2.0
// Models compared with times of kernels of public programs on an H200 and an H100. No parameter was fitted to any of
// them.
#include "tests/hardware/public_programs.hpp"

#include "model/device.hpp"
#include "model/models.hpp"
#include "model/trust.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace warplens::tests {
namespace public_programs_test {

void expect(const Errors& e, std::size_t launches, double mean, double median, double spearman) {
  EXPECT_EQ(e.launches, launches);
  EXPECT_NEAR(e.mean, mean, 0.06);
  EXPECT_NEAR(e.median, median, 0.06);
  EXPECT_NEAR(e.spearman, spearman, 0.0006);
}

// docs/models.md states these numbers.
TEST(PublicPrograms, ErrorsAreAsDocumented) {
  std::set<std::string> programs;
  for (const TimedLaunch& launch : public_programs()) programs.insert(launch.program);
  EXPECT_EQ(programs.size(), 101u);
  expect(errors(model::kThroughputLatency, public_programs(), kH200), 263, 26.1, 14.6, 0.933);
  expect(errors(model::kCriticalPath, public_programs(), kH200), 263, 10.65, 7.05, 0.9867);
  expect(errors(model::kCriticalPath, half(false), kH200), 125, 9.72, 5.84, 0.9860);
  expect(errors(model::kCriticalPath, half(true), kH200), 138, 11.50, 8.12, 0.9862);
  expect(errors(model::kCriticalPath, public_programs(), kH100), 263, 11.31, 7.55, 0.9781);
}

std::set<std::string> programs_of(const std::vector<TimedLaunch>& launches) {
  std::set<std::string> programs;
  for (const TimedLaunch& launch : launches) programs.insert(launch.program);
  return programs;
}

struct ByLength {
  std::vector<TimedLaunch> brief, longer; ///< than 10 µs
};
ByLength by_length(const std::vector<TimedLaunch>& launches, const Gpu& gpu) {
  ByLength result;
  for (const TimedLaunch& launch : launches)
    (launch.*gpu.milliseconds < 0.01 ? result.brief : result.longer).push_back(launch);
  return result;
}

// docs/critical-path.md states these numbers.
TEST(PublicPrograms, ErrorsOfLaterProgramsAreAsDocumented) {
  const std::set<std::string> programs = programs_of(later_programs());
  EXPECT_EQ(programs.size(), 68u);
  for (const TimedLaunch& launch : public_programs()) EXPECT_FALSE(programs.contains(launch.program)) << launch.program;
  const std::vector<TimedLaunch> all = without_waits(later_programs());
  const auto [brief, longer] = by_length(all, kH100);
  expect(errors(model::kCriticalPath, all, kH100), 126, 14.66, 9.00, 0.9873);
  expect(errors(model::kCriticalPath, brief, kH100), 51, 11.35, 8.22, 0.9257);
  expect(errors(model::kCriticalPath, longer, kH100), 75, 16.91, 9.18, 0.9875);
}

TEST(PublicPrograms, ErrorsOfProgramsThatWerePredictedFirstAreAsDocumented) {
  expect(errors(model::kCriticalPath, more_programs(), kH200), 28, 16.57, 13.67, 0.9588);
  expect(errors(model::kCriticalPath, sample_programs(), kH200), 61, 32.78, 14.30, 0.8985);
  EXPECT_EQ(programs_of(modelled(sample_programs())).size(), 31u);
  expect(errors(model::kCriticalPath, modelled(sample_programs()), kH200), 49, 17.70, 13.17, 0.9889);
  EXPECT_EQ(programs_of(stranger_programs()).size(), 16u);
  expect(errors(model::kCriticalPath, stranger_programs(), kH200), 33, 12.08, 9.73, 0.9866);
  EXPECT_EQ(programs_of(tutorial_programs()).size(), 22u);
  EXPECT_EQ(programs_of(modelled(tutorial_programs())).size(), 20u);
  expect(errors(model::kCriticalPath, modelled(tutorial_programs()), kH200), 39, 13.39, 7.18, 0.9863);
  EXPECT_EQ(programs_of(suite_programs()).size(), 15u);
  expect(errors(model::kCriticalPath, suite_programs(), kH200), 39, 11.11, 7.70, 0.9526);
}

TEST(PublicPrograms, ErrorsOfTheNewestProgramsAreAsDocumented) {
  const std::set<std::string> programs = programs_of(newest_programs());
  EXPECT_EQ(programs.size(), 63u);
  for (const auto* others : {&public_programs(), &later_programs()})
    for (const TimedLaunch& launch : *others) EXPECT_FALSE(programs.contains(launch.program)) << launch.program;
  const std::vector<TimedLaunch> all = without_waits(newest_programs());
  const auto [brief, longer] = by_length(all, kH200);
  expect(errors(model::kCriticalPath, all, kH200), 140, 13.41, 8.45, 0.9869);
  expect(errors(model::kCriticalPath, brief, kH200), 64, 9.54, 6.76, 0.9338);
  expect(errors(model::kCriticalPath, longer, kH200), 76, 16.67, 10.13, 0.9716);
  EXPECT_NEAR(errors(model::kCriticalPath, newest_programs(), kH200).mean, 43.97, 0.06); // with those that wait
}

// The model to trust is the better one.
TEST(PublicPrograms, TheTrustedModelIsBetter) {
  const Errors trusted = errors(model::kCriticalPath, evaluated_on_h200(), kH200),
               other = errors(model::kThroughputLatency, public_programs(), kH200);
  EXPECT_LT(trusted.mean, other.mean);
  EXPECT_LT(trusted.median, other.median);
  EXPECT_GT(trusted.spearman, other.spearman);
  const auto row = std::find_if(model::trust_table().begin(), model::trust_table().end(),
                                [](const model::Trust& t) { return t.model == model::kCriticalPath; });
  ASSERT_NE(row, model::trust_table().end());
  EXPECT_NEAR(*row->mean_percent, trusted.mean, 0.5);
  EXPECT_NEAR(*row->median_percent, trusted.median, 0.5);
}

// The expected error of a prediction is that of the launches of which the model says the same.
TEST(PublicPrograms, ErrorsOfLaunchesThatAreAlike) {
  std::map<std::string, std::vector<double>> by_bound;
  for (const TimedLaunch& launch : evaluated_on_h200()) {
    const model::Prediction p = predicted(model::kCriticalPath, launch, kH200);
    by_bound[p.bound].push_back(100 * std::abs(p.milliseconds / launch.milliseconds - 1));
  }
  std::size_t rows = 0;
  for (const model::AlikeLaunches& alike : model::alike_launches()) {
    if (alike.model != model::kCriticalPath) continue;
    ++rows;
    std::vector<double>& errors = by_bound[std::string(alike.bound)];
    std::sort(errors.begin(), errors.end());
    ASSERT_FALSE(errors.empty()) << alike.bound;
    double sum = 0;
    for (const double e : errors) sum += e;
    EXPECT_EQ(errors.size(), static_cast<std::size_t>(alike.launches)) << alike.bound;
    EXPECT_NEAR(errors[errors.size() / 2], alike.median_percent, 0.5) << alike.bound;
    EXPECT_NEAR(sum / static_cast<double>(errors.size()), alike.mean_percent, 0.5) << alike.bound;
  }
  EXPECT_EQ(rows, static_cast<std::size_t>(std::count_if(by_bound.begin(), by_bound.end(),
                                                         [](const auto& group) { return group.second.size() >= 5; })));
}

struct Pairs {
  int all = 0, differ = 0, right = 0, close = 0; ///< differ: by more than 10 %; of these, right and within 20 %
};

/// Kernels that do the same work: which one is faster, and by how much.
Pairs pairs_of(const std::vector<TimedLaunch>& launches) {
  Pairs result;
  for (std::size_t i = 0; i < launches.size(); ++i)
    for (std::size_t j = i + 1; j < launches.size(); ++j) {
      const TimedLaunch &a = launches[i], &b = launches[j];
      if (a.versions.empty() || a.program != b.program || a.versions != b.versions) continue;
      ++result.all;
      const double measured = a.milliseconds / b.milliseconds;
      if (std::max(measured, 1 / measured) < 1.1) continue;
      ++result.differ;
      const double ratio = predicted(model::kCriticalPath, a, kH200).milliseconds /
                           predicted(model::kCriticalPath, b, kH200).milliseconds;
      result.right += (ratio > 1) == (measured > 1) ? 1 : 0;
      result.close += std::abs(ratio / measured - 1) < 0.2 ? 1 : 0;
    }
  return result;
}

void expect_pairs(const std::vector<TimedLaunch>& launches, const Pairs& expected) {
  const Pairs pairs = pairs_of(launches);
  EXPECT_EQ(pairs.all, expected.all);
  EXPECT_EQ(pairs.differ, expected.differ);
  EXPECT_EQ(pairs.right, expected.right);
  EXPECT_EQ(pairs.close, expected.close);
}

TEST(PublicPrograms, TheFasterVersionIsNamed) { expect_pairs(evaluated_on_h200(), {80, 49, 46, 33}); }
TEST(PublicPrograms, TheFasterVersionOfASampleIsNamed) { expect_pairs(versions_of_samples(), {75, 68, 66, 54}); }
TEST(PublicPrograms, TheFasterVersionOfATutorialIsNamed) { expect_pairs(tutorial_programs(), {23, 18, 17, 7}); }

// No launch may be faster than a lower bound of its time, unless the counts are of other turns of its waiting loops.
TEST(PublicPrograms, BoundsAreBelowMeasuredTimes) {
  const auto expect_below = [](const std::vector<TimedLaunch>& launches, const Gpu& gpu) {
    for (const TimedLaunch& launch : launches)
      for (const std::string_view id : {model::kBounds, model::kRoofline})
        EXPECT_LE(predicted(id, launch, gpu).milliseconds, launch.*gpu.milliseconds)
            << id << ", " << gpu.name << ": " << launch.program << ", " << launch.kernel;
  };
  for (const auto* launches : {&public_programs(), &newest_programs(), &more_programs(), &sample_programs(),
                               &stranger_programs(), &tutorial_programs(), &suite_programs(), &versions_of_samples()})
    expect_below(*launches, kH200);
  for (const auto* launches : {&public_programs(), &later_programs()}) expect_below(without_waits(*launches), kH100);
}

/// The columns of an answer of ask/calibration.cu, or of ask/overlaps.cu, by its name.
std::map<std::string, std::map<std::string, double>> micro_benchmarks(const std::string& device,
                                                                      const std::string& asked = "calibration") {
  std::ifstream in(WARPLENS_SOURCE_DIR "/tests/data/hardware/" + asked + "_" + device + ".csv");
  const auto cells = [](const std::string& line) {
    std::vector<std::string> list;
    std::istringstream text(line);
    for (std::string cell; std::getline(text, cell, ',');) list.push_back(cell);
    return list;
  };
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> titles = cells(line);
  std::map<std::string, std::map<std::string, double>> result;
  while (std::getline(in, line)) {
    const std::vector<std::string> row = cells(line);
    for (std::size_t i = 2; i < row.size(); ++i) result[row[1]][titles[i]] = std::stod(row[i]);
  }
  return result;
}

// Warps that load the same lines side by side wait as long as one alone: what the caches' analyzer calls in flight.
TEST(MicroBenchmarks, WarpsWaitForWhatOthersFetch) {
  auto answers = micro_benchmarks("h200", "shared_lines");
  const auto cycles = [&](const std::string& name) { return answers.at(name).at("cycles") / 128; };
  const double memory = cycles("own 1 1 0 0"), second_level = cycles("own 1 1 0 1");
  EXPECT_GT(memory, 2 * second_level);
  for (const char* warps : {"2", "4", "8", "16", "32"}) {
    EXPECT_NEAR(cycles("block 1 " + std::string(warps) + " 0 1"), second_level, 0.01 * second_level) << warps;
    EXPECT_NEAR(cycles("block 1 " + std::string(warps) + " 0 0"), memory, 0.05 * memory) << warps;
    EXPECT_GT(cycles("all 132 " + std::string(warps) + " 0 0"), 0.8 * memory) << warps;
  }
}

// The latencies of device files come from publications; micro-benchmarks of our own confirm them.
TEST(MicroBenchmarks, ConfirmPublishedLatencies) {
  for (const char* id : {"h200", "h100"}) {
    auto answers = micro_benchmarks(id);
    ASSERT_GT(answers.size(), 350u) << id;
    const model::Latencies latency = model::find_device(id)->latency;
    const auto each = [&](const char* name) { return answers.at(name).at("cycles") / answers.at(name).at("times"); };
    EXPECT_NEAR(each("fma_f32 latency"), latency.arithmetic.value(), 0.1) << id;
    EXPECT_NEAR(each("shared latency"), latency.shared.value(), 0.5) << id;
    const double memory = each("memory 512M latency");
    EXPECT_NEAR(memory, latency.memory.value(), 25) << id;
    // The first pass of the chase misses: ncu flushes the caches.
    const auto warm = [&](const char* name, double lines) {
      return (answers.at(name).at("cycles") - lines * memory) / (answers.at(name).at("times") - lines);
    };
    EXPECT_NEAR(warm("l2 1M latency", 8192), latency.l2.value(), 10) << id;
    EXPECT_NEAR(warm("l1 latency", 128), latency.l1.value(), 7) << id;
  }
}

// Two units that are busy at the same time take as long as the one that needs longer. What a launch with ever more work
// for the second takes is a line in the end; before, it is the time of the memory alone.
TEST(MicroBenchmarks, BusyUnitsOverlap) {
  for (const char* id : {"h200", "h100"}) {
    auto answers = micro_benchmarks(id, "overlaps");
    const std::pair<const char*, int> kernels[] = {
        {"read_and_compute", 1}, {"write_and_compute", 1}, {"read_and_load_shared", 4}};
    for (const auto& k : kernels) {
      const char* const kernel = k.first;
      const int divided = k.second;
      const auto cycles = [&](int count) {
        return answers.at(std::string(kernel) + " 131072 256 " + std::to_string(count / divided)).at("device_cycles");
      };
      const double each = (cycles(256) - cycles(192)) / 64, others = cycles(256) - 256 * each;
      bool first = false, second = false;
      for (const int count : {16, 32, 48, 64, 80, 96, 128}) {
        const double of_second = others + count * each;
        (of_second < cycles(0) ? first : second) = true;
        EXPECT_NEAR(cycles(count) / std::max(cycles(0), of_second), 1, 0.08) << id << " " << kernel << " " << count;
      }
      EXPECT_TRUE(first && second) << id << " " << kernel;
    }
  }
}

// What one multiprocessor exchanges with the L2 cache: one block has it for itself.
TEST(MicroBenchmarks, PortOfAMultiprocessor) {
  auto answers = micro_benchmarks("h200", "ports");
  const auto rate = [&](const char* name) { return answers.at(name).at("times") / answers.at(name).at("cycles"); };
  for (const char* id : {"h200", "h100"}) {
    const model::CriticalPathParameters p = *model::find_device(id)->critical_path;
    EXPECT_NEAR(rate("read 1 1024 32 2"), *p.port_read, 0.005) << id;
    EXPECT_NEAR(rate("read 1 1024 128 2"), *p.port_read_scattered, 0.005) << id;
    EXPECT_NEAR(rate("write 1 1024 32 2"), *p.port_write, 0.005) << id;
    EXPECT_NEAR(rate("write 1 1024 128 2"), *p.port_write_scattered, 0.005) << id;
    EXPECT_NEAR(rate("add 1 1024 128 2"), *p.port_update_scattered, 0.005) << id;
    EXPECT_NEAR(rate("add 1 1024 32 2"), *p.port_write, 0.005) << id;
    // A load and a store of the same words at random take as long as one after the other.
    EXPECT_NEAR(1 / rate("change_at_random 1 1024 0 16384"), 1 / *p.port_read_scattered + 1 / *p.port_write_scattered,
                0.25);
    // Eight multiprocessors do not disturb each other; all together wait for the L2 cache.
    EXPECT_NEAR(rate("write 8 1024 128 2"), *p.port_write_scattered, 0.005) << id;
    EXPECT_LT(rate("write 132 1024 128 2"), 0.7 * *p.port_write_scattered) << id;
  }
}

// What a warp alone waits for a load of many lines, and for many accesses of memory, more than for one.
TEST(MicroBenchmarks, LoadsOfManyLines) {
  auto answers = micro_benchmarks("h200", "in_flight");
  const auto each = [&](const std::string& name) {
    return answers.at(name).at("cycles") / answers.at(name).at("times");
  };
  const auto through = [&](const std::string& level, int sectors) {
    return each(level + " 1 " + std::to_string(sectors) + " 1 1 0");
  };
  const double in_l1 = through("l1", 32) - through("l1", 4);
  for (const char* id : {"h200", "h100"}) {
    const model::CriticalPathParameters p = *model::find_device(id)->critical_path;
    EXPECT_NEAR(in_l1 / 31, *p.latency_line, 0.05) << id;
    EXPECT_NEAR(through("l2", 32) - through("l2", 4), 31 * *p.latency_line, 5) << id;
    EXPECT_NEAR((through("memory", 32) - through("memory", 4) - in_l1) / 5, *p.latency_memory_doubling, 0.05) << id;
    // Two loads of 32 lines each: six doublings.
    EXPECT_NEAR((each("memory 2 32 1 1 0") - each("l1 2 32 1 1 0") - (through("memory", 4) - through("l1", 4))) / 6,
                *p.latency_memory_doubling, 1)
        << id;
  }
}

// A word of each sector of a line takes longer than one word, by one doubling: the line arrives in two parts.
TEST(MicroBenchmarks, ALineArrivesInTwoParts) {
  auto answers = micro_benchmarks("h200", "in_flight");
  const model::CriticalPathParameters p = *model::find_device("h200")->critical_path;
  const auto each = [&](const std::string& name) {
    return answers.at(name).at("cycles") / answers.at(name).at("times");
  };
  const double l1 = path_latency(p, "latency_l1"), memory = path_latency(p, "latency_memory");
  for (int in_flight = 1, doublings = 1; in_flight <= 8; in_flight *= 2, ++doublings) {
    double sum = 0;
    for (const char* warps : {"1", "2", "4"}) {
      const std::string rest = " " + std::to_string(in_flight) + " 4 1 " + warps + " 0";
      sum += each("memory" + rest) - each("l1" + rest) + l1;
    }
    EXPECT_NEAR(sum / 3, memory + doublings * *p.latency_memory_doubling, 18) << in_flight;
  }
}

// The first turn of a warp waits for each line, and for each 256 bytes of constants that are in device memory.
TEST(MicroBenchmarks, ConstantsAndParameters) {
  auto answers = micro_benchmarks("h200", "constants");
  const auto each = [&](const std::string& name) {
    return answers.at(name).at("cycles") / answers.at(name).at("times");
  };
  for (const char* id : {"h200", "h100"}) {
    const model::CriticalPathParameters p = *model::find_device(id)->critical_path;
    EXPECT_NEAR(each("parameter_chain 8192 1 1 0"), *p.constant_line, 0.1) << id;
    EXPECT_NEAR(each("parameter_chain 8192 132 8 0"), *p.constant_line_of_two, 0.1) << id;
    const double line = each("constant_chain 8192 1 1 0");
    EXPECT_NEAR(4 * (line - *p.constant_line), *p.constant_segment, 1) << id;
    // It takes as long where all multiprocessors read, …
    EXPECT_NEAR(each("constant_chain 8192 132 8 0"), line, 0.02 * line) << id;
    // … and parameters of 256 bytes take no time.
    EXPECT_NEAR(answers.at("parameter_operands 256 1 1 0").at("device_cycles"),
                answers.at("code 256 1 1 0").at("device_cycles"), 350);
  }
}

// Copies of words keep neither the start of blocks nor device memory busy: what is left is the time of a block, and
// what passes until the next one starts in its place.
TEST(MicroBenchmarks, TimeBetweenTwoBlocks) {
  auto answers = micro_benchmarks("h200");
  const model::Device device = *model::find_device("h200");
  const model::CriticalPathParameters p = *device.critical_path;
  constexpr double kBlocks = 524288 - 262144, kBytes = 1024, kResident = 8, kArithmetic = 4;
  const double each = kResident * device.multiprocessors / kBlocks;
  const double stays = each * (answers.at("copy_words 524288 256").at("device_cycles") -
                               answers.at("copy_words 262144 256").at("device_cycles"));
  const double memory = each * kBlocks * kBytes * (1 / p.memory_read + 1 / p.memory_write);
  const double alone = std::pow(std::pow(stays, p.overlap) - std::pow(memory, p.overlap), 1 / p.overlap);
  const double path = path_latency(p, "latency_memory") + *p.latency_memory_doubling +
                      kArithmetic * path_latency(p, "latency_arithmetic");
  EXPECT_NEAR(alone - path, *p.block_turnover, 1);
}

// Blocks that only read words start as fast as blocks that do nothing, and the last one ends later.
TEST(MicroBenchmarks, BlocksStartWhileOthersRun) {
  auto answers = micro_benchmarks("h200");
  const model::CriticalPathParameters p = *model::find_device("h200")->critical_path;
  const double path = path_latency(p, "latency_memory") + *p.latency_memory_doubling;
  for (const int blocks : {256, 512, 1024, 2048, 4096, 16384, 65536, 262144, 524288}) {
    const double start = blocks * (p.block_cycles + 8 * p.warp_cycles);
    EXPECT_NEAR(answers.at("read_words " + std::to_string(blocks) + " 256 1").at("device_cycles") /
                    (p.overhead + p.first_access + start + path),
                1, 0.07)
        << blocks;
  }
}

// One launch reads memory of the host, one writes it, one does both.
TEST(MicroBenchmarks, MemoryOfTheHost) {
  auto answers = micro_benchmarks("h200", "short_launches");
  const model::CriticalPathParameters p = *model::find_device("h200")->critical_path;
  const auto cycles = [&](const std::string& name) { return answers.at(name).at("device_cycles"); };
  constexpr double kMost = 1 << 24, kLess = 1 << 20;
  const auto rate = [&](const std::string& name) {
    return (kMost - kLess) / (cycles(name + " 1056 256 16777216 0") - cycles(name + " 256 256 1048576 0"));
  };
  EXPECT_NEAR(rate("host_read"), *p.host_read, 0.05);
  EXPECT_NEAR(rate("host_write"), *p.host_write, 0.05);
  EXPECT_NEAR(rate("host_copy"), 1 / std::hypot(1 / *p.host_read, 1 / *p.host_write), 0.8);
  EXPECT_NEAR(cycles("host_read 1 256 4096 0") - p.overhead, *p.latency_host, 150);
}

// Updates of floating-point numbers by different requests follow each other, also those of different words of a sector.
TEST(MicroBenchmarks, ASectorTakesOneRequestOfFloatsAfterTheOther) {
  auto answers = micro_benchmarks("h200", "hot_words");
  const model::CriticalPathParameters p = *model::find_device("h200")->critical_path;
  const auto each = [&](const char* name) {
    return answers.at(name).at("nanoseconds") * p.clock_ghz / answers.at(name).at("times");
  };
  for (const char* words : {"add_double_of_warp 1056 256 8 1", "add_double_of_warp 1056 256 16 1",
                            "add_double_of_warp 1056 256 32 1"}) // one, two and four words
    EXPECT_NEAR(each(words), p.float_atomic_word, 0.1) << words;
  // Different words of one request do not: two words take half as long as one.
  EXPECT_NEAR(each("add_double 1056 256 8 32") / 32, p.float_atomic_word, 0.1);
  EXPECT_NEAR(each("add_double 1056 256 16 32") / 16, p.float_atomic_word, 0.1);
}

// The parameters of contention were measured with kernels of other data; the micro-benchmarks give nearly the same.
TEST(MicroBenchmarks, ConfirmTheCostOfContendedAtomics) {
  auto answers = micro_benchmarks("h200");
  const model::ThroughputLatencyParameters p = *model::find_device("h200")->throughput_latency;
  constexpr double kUpdates = 65536.0 * 4, kSectors = kUpdates / 8;
  const auto cycles = [&](const char* name) { return answers.at(name).at("device_cycles"); };
  EXPECT_NEAR(cycles("add_atomically s32 256 256 0 1") / kUpdates / p.atomic_half_line.value(), 1, 0.05);
  EXPECT_NEAR(cycles("add_atomically f32 256 256 0 1") / kUpdates / p.float_atomic_word.value(), 1, 0.05);
  EXPECT_NEAR(cycles("add_atomically s32 256 256 8 1") / kSectors / p.atomic_kilobyte.value(), 1, 0.05);
}

} // namespace public_programs_test
} // namespace warplens::tests
