// SPDX-License-Identifier: Apache-2.0
// The models, judged on the times that the papers print: docs/measured-times.md and model/trust.def have the errors.
#include "tests/reproduction/measured_times.hpp"

#include "model/trust.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>

namespace warplens::reproduction {
namespace measured_times_test {

/// A GPU of compute capability 1.x to 3.x, with the errors of the models that predict a time, over all papers.
std::map<std::string, std::map<std::string, PaperErrors>> old_devices() {
  std::map<std::string, std::map<std::string, PaperErrors>> result;
  for (const Judgement& j : judgements())
    if (j.paper.empty() && j.setting.empty() && j.device.capability.major <= 3 &&
        model::find_model(j.model)->says == model::kSaysTime)
      result[j.device.name][j.model] = j.errors;
  return result;
}

TEST(MeasuredTimes, ThePageHasTheTable) {
  std::ifstream in(WARPLENS_SOURCE_DIR "/docs/measured-times.md", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::string table = measured_times_table();
  EXPECT_NE(text.find("\n\n" + table + "\n"), std::string::npos) << "docs/measured-times.md needs this table:\n"
                                                                 << table;
}

TEST(MeasuredTimes, EveryPrintedTimeIsJudged) {
  std::map<std::string, int> of;
  for (const PaperLaunch& launch : paper_launches()) ++of[launch.device];
  EXPECT_EQ(of["c1060"], 11 + 32); // tables 2 to 6 and 8 to 10; figure 17
  EXPECT_EQ(of["gtx280"], 5 + 2 + 2);
  EXPECT_EQ(of["8500gt"], 5 + 2);
  EXPECT_EQ(of["k80"], 4);
  EXPECT_EQ(of["titanv"], 17 + 22 + 19 + 20);
}

// The model that reports mark is the one with the smallest error on the GPU.
TEST(MeasuredTimes, TheTrustedModelIsTheBest) {
  for (const auto& of_device : old_devices()) {
    const auto& device = of_device.first; // clang 14 lets lambdas capture no structured binding
    const auto& models = of_device.second;
    const auto best = std::min_element(models.begin(), models.end(),
                                       [](const auto& a, const auto& b) { return a.second.mean < b.second.mean; });
    const auto trusted = std::find_if(model::trust_table().begin(), model::trust_table().end(),
                                      [&](const auto& row) { return models.contains(std::string(row.model)); });
    ASSERT_NE(trusted, model::trust_table().end()) << device;
    EXPECT_EQ(trusted->model, best->first) << device;
  }
}

TEST(MeasuredTimes, TheErrorsOfTheReportsAreThese) {
  std::size_t rows = 0;
  for (const auto& of_device : old_devices())
    for (const auto& of_model : of_device.second) {
      const auto &device = of_device.first, &id = of_model.first;
      const auto& errors = of_model.second;
      const auto row =
          std::find_if(model::judged_on_devices().begin(), model::judged_on_devices().end(),
                       [&](const model::JudgedOnDevice& j) { return j.model == id && j.device == device; });
      ASSERT_NE(row, model::judged_on_devices().end())
          << "JUDGED(" << id << ", \"" << device << "\", " << errors.launches << ", " << errors.median << ", "
          << errors.mean << ")";
      EXPECT_EQ(static_cast<std::size_t>(row->launches), errors.launches) << id << ", " << device;
      EXPECT_NEAR(row->median_percent, errors.median, 0.06) << id << ", " << device;
      EXPECT_NEAR(row->mean_percent, errors.mean, 0.06) << id << ", " << device;
      ++rows;
    }
  EXPECT_EQ(rows, model::judged_on_devices().size());
  for (const model::Trust& trust : model::trust_table())
    if (trust.model == model::kHongKim || trust.model == model::kDasgupta) {
      const PaperErrors errors = errors_on_first_devices(trust.model);
      EXPECT_NEAR(*trust.median_percent, errors.median, 0.06) << trust.model;
      EXPECT_NEAR(*trust.mean_percent, errors.mean, 0.06) << trust.model;
    }
}

// The times of the Titan V are not those of kernels alone: memory needs less than a twentieth of them.
TEST(MeasuredTimes, TheTimesOfTheTitanVContainMore) {
  for (const Judgement& j : judgements()) {
    if (j.device.id != "titanv" || j.model != model::kBounds) continue;
    EXPECT_LT(j.errors.most, 0.05);
    EXPECT_GT(j.errors.mean, 95);
  }
}

} // namespace measured_times_test
} // namespace warplens::reproduction
