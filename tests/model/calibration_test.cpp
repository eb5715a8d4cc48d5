// SPDX-License-Identifier: Apache-2.0
#include "model/calibration.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace warplens::model {
namespace calibration_test {

KernelStatistics micro_benchmark(double t32, double t64, double t128, bool vector = false) {
  KernelStatistics s;
  s.threads_per_block = 256;
  s.blocks = 120;
  s.resident_blocks = 4;
  s.instructions = 7942;
  s.global_requests = t32 + t64 + t128 > 0 ? 400 : 0;
  s.transactions_32 = t32;
  s.transactions_64 = t64;
  s.transactions_128 = t128;
  if (vector) s.vector_transactions_32 = t32;
  return s;
}

KernelStatistics one_warp() {
  KernelStatistics s = micro_benchmark(0, 400, 0);
  s.threads_per_block = 32;
  s.blocks = 30;
  s.resident_blocks = 1;
  return s;
}

// Times that the model itself predicts for a device with other parameters.
std::vector<MeasuredRun> runs_on(const Device& truth) {
  const std::pair<const char*, KernelStatistics> kernels[] = {{"vector", micro_benchmark(800, 0, 0, true)},
                                                              {"128", micro_benchmark(0, 0, 800)},
                                                              {"64", micro_benchmark(0, 800, 0)},
                                                              {"32", micro_benchmark(800, 0, 0)},
                                                              {"32 again", micro_benchmark(1200, 0, 0)},
                                                              {"one warp", one_warp()},
                                                              {"none", micro_benchmark(0, 0, 0)}};
  std::vector<MeasuredRun> runs;
  for (const auto& [name, s] : kernels) runs.push_back({name, s, predict(kDasgupta, s, truth)->milliseconds});
  return runs;
}

TEST(Calibration, FindsTheParametersThatMadeTheTimes) {
  Device truth = *find_device("c1060");
  truth.dasgupta = DasguptaParameters{1.4, 500, 30, 44, 70, 90, std::nullopt};
  const auto tuned = calibrate_dasgupta(*find_device("c1060"), runs_on(truth));
  ASSERT_TRUE(tuned) << render(tuned.error(), "");
  const DasguptaParameters& p = *tuned->device.dasgupta;
  EXPECT_NEAR(p.clock_ghz, 1.4, 1e-9);
  EXPECT_NEAR(p.memory_latency, 500, 1e-6);
  EXPECT_NEAR(p.delay_32, 30, 1e-6);
  EXPECT_NEAR(p.delay_64, 44, 1e-6);
  EXPECT_NEAR(p.delay_128, 70, 1e-6);
  EXPECT_NEAR(p.delay_vector, 90, 1e-6);
  ASSERT_EQ(tuned->steps.size(), 6u);
  EXPECT_EQ(tuned->steps[0].name, "clock_ghz");
  EXPECT_EQ(tuned->steps[2].runs, 2u);
  EXPECT_LT(tuned->steps[2].largest_difference, 1e-9);
  EXPECT_EQ(tuned->device.sources.at("dasgupta.delay_32"), "calibrated with 2 runs");
}

TEST(Calibration, WhatNoRunTunesIsKept) {
  const Device device = *find_device("c1060");
  const std::vector<MeasuredRun> runs{{"32", micro_benchmark(800, 0, 0), 0.8}};
  const auto tuned = calibrate_dasgupta(device, runs);
  ASSERT_TRUE(tuned);
  EXPECT_EQ(tuned->device.dasgupta->clock_ghz, device.dasgupta->clock_ghz);
  EXPECT_EQ(tuned->device.dasgupta->delay_64, device.dasgupta->delay_64);
  EXPECT_NE(tuned->device.dasgupta->delay_32, device.dasgupta->delay_32);
  EXPECT_EQ(tuned->device.sources.at("dasgupta.delay_64"), device.sources.at("dasgupta.delay_64"));
}

TEST(Calibration, MixedRunsAreNotUsedAndSaySo) {
  const std::vector<MeasuredRun> runs{{"mixed", micro_benchmark(400, 400, 0), 0.8}};
  const auto tuned = calibrate_dasgupta(*find_device("c1060"), runs);
  ASSERT_TRUE(tuned);
  ASSERT_EQ(tuned->remarks.size(), 1u);
  EXPECT_NE(tuned->remarks[0].find("'mixed' is not used"), std::string::npos);
}

TEST(Calibration, ADeviceWithoutParametersGetsThem) {
  Device device = *find_device("gtx280");
  ASSERT_FALSE(device.dasgupta);
  const std::vector<MeasuredRun> runs{{"32", micro_benchmark(800, 0, 0), 0.8}};
  const auto tuned = calibrate_dasgupta(device, runs);
  ASSERT_TRUE(tuned);
  EXPECT_NEAR(predict(kDasgupta, runs[0].statistics, tuned->device)->milliseconds, 0.8, 1e-9);
  device.issue_cycles.reset();
  EXPECT_FALSE(calibrate_dasgupta(device, runs));
}

TEST(Calibration, TimesThatCannotBeAreErrors) {
  const Device device = *find_device("c1060");
  EXPECT_FALSE(calibrate_dasgupta(device, {}));
  for (const double bad : {0.0, -1.0, std::nan(""), HUGE_VAL})
    EXPECT_FALSE(calibrate_dasgupta(device, std::vector<MeasuredRun>{{"bad", micro_benchmark(800, 0, 0), bad}})) << bad;
  // Faster than its instructions alone: no delay explains it.
  const auto p = calibrate_dasgupta(device, std::vector<MeasuredRun>{{"fast", micro_benchmark(800, 0, 0), 1e-3}});
  ASSERT_FALSE(p);
  EXPECT_EQ(p.error().list().front().message, "no value of delay_32 explains the times of 1 run, such as 'fast'");
  KernelStatistics s = micro_benchmark(800, 0, 0);
  s.instructions.reset();
  EXPECT_FALSE(calibrate_dasgupta(device, std::vector<MeasuredRun>{{"short", s, 1}}));
}

TEST(Calibration, TheTunedDeviceCanBeWrittenAndRead) {
  const std::vector<MeasuredRun> runs{{"32", micro_benchmark(800, 0, 0), 0.8}};
  const auto tuned = calibrate_dasgupta(*find_device("c1060"), runs);
  ASSERT_TRUE(tuned);
  const std::string text = device_text(tuned->device);
  const auto read = load_device(text, "tuned.toml");
  ASSERT_TRUE(read) << render(read.error(), text);
  EXPECT_EQ(read->dasgupta->delay_32, tuned->device.dasgupta->delay_32);
  EXPECT_EQ(read->sources, tuned->device.sources);
}

TEST(DeviceText, EveryBuiltInDeviceReadsBack) {
  for (const Device& device : built_in_devices()) {
    const std::string text = device_text(device);
    const auto read = load_device(text, device.id);
    ASSERT_TRUE(read) << render(read.error(), text);
    EXPECT_EQ(device_text(*read), text) << device.id;
    EXPECT_EQ(read->sources, device.sources) << device.id;
    EXPECT_EQ(read->latency.memory, device.latency.memory);
    EXPECT_EQ(read->l1.has_value(), device.l1.has_value());
    EXPECT_EQ(read->sim.has_value(), device.sim.has_value());
    EXPECT_EQ(read->dasgupta.has_value(), device.dasgupta.has_value());
  }
}

TEST(DeviceText, QuotationMarksInASourceSurvive) {
  Device device = *find_device("k80");
  device.sources["clock_ghz"] = "the \"slides\", a \\ and\nmore";
  const auto read = load_device(device_text(device), "k80");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->sources.at("clock_ghz"), "the \"slides\", a \\ andmore");
}

