// SPDX-License-Identifier: Apache-2.0
// The text of JSON reports: its layout, and launches that refer to an earlier one.
#include "api/launch/launch.hpp"
#include "api/plan/launch_file.hpp"
#include "api/predict/collector.hpp"
#include "api/report/json_fold.hpp"
#include "api/report/json_layout.hpp"
#include "api/report/json_report.hpp"
#include "api/sweep/json_compare.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace warplens::api {
namespace json_test {

using Json = nlohmann::ordered_json;

/// Two kernels of the sample, the first again with another output, and once more.
class JsonTest : public ::testing::Test {
protected:
  void SetUp() override {
    const Expected<Plan> plan = read_launch_file(WARPLENS_SOURCE_DIR "/samples/transpose/launch.toml", {});
    ASSERT_TRUE(plan);
    const Expected<PlanReport> report = run_plan(*plan, {});
    ASSERT_TRUE(report) << render(report.error(), "");
    device_ = report->device;
    for (const std::size_t i : {0, 1, 0, 0}) launches_.push_back(report->launches.at(i));
    launches_[2].printed = "ready\n";
  }
  [[nodiscard]] std::string text(JsonLaunches form) const { return json_report(device_, launches_, {}, form); }

  model::Device device_;
  std::vector<LaunchReport> launches_;
};

TEST(JsonLayout, RowsAndElementsOfArraysAreOnOneLine) {
  const Json document = {{"name", "k"},
                         {"grid", {4, 4, 1}},
                         {"none", Json::array()},
                         {"counts", {{"a", 1}, {"b", 2.5}}},
                         {"rows", {{{"line", 1}, {"lanes", {1, nullptr}}}, {{"line", 2}, {"more", {{"c", 3}}}}}}};
  EXPECT_EQ(laid_out(document), R"({
  "name": "k",
  "grid": [4, 4, 1],
  "none": [],
  "counts": {
    "a": 1,
    "b": 2.5
  },
  "rows": [
    {"line": 1, "lanes": [1, null]},
    {
      "line": 2,
      "more": {
        "c": 3
      }
    }
  ]
}
)");
  EXPECT_EQ(laid_out(Json{{"bytes", "\xff"}}), "{\n  \"bytes\": \"\xef\xbf\xbd\"\n}\n") << "not UTF-8";
}

TEST_F(JsonTest, AnInstructionIsALine) {
  const std::string all = text(JsonLaunches::whole);
  std::size_t lines = 0;
  for (std::size_t at = all.find("\n        {\"line\": "); at != all.npos;
       at = all.find("\n        {\"line\": ", at + 1))
    ++lines;
  std::size_t instructions = 0;
  for (const LaunchReport& launch : launches_) instructions += launch.profile.instructions.size();
  EXPECT_EQ(lines, instructions);
}

TEST_F(JsonTest, EqualLaunchesReferToTheFirst) {
  const Json whole = Json::parse(text(JsonLaunches::whole))["launches"],
             folded = Json::parse(text(JsonLaunches::folded))["launches"];
  ASSERT_EQ(folded.size(), 4u);
  EXPECT_EQ(folded[0], whole[0]);
  EXPECT_EQ(folded[1], whole[1]) << "of another kernel";
  EXPECT_FALSE(folded[0].contains("same_as"));
  for (const std::size_t i : {2, 3}) {
    EXPECT_EQ(folded[i]["same_as"], 0);
    EXPECT_FALSE(folded[i].contains("instructions"));
    Json filled = whole[0]; // what is left out is that of the first
    for (const auto& [key, value] : folded[i].items())
      if (key != "same_as") filled[key] = value;
    EXPECT_EQ(filled, whole[i]);
  }
  EXPECT_EQ(folded[2]["printed"], "ready\n");
  EXPECT_LT(text(JsonLaunches::folded).size(), text(JsonLaunches::whole).size() * 6 / 10);
}

TEST_F(JsonTest, AnyOtherDifferenceKeepsALaunchWhole) {
  launches_[3].profile.instructions.front().pattern = "random";
  const Json launches = Json::parse(text(JsonLaunches::folded))["launches"];
  EXPECT_TRUE(launches[2].contains("same_as"));
  EXPECT_FALSE(launches[3].contains("same_as"));
}

TEST_F(JsonTest, ReadersTakeFoldedLaunchesAsWhole) {
  const auto collected = collect_report(text(JsonLaunches::folded), "r.json", device_);
  ASSERT_TRUE(collected) << render(collected.error(), "");
  ASSERT_EQ(collected->size(), 4u);
  EXPECT_EQ(collected->at(3).kernel, launches_[0].kernel);
  EXPECT_EQ(*collected->at(3).statistics.blocks, *collected->at(0).statistics.blocks);
  const auto whole = read_report(text(JsonLaunches::whole), "a.json"),
             folded = read_report(text(JsonLaunches::folded), "b.json");
  ASSERT_TRUE(whole && folded);
  ASSERT_EQ(folded->launches.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(folded->launches[i].kernel, whole->launches[i].kernel);
    EXPECT_EQ(folded->launches[i].milliseconds, whole->launches[i].milliseconds);
    EXPECT_EQ(folded->launches[i].lines.size(), whole->launches[i].lines.size());
  }
}

TEST_F(JsonTest, ReferencesAreChecked) {
  Json report = Json::parse(text(JsonLaunches::folded));
  for (const Json& wrong : {Json(3), Json(4), Json(2), Json(-1), Json("0"), Json(nullptr)}) {
    report["launches"][3]["same_as"] = wrong; // 2 refers to 0 itself
    const std::string message = "launch 3: 'same_as' is " + wrong.dump();
    const auto collected = collect_report(report.dump(), "r.json", device_);
    ASSERT_FALSE(collected) << wrong;
    EXPECT_EQ(collected.error().list().front().message.find(message), 0u) << render(collected.error(), "");
    const auto compared = read_report(report.dump(), "r.json");
    ASSERT_FALSE(compared) << wrong;
    EXPECT_NE(compared.error().list().front().message.find(message), std::string::npos);
  }
  EXPECT_FALSE(whole_launches(Json::parse(R"([{"same_as": 0}])")));
  EXPECT_EQ(whole_launches(Json::parse(R"([{}, 1, {"same_as": 1}])")).value(), (std::vector<std::size_t>{0, 1, 1}));
}

} // namespace json_test
} // namespace warplens::api
