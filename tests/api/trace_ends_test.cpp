// SPDX-License-Identifier: Apache-2.0
// What a trace says at the end of a launch, of the longest warps and of products whose size is known only when they
// run, and what is refused.
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

/// Of the launch of a trace with this end.
struct End {
  std::optional<exec::LongestWarps> longest;
  std::optional<exec::Swaps> swaps;
  trace::Totals totals;
};
Expected<End> read_back(const std::string& end) {
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
  const TracedLaunch& launch = opened->launches().at(0);
  return End{launch.longest, launch.swaps, launch.totals};
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
  const std::string end = describe_end(report_of(longest), {});
  EXPECT_EQ(Json::parse(end)["longest_times"], Json::parse("[[0, 1, 3], [5, 4, 3], [7, 4, 0], [9, 0, 0]]"));
  const auto read = read_back(end);
  ASSERT_TRUE(read) << read.error().list().front().message;
  EXPECT_EQ(read->longest, longest);
}

TEST(TraceEnds, HaveTheUpdatesByCompareAndSwap) {
  LaunchReport report = report_of({40, 90, {}, {}});
  EXPECT_FALSE(Json::parse(describe_end(report, {})).contains("swap_pairs"));
  report.statistics.swaps_of_other_warps = 99;
  report.statistics.global_swaps = 5000;
  report.statistics.swap_pairs = 9900;
  const auto read = read_back(describe_end(report, {}));
  ASSERT_TRUE(read) << read.error().list().front().message;
  ASSERT_TRUE(read->swaps);
  EXPECT_EQ(read->swaps->of_other_warps, 99u);
  EXPECT_EQ(read->swaps->all, 5000u);
  EXPECT_EQ(read->swaps->pairs, 9900u);
}

TEST(TraceEnds, OlderTracesHaveOnlyTheirInstructions) {
  Json end = Json::parse(describe_end(report_of({40, 90, {}, {}}), {}));
  end.erase("longest_times");
  const auto read = read_back(end.dump());
  ASSERT_TRUE(read) << read.error().list().front().message;
  EXPECT_EQ(read->longest, (exec::LongestWarps{40, 90, {}, {}}));
}

TEST(TraceEnds, DamagedTimesAreRefused) {
  for (const char* times : {"[[15, 1, 1]]", "[[0, 1, 1], [0, 2, 2]]", "[[3, 1, 1], [2, 2, 2]]"}) {
    Json end = Json::parse(describe_end(report_of({40, 90, {}, {}}), {}));
    end["longest_times"] = Json::parse(times);
    const auto read = read_back(end.dump());
    ASSERT_FALSE(read) << times;
    EXPECT_NE(read.error().list().front().message.find("'longest_times' are not of ascending instructions"),
              std::string::npos)
        << read.error().list().front().message;
  }
  for (const char* times : {"[[0, -1, 1]]", "[[0, 1]]", "7"}) {
    Json end = Json::parse(describe_end(report_of({40, 90, {}, {}}), {}));
    end["longest_times"] = Json::parse(times);
    EXPECT_FALSE(read_back(end.dump())) << times;
  }
}

constexpr exec::SizedProduct kProducts[] = {{3, exec::MatrixElement::f16, 16384}, {7, exec::MatrixElement::e4m3, 1}};

TEST(TraceEnds, HaveTheProductsWhoseSizeIsKnownOnlyWhenTheyRun) {
  const std::string end = describe_end({}, {{kProducts[0], kProducts[1]}, {}, {}, {}, {}});
  EXPECT_EQ(Json::parse(end)["sized_products"], Json::parse(R"([[3, "f16", 16384], [7, "e4m3", 1]])"));
  const auto read = read_back(end);
  ASSERT_TRUE(read) << read.error().list().front().message;
  ASSERT_EQ(read->totals.products.size(), 2u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(read->totals.products[i].instruction, kProducts[i].instruction);
    EXPECT_EQ(read->totals.products[i].element, kProducts[i].element);
    EXPECT_EQ(read->totals.products[i].multiply_adds, kProducts[i].multiply_adds);
  }
  EXPECT_FALSE(Json::parse(describe_end({}, {})).contains("sized_products"));
}

