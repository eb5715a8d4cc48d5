// SPDX-License-Identifier: Apache-2.0
// What a trace says of the longest warps at the end of a launch, and what is refused.
#include "api/trace/trace_description.hpp"
#include "tests/api/kernels.hpp"
#include "tests/tools/folder.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace warplens::api {
namespace trace_ends_test {

namespace trace = analyzers::trace;
using Json = nlohmann::json;

constexpr std::size_t kInstructions = 15; // of testing::kScale

/// The launch of a trace with this end.
Expected<std::optional<exec::LongestWarps>> read_back(const std::string& end) {
  LaunchRequest request;
  const std::shared_ptr<Context> context = *Context::create();
  request.kernel = *(*Module::load(context, std::string(testing::kScale), "scale.ptx"))->kernel("scale");
  request.device = *model::find_device("h200");
  const warplens::testing::Folder folder;
  const std::filesystem::path path = folder.path() / "t.h5";
  {
    const auto file = *trace::File::create(path, "a test");
    const auto recorder = *trace::Recorder::begin(*file, describe_launch(request, {}, "", std::nullopt), {}, {});
    recorder->finish({}, std::vector<exec::InstructionCount>(kInstructions, {1, 32, 32}));
    EXPECT_TRUE(recorder->end(end));
    EXPECT_TRUE(file->close());
  }
  const auto opened = Trace::open(path);
  if (!opened) return failure(opened.error());
  return opened->launches().at(0).longest;
}

LaunchReport report_of(const exec::LongestWarps& longest) {
  LaunchReport report;
  report.longest = longest;
  return report;
}

TEST(TraceEnds, HaveTheTimesOfTheLongestWarps) {
  exec::LongestWarps longest{40, 90, {}, {}};
  for (std::size_t i = 0; i < kInstructions; ++i) {
    longest.launch_times.push_back(i < 5 ? 1 : i < 9 ? 4 : 0);
    longest.cta_times.push_back(i < 7 ? 3 : 0);
  }
  const std::string end = describe_end(report_of(longest));
  EXPECT_EQ(Json::parse(end)["longest_times"], Json::parse("[[0, 1, 3], [5, 4, 3], [7, 4, 0], [9, 0, 0]]"));
  const auto read = read_back(end);
  ASSERT_TRUE(read) << read.error().list().front().message;
  EXPECT_EQ(*read, longest);
}

TEST(TraceEnds, OlderTracesHaveOnlyTheirInstructions) {
  Json end = Json::parse(describe_end(report_of({40, 90, {}, {}})));
  end.erase("longest_times");
  const auto read = read_back(end.dump());
  ASSERT_TRUE(read) << read.error().list().front().message;
  EXPECT_EQ(*read, (exec::LongestWarps{40, 90, {}, {}}));
}

TEST(TraceEnds, DamagedTimesAreRefused) {
  for (const char* times : {"[[15, 1, 1]]", "[[0, 1, 1], [0, 2, 2]]", "[[3, 1, 1], [2, 2, 2]]"}) {
    Json end = Json::parse(describe_end(report_of({40, 90, {}, {}})));
    end["longest_times"] = Json::parse(times);
    const auto read = read_back(end.dump());
    ASSERT_FALSE(read) << times;
    EXPECT_NE(read.error().list().front().message.find("'longest_times' are not of ascending instructions"),
              std::string::npos)
        << read.error().list().front().message;
  }
  for (const char* times : {"[[0, -1, 1]]", "[[0, 1]]", "7"}) {
    Json end = Json::parse(describe_end(report_of({40, 90, {}, {}})));
    end["longest_times"] = Json::parse(times);
    EXPECT_FALSE(read_back(end.dump())) << times;
  }
}

} // namespace trace_ends_test
} // namespace warplens::api