// ---- weights

MeasuredRun vector_addition(double n, double milliseconds) {
  KernelStatistics s;
  s.threads_per_block = 64;
  s.blocks = n / 64;
  s.resident_blocks = 32;
  s.instructions = 27;
  s.thread_cycles = 24;
  s.global_requests = 3;
  return {"", s, milliseconds};
}

TEST(Weight, FromOneRunOrMany) {
  const Device d = *find_device("titanv");
  const std::vector<MeasuredRun> runs{vector_addition(64e5, 10), vector_addition(128e5, 24)};
  const double one = 64e5 * 1524 / 1.455e6; // ms at weight 1
  const auto first = fit_weight(kKaranKumar, d, runs, WeightFit::first);
  const auto mean = fit_weight(kKaranKumar, d, runs, WeightFit::mean_ratio);
  const auto squares = fit_weight(kKaranKumar, d, runs, WeightFit::least_squares);
  ASSERT_TRUE(first && mean && squares);
  EXPECT_NEAR(first->weight, one / 10, 1e-9);
  EXPECT_NEAR(first->predicted[0], 10, 1e-12);
  EXPECT_NEAR(mean->weight, (one / 10 + 2 * one / 24) / 2, 1e-9);
  EXPECT_NEAR(mean->errors.mean_ratio, 1, 1e-12);
  EXPECT_NEAR(squares->weight, (1 + 4) * one / (10 + 48), 1e-9);
  EXPECT_LE(squares->errors.root_mean_square, mean->errors.root_mean_square);
  EXPECT_LE(squares->errors.root_mean_square, first->errors.root_mean_square);
}

TEST(Weight, OnlyForModelsThatHaveOne) {
  const Device d = *find_device("titanv");
  const std::vector<MeasuredRun> runs{vector_addition(64e5, 10)};
  EXPECT_TRUE(fit_weight(kAmaris, d, runs, WeightFit::first));
  EXPECT_FALSE(fit_weight(kVolkov, d, runs, WeightFit::first));
  EXPECT_FALSE(fit_weight("nobody", d, runs, WeightFit::first));
  EXPECT_FALSE(fit_weight(kAmaris, d, {}, WeightFit::first));
}

TEST(ErrorMetrics, ByHand) {
  const ErrorMetrics m = error_metrics(std::vector<double>{11, 18}, std::vector<double>{10, 20});
  EXPECT_DOUBLE_EQ(m.mean_absolute, 1.5);
  EXPECT_DOUBLE_EQ(m.root_mean_square, std::sqrt(2.5));
  EXPECT_DOUBLE_EQ(m.mean_relative, 0.1);
  EXPECT_DOUBLE_EQ(m.mean_ratio, 1.0);
}

} // namespace calibration_test
} // namespace warplens::model
