// SPDX-License-Identifier: Apache-2.0
// The timeline of `warplens exec`: which operations of runtime/programs/streams.cpp overlap.
#include "tests/tools/folder.hpp"
#include "tests/tools/program.hpp"

#include <nlohmann/json.hpp>

namespace warplens::testing {
namespace timeline_test {

using Json = nlohmann::json;

struct Operation {
  std::string kind;
  double start = 0, end = 0;
};

class ProgramTimeline : public ::testing::Test {
protected:
  [[nodiscard]] std::string report_file() const { return (folder_.path() / "report.json").string(); }
  Json report(const std::string& how, std::vector<std::string> options = {}) {
    std::vector<std::string> words = {"exec", "--json", report_file()};
    words.insert(words.end(), options.begin(), options.end());
    for (const char* word : {"--", WARPLENS_STREAMS}) words.emplace_back(word);
    words.push_back(how);
    const Output o = run_program(words);
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_EQ(o.out, "done\n");
    return Json::parse(read_text(report_file()));
  }
  std::vector<Operation> operations(const std::string& how, std::vector<std::string> options = {}) {
    const Json timeline = report(how, std::move(options)).at("timeline");
    std::vector<Operation> list;
    double sum = 0, last = 0;
    for (const Json& one : timeline.at("operations")) {
      const double start = one.at("start"), length = one.at("milliseconds");
      list.push_back({one.at("kind"), start, start + length});
      sum += length;
      last = std::max(last, start + length);
    }
    EXPECT_NEAR(timeline.at("milliseconds").get<double>(), last, 1e-9);
    EXPECT_NEAR(timeline.at("sum").get<double>(), sum, 1e-9);
    return list;
  }
  static void expect_kinds(const std::vector<Operation>& list, const std::vector<std::string>& kinds) {
    std::vector<std::string> got;
    for (const Operation& o : list) got.push_back(o.kind);
    ASSERT_EQ(got, kinds);
  }

private:
  const Folder folder_;
};

const std::vector<std::string> kTwice = {"copy to device", "launch", "copy to host",
                                         "copy to device", "launch", "copy to host"};
constexpr double kNear = 1e-9;

TEST_F(ProgramTimeline, IndependentStreamsOverlap) {
  const std::vector<Operation> o = operations("overlap");
  expect_kinds(o, kTwice);
  EXPECT_NEAR(o[0].start, 0, kNear);
  EXPECT_NEAR(o[0].end, 1048576 / 63e6, 1e-6) << "at the rate of the device file";
  EXPECT_NEAR(o[3].start, o[0].end, kNear) << "one copy engine for each direction";
  EXPECT_NEAR(o[4].start, o[3].end, kNear) << "both kernels fit";
  EXPECT_LT(o[4].start, o[1].end);
  EXPECT_LT(o[5].end, 0.7 * (o[2].end + o[2].end));
}

TEST_F(ProgramTimeline, OperationsOfAStreamFollowEachOther) {
  const std::vector<Operation> o = operations("serial");
  expect_kinds(o, kTwice);
  for (std::size_t i = 1; i < o.size(); ++i) EXPECT_NEAR(o[i].start, o[i - 1].end, kNear) << i;
}

TEST_F(ProgramTimeline, AStreamWaitsForAnEvent) {
  const std::vector<Operation> o = operations("event");
  expect_kinds(o, kTwice);
  EXPECT_NEAR(o[3].start, o[1].end, kNear) << "which was recorded after the launch";
}

TEST_F(ProgramTimeline, WhatTheHostSubmitsAfterItHasWaitedComesLater) {
  const std::vector<Operation> o = operations("host");
  expect_kinds(o, kTwice);
  EXPECT_NEAR(o[3].start, o[2].end, kNear);
}

TEST_F(ProgramTimeline, TheEdgesOfAGraphOrderItsNodes) {
  const std::vector<Operation> o = operations("graph");
  expect_kinds(o, {"fill", "launch", "launch", "launch"});
  EXPECT_NEAR(o[1].start, o[0].end, kNear);
  EXPECT_NEAR(o[2].start, o[0].end, kNear);
  EXPECT_NEAR(o[3].start, std::max(o[1].end, o[2].end), kNear);
}

TEST_F(ProgramTimeline, TheDefaultStreamWaitsForTheOthersAndTheyForIt) {
  const std::vector<Operation> o = operations("legacy");
  expect_kinds(o, {"launch", "launch", "launch"});
  EXPECT_NEAR(o[1].start, o[0].end, kNear);
  EXPECT_NEAR(o[2].start, o[1].end, kNear);
}

TEST_F(ProgramTimeline, LaunchesThatAreNotAnalysedHaveNoTime) {
  const Json timeline = report("serial", {"--launch-skip", "1"}).at("timeline");
  const Json& skipped = timeline.at("operations").at(1);
  EXPECT_TRUE(skipped.at("milliseconds").is_null());
  EXPECT_TRUE(skipped.at("launches").empty());
  EXPECT_EQ(timeline.at("operations").at(4).at("launches"), Json::array({0}));
}

TEST_F(ProgramTimeline, HasTheFirstOperationsThatALimitAdmits) {
  setenv("WARPLENS_LIMITS", "timeline-operations=4", 1);
  const Json some = report("serial");
  unsetenv("WARPLENS_LIMITS");
  const Json all = report("serial");
  const Json &few = some.at("timeline").at("operations"), &list = all.at("timeline").at("operations");
  ASSERT_EQ(few.size(), 4u);
  ASSERT_EQ(list.size(), kTwice.size());
  for (std::size_t i = 0; i < few.size(); ++i) EXPECT_EQ(few[i].at("kind"), list[i].at("kind"));
  EXPECT_EQ(some.at("launches").size(), all.at("launches").size()) << "of later operations, the reports remain";
}

// The threads of the streams end their launches in any order; reports are in the order of the program.
TEST_F(ProgramTimeline, ReportsAreTheSameInEachRun) {
  const Json first = report("overlap");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(report("overlap"), first);
}

} // namespace timeline_test
} // namespace warplens::testing