TEST(TraceEnds, DamagedProductsAreRefused) {
  for (const char* products :
       {R"([[15, "f16", 1]])", R"([[3, "f17", 1]])", R"([[3, "f16", -1]])", R"([[3, "f16"]])", R"([[3, 1, 1]])", "7"}) {
    Json end = Json::parse(describe_end({}, {}));
    end["sized_products"] = Json::parse(products);
    EXPECT_FALSE(read_back(end.dump())) << products;
  }
}

TEST(TraceEnds, HaveBulkCopiesWaitsAndSpecialOperands) {
  const exec::BulkCopy copy{.instruction = 4,
                            .kind = exec::AccessKind::reduction,
                            .bytes = 96,
                            .sectors = 4,
                            .received = 0,
                            .shared_read = 96,
                            .shared_written = 0,
                            .blocks = 1,
                            .count = 12};
  const exec::AsyncWaits wait{9, exec::AsyncWaits::kPhases, 5, 12, 4};
  const std::string end = describe_end({}, {{}, {copy}, {{6, 16, 32, 20, 8}}, {wait}, {{2, 0, 70}}});
  EXPECT_EQ(Json::parse(end)["bulk_copies"], Json::parse(R"([[4, "reduction", 96, 4, 0, 96, 0, 1, 12]])"));
  EXPECT_EQ(Json::parse(end)["lane_copies"], Json::parse("[[6, 16, 32, 20, 8]]"));
  EXPECT_EQ(Json::parse(end)["async_waits"], Json::parse("[[9, 3, 5, 12, 4]]"));
  EXPECT_EQ(Json::parse(end)["special_operands"], Json::parse("[[2, 70]]"));
  const auto read = read_back(end);
  ASSERT_TRUE(read) << read.error().list().front().message;
  EXPECT_EQ(describe_end({}, read->totals), end);
  EXPECT_FALSE(Json::parse(describe_end({}, {})).contains("bulk_copies"));
  EXPECT_FALSE(Json::parse(describe_end({}, {})).contains("lane_copies"));
  EXPECT_FALSE(Json::parse(describe_end({}, {})).contains("async_waits"));
}

TEST(TraceEnds, DamagedCopiesWaitsAndSpecialOperandsAreRefused) {
  for (const char* copies : {R"([[15, "load", 1, 1, 1, 0, 1, 1, 1]])", R"([[4, "loads", 1, 1, 1, 0, 1, 1, 1]])",
                             R"([[4, "load", -1, 1, 1, 0, 1, 1, 1]])", R"([[4, "load", 1, 1, 1, 0, 1, 1]])",
                             R"([[4, 1, 1, 1, 1, 0, 1, 1, 1]])", "7"}) {
    Json end = Json::parse(describe_end({}, {}));
    end["bulk_copies"] = Json::parse(copies);
    EXPECT_FALSE(read_back(end.dump())) << copies;
  }
  for (const char* copies : {"[[15, 1, 1, 1, 1]]", "[[6, 2, 1, 1, 1]]", "[[6, 1, 33, 1, 1]]", "[[6, 1, 1, 33, 1]]",
                             "[[6, 1, 1, 1, -1]]", "[[6, 1, 1, 1]]", "7"}) {
    Json end = Json::parse(describe_end({}, {}));
    end["lane_copies"] = Json::parse(copies);
    EXPECT_FALSE(read_back(end.dump())) << copies;
  }
  for (const char* waits : {"[[15, 0, 1, 1, 1]]", "[[9, 4, 1, 1, 1]]", "[[9, 0, 1, 1, -1]]", "[[9, 0, 1, 1]]", "7"}) {
    Json end = Json::parse(describe_end({}, {}));
    end["async_waits"] = Json::parse(waits);
    EXPECT_FALSE(read_back(end.dump())) << waits;
  }
  for (const char* special : {"[[15, 1]]", "[[2, -1]]", "[[2]]", "7"}) {
    Json end = Json::parse(describe_end({}, {}));
    end["special_operands"] = Json::parse(special);
    EXPECT_FALSE(read_back(end.dump())) << special;
  }
}

} // namespace trace_ends_test
} // namespace warplens::api
