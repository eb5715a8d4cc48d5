// SPDX-License-Identifier: Apache-2.0
// Models compared with times of kernels of public programs on an H200. No parameter was fitted to any of them.
#include "model/device.hpp"
#include "model/models.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace warplens::tests {
namespace {

struct Timed {
  std::string program, kernel;
  double milliseconds = 0;
  model::KernelStatistics counted;
};

const std::vector<Timed>& all_timed() {
  static const std::vector<Timed> list = [] {
    std::ifstream in(WARPLENS_SOURCE_DIR "/tests/data/hardware/public_programs.jsonl");
    std::vector<Timed> launches;
    for (std::string line; std::getline(in, line);) {
      const nlohmann::json one = nlohmann::json::parse(line);
      Timed& launch = launches.emplace_back();
      launch.program = one["program"];
      launch.kernel = one["kernel"];
      launch.milliseconds = one["nanoseconds"].get<double>() * 1e-6;
      for (const model::StatisticField& field : model::statistic_fields())
        if (const auto value = one["statistics"].find(field.name); value != one["statistics"].end())
          field.get(launch.counted) = value->get<double>();
    }
    return launches;
  }();
  return list;
}

double predicted(std::string_view model, const Timed& launch) {
  static const model::Device device = *model::find_device("h200");
  const auto p = model::predict(model, launch.counted, device);
  EXPECT_TRUE(p) << launch.program << ", " << launch.kernel;
  return p ? p->milliseconds : 0;
}

struct Errors {
  std::size_t launches = 0, programs = 0;
  double mean = 0, median = 0, spearman = 0;
};

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<double> result;
  for (const double v : values) {
    const auto less = std::count_if(values.begin(), values.end(), [&](double w) { return w < v; });
    const auto equal = std::count(values.begin(), values.end(), v);
    result.push_back(static_cast<double>(less) + 0.5 * static_cast<double>(equal - 1));
  }
  return result;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const double middle = (static_cast<double>(a.size()) - 1) / 2; // the mean of ranks
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - middle) * (b[i] - middle);
    aa += (a[i] - middle) * (a[i] - middle);
    bb += (b[i] - middle) * (b[i] - middle);
  }
  return ab / std::sqrt(aa * bb);
}

Errors errors(std::string_view model) {
  std::vector<double> off, times, predictions;
  std::set<std::string> programs;
  for (const Timed& launch : all_timed()) {
    programs.insert(launch.program);
    times.push_back(launch.milliseconds);
    predictions.push_back(predicted(model, launch));
    off.push_back(100 * std::abs(predictions.back() / launch.milliseconds - 1));
  }
  Errors result{off.size(), programs.size(), 0, 0, correlation(ranks(predictions), ranks(times))};
  for (const double e : off) result.mean += e / static_cast<double>(off.size());
  std::sort(off.begin(), off.end());
  result.median = off[off.size() / 2];
  return result;
}

// docs/models.md states these numbers.
TEST(PublicPrograms, ErrorsAreAsDocumented) {
  const Errors e = errors(model::kThroughputLatency);
  EXPECT_EQ(e.launches, 263u);
  EXPECT_EQ(e.programs, 101u);
  EXPECT_NEAR(e.mean, 26.6, 0.06);
  EXPECT_NEAR(e.median, 14.6, 0.06);
  EXPECT_NEAR(e.spearman, 0.912, 0.0006);
}

// No launch may be faster than a lower bound of its time.
TEST(PublicPrograms, BoundsAreBelowMeasuredTimes) {
  for (const Timed& launch : all_timed())
    for (const std::string_view id : {model::kBounds, model::kRoofline})
      EXPECT_LE(predicted(id, launch), launch.milliseconds) << id << ": " << launch.program << ", " << launch.kernel;
}

/// The columns of an answer of ask/calibration.cu by its name.
std::map<std::string, std::map<std::string, double>> micro_benchmarks(const std::string& device) {
  std::ifstream in(WARPLENS_SOURCE_DIR "/tests/data/hardware/calibration_" + device + ".csv");
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

} // namespace
} // namespace warplens::tests
