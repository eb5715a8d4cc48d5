// SPDX-License-Identifier: Apache-2.0
// Model throughput-latency compared with times on an H200, for launches of kernels that were not used for fitting.
#include "model/models.hpp"
#include "model/trust.hpp"
#include "tests/hardware/times_plot.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

namespace warplens::tests {
namespace times_test {

const std::vector<AskedLaunch>& asked() {
  static const std::vector<AskedLaunch> list = asked_launches();
  return list;
}

TEST(Times, WhatIsHeldOutFollowsFromTheName) {
  // printf copy_nn | sha1sum, modulo 5
  EXPECT_TRUE(held_out("copy_nn"));
  EXPECT_TRUE(held_out("vec_add"));
  EXPECT_FALSE(held_out("copy_cc"));
  EXPECT_FALSE(held_out("gather"));
}

// docs/models.md states these numbers; so does docs/reproduction.md.
TEST(Times, HeldOutLaunchesArePredicted) {
  const Accuracy a = accuracy(part(asked(), true));
  EXPECT_GE(a.launches, 60u);
  EXPECT_GE(a.kernels, 25u);
  EXPECT_LE(a.mean_error, 0.0945);
  EXPECT_GE(a.spearman, 0.991);
}

// The other rows of that table.
TEST(Times, TheOtherErrorsAreAsDocumented) {
  std::vector<AskedLaunch> later, fitted;
  for (const AskedLaunch& one : part(asked(), true))
    if (one.module == "tests/data/hardware/times.ptx") later.push_back(one);
  for (const AskedLaunch& one : part(asked(), false))
    if (one.kernel != "count_globally" && one.kernel != "take_tickets") fitted.push_back(one); // contended atomics
  EXPECT_EQ(later.size(), 36u);
  EXPECT_NEAR(accuracy(later).mean_error, 0.096, 0.0005);
  EXPECT_EQ(fitted.size(), 126u);
  EXPECT_NEAR(accuracy(fitted).mean_error, 0.119, 0.0005);
  EXPECT_NEAR(accuracy(fitted).spearman, 0.992, 0.0005);
}

// Kernels whose atomics contend for few addresses; they were not used for fitting.
TEST(Times, ContendedAtomicsArePredicted) {
  int launches = 0;
  for (const AskedLaunch& one : asked()) {
    if (one.kernel != "count_globally" && one.kernel != "take_tickets") continue;
    const double predicted = predicted_milliseconds(one);
    EXPECT_LT(predicted, 1.5 * one.milliseconds) << one.kernel << ", " << one.label;
    EXPECT_GT(predicted, one.milliseconds / 1.5) << one.kernel << ", " << one.label;
    ++launches;
  }
  EXPECT_EQ(launches, 8);
}

// No launch may be faster than a lower bound of its time.
TEST(Times, BoundsAreBelowMeasuredTimes) {
  const model::Device device = *model::find_device("h200");
  int tight = 0;
  for (const AskedLaunch& one : asked()) {
    ASSERT_TRUE(one.counted) << one.kernel;
    for (const std::string_view id : {model::kBounds, model::kRoofline}) {
      const auto p = model::predict(id, *one.counted, device);
      ASSERT_TRUE(p) << one.kernel;
      EXPECT_LE(p->milliseconds, one.milliseconds) << id << ": " << one.kernel << ", " << one.label;
      tight += p->milliseconds > 0.5 * one.milliseconds ? 1 : 0;
    }
  }
  EXPECT_GE(tight, 30); // and it is not trivially small
}

// The expected error that reports of devices without fitted parameters show.
TEST(Times, TheErrorOfVolkovIsAsDocumented) {
  const model::Device device = *model::find_device("h200");
  std::vector<double> errors;
  double sum = 0;
  for (const AskedLaunch& one : asked()) {
    const auto p = model::predict(model::kVolkov, one.counted.value(), device);
    ASSERT_TRUE(p) << one.kernel;
    errors.push_back(100 * std::abs(p->milliseconds - one.milliseconds) / one.milliseconds);
    sum += errors.back();
  }
  std::sort(errors.begin(), errors.end());
  for (const model::Trust& row : model::trust_table()) {
    if (row.model != model::kVolkov) continue;
    EXPECT_NEAR(row.mean_percent.value(), sum / static_cast<double>(errors.size()), 0.5);
    EXPECT_NEAR(row.median_percent.value(), errors[errors.size() / 2], 0.5);
    return;
  }
  FAIL() << "no row";
}

// Recounts the launches that the emulator runs quickly, so that the file stays up to date.
TEST(Times, CountsAreThoseOfTheEmulator) {
  int compared = 0;
  for (const AskedLaunch& one : asked()) {
    if (one.label != "264 blocks" && one.label != "width 256" && one.label != "512 x 512") continue;
    ASSERT_TRUE(one.counted) << one.kernel;
    const auto now = emulate(one);
    ASSERT_TRUE(now) << one.kernel << ": " << now.error().list().front().message;
    EXPECT_EQ(line_of(one, *now), line_of(one, *one.counted)) << "ninja -C build count-asked-launches";
    // The file has no distinct sectors; with them, the bounds are below the measured times, too.
    ASSERT_TRUE(now->only_loaded_sectors && now->written_sectors);
    for (const std::string_view id : {model::kBounds, model::kRoofline})
      EXPECT_LE(model::predict(id, *now, *model::find_device("h200"))->milliseconds, one.milliseconds) << one.kernel;
    ++compared;
  }
  EXPECT_GE(compared, 15);
}

TEST(Times, ThePlotIsUpToDate) {
  std::ifstream in(WARPLENS_SOURCE_DIR "/docs/h200.svg", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_TRUE(text == times_plot(asked())) << "docs/h200.svg is stale: ninja -C build docs-h200";
}

TEST(Times, RanksCount) {
  const std::vector<AskedLaunch> fitted = part(asked(), false);
  std::vector<AskedLaunch> two = {fitted.front(), fitted.back()};
  two[0].milliseconds = 1;
  two[1].milliseconds = 2;
  const bool rising = predicted_milliseconds(two[0]) < predicted_milliseconds(two[1]);
  EXPECT_EQ(accuracy(two).spearman, rising ? 1 : -1);
  two[1].counted = two[0].counted;
  two[0].milliseconds = two[1].milliseconds = predicted_milliseconds(two[0]) / 1.5;
  EXPECT_NEAR(accuracy(two).mean_error, 0.5, 1e-12);
  EXPECT_EQ(accuracy(two).kernels, 2u);
}

} // namespace times_test
} // namespace warplens::tests
