// SPDX-License-Identifier: Apache-2.0
#include "model/models.hpp"
#include "model/trust.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace warplens::model {
namespace trust_test {

KernelStatistics copy() {
  KernelStatistics s;
  s.threads_per_block = 128;
  s.blocks = 1000;
  s.resident_blocks = 4;
  s.instructions = 20;
  s.global_requests = 2;
  s.coalesced_requests = 2;
  s.uncoalesced_requests = 0;
  s.bytes_per_request = 128;
  s.transactions_32 = 8;
  s.transactions_64 = s.transactions_128 = 0;
  s.load_transactions = s.store_transactions = 4;
  s.l1_wavefronts = 2;
  return s;
}

std::vector<Prediction> all_predictions(const Device& device) {
  std::vector<Prediction> list;
  for (const Model& model : models())
    if (Expected<Prediction> p = predict(model.id, copy(), device)) list.push_back(std::move(*p));
  mark_trusted(list);
  return list;
}

TEST(Trust, ExactlyOnePredictionOfEveryDevice) {
  for (const Device& device : built_in_devices()) {
    const std::vector<Prediction> list = all_predictions(device);
    EXPECT_EQ(std::count_if(list.begin(), list.end(), [](const Prediction& p) { return p.trust != nullptr; }), 1)
        << device.id;
    // A time, where any model gives one.
    const bool times = std::any_of(list.begin(), list.end(),
                                   [](const Prediction& p) { return find_model(p.model)->says == kSaysTime; });
    EXPECT_EQ(find_model(trusted(list)->model)->says, times ? kSaysTime : kSaysBound) << device.id;
  }
}

TEST(Trust, FittedAndMeasuredModelsFirst) {
  const auto of = [](std::string_view device) { return trusted(all_predictions(*find_device(device)))->model; };
  EXPECT_EQ(of("h200"), kThroughputLatency); // these statistics are without a path
  EXPECT_EQ(of("h100"), kVolkov);
  EXPECT_EQ(of("c1060"), kDasgupta);
  EXPECT_EQ(of("gtx280"), kHongKim);
  EXPECT_EQ(of("a100"), kVolkov);
  EXPECT_EQ(of("8500gt"), kBounds);
}

TEST(Trust, TheCriticalPathIfItIsKnown) {
  for (const char* device : {"h200", "h100", "a100", "v100", "t4"}) {
    KernelStatistics s = copy();
    s.path_l2 = s.path_memory = 1000;
    std::vector<Prediction> list;
    for (const Model& model : models())
      if (Expected<Prediction> p = predict(model.id, s, *find_device(device))) list.push_back(std::move(*p));
    mark_trusted(list);
    EXPECT_EQ(trusted(list)->model, kCriticalPath) << device;
    EXPECT_EQ(trusted_for_changes(list)->model, device == std::string_view("h200") ? kThroughputLatency : kVolkov);
  }
}

TEST(Trust, AModelThatMissesMostOfTheTimeKnowsNoSaving) {
  const auto predictions = [](double time, double changes) {
    std::vector<Prediction> list(2);
    list[0].model = kCriticalPath;
    list[0].milliseconds = time;
    list[1].model = kThroughputLatency;
    list[1].milliseconds = changes;
    mark_trusted(list);
    return list;
  };
  EXPECT_TRUE(knows_what_takes_time(predictions(1, 3)));
  EXPECT_TRUE(knows_what_takes_time(predictions(1, 0.5)));
  EXPECT_FALSE(knows_what_takes_time(predictions(1, 0.49)));
  EXPECT_TRUE(knows_what_takes_time({}));
}

TEST(Trust, MarkingAgainMovesTheMark) {
  std::vector<Prediction> list(2);
  list[0].model = kBounds;
  mark_trusted(list);
  EXPECT_EQ(trusted(list), &list[0]);
  list[1].model = kVolkov;
  mark_trusted(list);
  EXPECT_EQ(trusted(list), &list[1]);
  EXPECT_EQ(list[0].trust, nullptr);
  list[0].model = list[1].model = kAmaris; // needs a measured run
  mark_trusted(list);
  EXPECT_EQ(trusted(list), nullptr);
}

TEST(Trust, LaunchesThatAreAlikeGiveTheExpectedError) {
  Prediction p;
  p.model = kCriticalPath;
  p.device = "NVIDIA H200";
  p.bound = "overhead of the launch";
  EXPECT_FALSE(expected_error(p)); // not marked
  mark_trusted({&p, 1});
  const auto row = std::find_if(alike_launches().begin(), alike_launches().end(),
                                [&](const AlikeLaunches& a) { return a.model == p.model && a.bound == p.bound; });
  ASSERT_NE(row, alike_launches().end());
  EXPECT_EQ(expected_error(p)->median_percent, row->median_percent);
  EXPECT_EQ(expected_error(p)->mean_percent, row->mean_percent);
  EXPECT_NE(expected_error(p)->evaluation.find("overhead of the launch"), std::string::npos);
  p.bound = "something else";
  EXPECT_EQ(expected_error(p)->median_percent, p.trust->median_percent);
  p.model = kBounds;
  mark_trusted({&p, 1});
  EXPECT_FALSE(expected_error(p)); // no error is known
}

TEST(Trust, NoErrorIsKnownOfDevicesThatWereNotEvaluated) {
  int others = 0;
  for (const Device& device : built_in_devices()) {
    if (!device.critical_path) continue;
    KernelStatistics s = copy();
    s.path_l2 = s.path_memory = 1000;
    std::vector<Prediction> list = {*predict(kCriticalPath, s, device)};
    mark_trusted(list);
    const std::optional<ExpectedError> error = expected_error(list.front());
    ASSERT_TRUE(error) << device.id;
    const bool evaluated = device.id == "h200" || device.id == "h100"; // docs/critical-path.md
    EXPECT_EQ(error->median_percent && error->mean_percent, evaluated) << device.id;
    EXPECT_EQ(error->evaluation == "not evaluated on this device", !evaluated) << device.id;
    others += evaluated ? 0 : 1;
  }
  EXPECT_GT(others, 0);
}

TEST(Trust, EveryRowIsAModelWithItsEvaluation) {
  for (const Trust& row : trust_table()) {
    EXPECT_NE(find_model(row.model), nullptr) << row.model;
    if (row.median_percent || row.mean_percent) {
      EXPECT_FALSE(row.evaluation.empty()) << row.model;
    }
    EXPECT_NE(row.page.find(".md#"), std::string_view::npos) << row.model;
  }
}

TEST(Trust, TheGpuGivesTheExpectedErrorWherePapersPrintTimes) {
  Prediction p;
  p.model = kHongKim;
  p.device = "GeForce GTX 280";
  mark_trusted({&p, 1});
  const auto row = std::find_if(judged_on_devices().begin(), judged_on_devices().end(),
                                [&](const JudgedOnDevice& j) { return j.model == p.model && j.device == p.device; });
  ASSERT_NE(row, judged_on_devices().end());
  EXPECT_EQ(expected_error(p)->median_percent, row->median_percent);
  EXPECT_EQ(expected_error(p)->mean_percent, row->mean_percent);
  EXPECT_NE(expected_error(p)->evaluation.find("GeForce GTX 280"), std::string::npos);
  p.device = "GeForce 8800 GT"; // no measured time: all launches of the evaluation
  EXPECT_EQ(expected_error(p)->mean_percent, p.trust->mean_percent);
  for (const JudgedOnDevice& judged : judged_on_devices()) {
    EXPECT_NE(find_model(judged.model), nullptr) << judged.model;
    EXPECT_TRUE(std::any_of(built_in_devices().begin(), built_in_devices().end(), [&](const Device& d) {
      return d.name == judged.device;
    })) << judged.device;
  }
}

} // namespace trust_test
} // namespace warplens::model
