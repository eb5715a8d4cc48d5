// SPDX-License-Identifier: Apache-2.0
// The three collectors return the same kind of result.
#include "api/files/csv.hpp"
#include "api/plan/launch_file.hpp"
#include "api/predict/collector.hpp"
#include "api/predict/predict.hpp"
#include "api/report/json_report.hpp"

#include <gtest/gtest.h>

namespace warplens::api {
namespace collector_test {

model::Device device(const char* id) { return *load_device(id); }

template <class T> std::string first_error(const Expected<T>& result) {
  return result ? "no error" : result.error().list().front().message;
}

// ---- CSV

TEST(Csv, QuotedCellsCommentsAndShortRows) {
  const auto t = parse_csv("# CUDA_DEVICE 0 Tesla C1060\r\n\na , b,c\r\n1,\"x, \"\"y\"\"\",3\n2\n", "t.csv");
  ASSERT_TRUE(t);
  EXPECT_EQ(t->titles.cells, (std::vector<std::string>{"a", "b", "c"}));
  ASSERT_EQ(t->rows.size(), 2u);
  EXPECT_EQ(t->rows[0].cells, (std::vector<std::string>{"1", "x, \"y\"", "3"}));
  EXPECT_EQ(t->rows[0].line, 4u);
  EXPECT_EQ(t->rows[1].cells, (std::vector<std::string>{"2"}));
}

TEST(Csv, BadTablesAreErrorsWithALine) {
  EXPECT_EQ(first_error(parse_csv("", "t.csv")), "missing line of column titles");
  const auto wide = parse_csv("a,b\n1,2\n1,2,3\n", "t.csv");
  ASSERT_FALSE(wide);
  EXPECT_EQ(wide.error().list().front().where.line, 3u);
  EXPECT_EQ(wide.error().list().front().file, "t.csv");
  EXPECT_EQ(first_error(parse_csv("a,b\n1,\"2\n", "t.csv")), "unclosed quotation mark in this line");
}

// ---- fields by hand

TEST(Collector, FieldsByName) {
  const auto c = collect_text("kernel,threads_per_block,blocks,registers_per_thread,milliseconds\n"
                              "base,256,120,16,0.7\nother,64,10,,\n",
                              "k.csv", device("c1060"));
  ASSERT_TRUE(c) << render(c.error(), "");
  ASSERT_EQ(c->size(), 2u);
  EXPECT_EQ(c->at(0).kernel, "base");
  EXPECT_EQ(c->at(0).statistics.blocks, 120);
  EXPECT_EQ(c->at(0).statistics.resident_blocks, 4); // 256 threads of 16 registers
  EXPECT_EQ(c->at(0).milliseconds, 0.7);
  EXPECT_FALSE(c->at(1).statistics.resident_blocks);
  EXPECT_FALSE(c->at(1).milliseconds);
}

TEST(Collector, BadFieldsAreErrors) {
  const auto misspelt = collect_text("blocs\n1\n", "k.csv", device("c1060"));
  ASSERT_FALSE(misspelt);
  EXPECT_EQ(misspelt.error().list().front().message, "unknown column 'blocs'");
  EXPECT_EQ(misspelt.error().list().front().hint, "did you mean 'blocks'?");
  EXPECT_EQ(first_error(collect_text("blocks\nmany\n", "k.csv", device("c1060"))),
            "'blocks' is 'many': expected a number");
  EXPECT_EQ(first_error(collect_text("blocks\n", "k.csv", device("c1060"))), "no rows");
  EXPECT_EQ(first_error(collect_text(" \n", "k.csv", device("c1060"))), "'k.csv' is empty");
  EXPECT_EQ(first_error(collect_text("threads_per_block,registers_per_thread\n1024,16\n", "k.csv", device("c1060"))),
            "kernel 'row 1' does not fit on 'Tesla C1060': threads per block is 1024: compute capability 1.3 allows "
            "1 to 512");
  EXPECT_FALSE(collect_text("threads_per_block,registers_per_thread\nnan,1e300\n", "k.csv", device("c1060")));
  EXPECT_FALSE(collect("/nowhere/at/all.csv", device("c1060")));
  EXPECT_EQ(first_error(collect("/", device("c1060"))), "cannot read '/': a folder, not a file");
}

// ---- the CUDA Visual Profiler: Dasgupta's Table 1, on the run of his Table 8 (400 requests, 800 transactions and 7942
// instructions of a warp). 120 blocks of 8 warps: 32 warps on each of 30 multiprocessors, 96 on a cluster of three.
const std::string kProfile =
    "# CUDA_PROFILE_LOG_VERSION 1.6\n# CUDA_DEVICE 0 Tesla C1060\n"
    "method,gputime,gridsizeX,gridsizeY,threadblocksizeX,threadblocksizeY,threadblocksizeZ,"
    "regperthread,stasmemperblock,dynsmemperblock,occupancy,instructions,gld_request,gst_request,"
    "gld_32b,gld_64b,gld_128b,gst_32b,gst_64b,gst_128b\n"
    "memcpyHtoD,12.5\n"
    "_Z6gflopsiiPf,724.3,120,1,256,1,1,10,2100,0,1.000,254144,12800,0,76800,0,0,0,0,0\n";

TEST(Collector, VisualProfilerByTable1) {
  const auto c = collect_text(kProfile, "profile.csv", device("c1060"));
  ASSERT_TRUE(c) << render(c.error(), "");
  ASSERT_EQ(c->size(), 1u); // the copy is passed over
  const model::KernelStatistics& s = c->front().statistics;
  EXPECT_EQ(c->front().kernel, "_Z6gflopsiiPf");
  EXPECT_DOUBLE_EQ(*c->front().milliseconds, 0.7243);
  EXPECT_DOUBLE_EQ(*s.instructions, 7942);
  EXPECT_DOUBLE_EQ(*s.global_requests, 400);
  EXPECT_DOUBLE_EQ(*s.transactions_32, 800);
  EXPECT_DOUBLE_EQ(*s.transactions_128, 0);
  EXPECT_DOUBLE_EQ(*s.resident_blocks, 4);
  const auto p = model::predict(model::kDasgupta, s, device("c1060"));
  ASSERT_TRUE(p);
  EXPECT_NEAR(p->milliseconds, 0.7222, 0.0002);
}

TEST(Collector, VisualProfilerSaysWhereBlocksRan) {
  const auto c = collect_text("method,gridsizeX,threadblocksizeX,instructions,gld 32b,sm_cta_launched,cta_launched\n"
                              "k,7,64,80,160,2,4\n",
                              "profile.csv", device("c1060"));
  ASSERT_TRUE(c) << render(c.error(), "");
  EXPECT_DOUBLE_EQ(*c->front().statistics.instructions, 20);    // 2 blocks of 2 warps on the multiprocessor
  EXPECT_DOUBLE_EQ(*c->front().statistics.transactions_32, 20); // 4 blocks on the cluster
}

TEST(Collector, VisualProfilerOfTheFirstDevices) {
  const auto c =
      collect_text("method,gridsizeX,threadblocksizeX,regperthread,instructions,gld_coherent,gld_incoherent\n"
                   "k,16,32,10,10,8,64\n",
                   "profile.csv", device("8800gtx"));
  ASSERT_TRUE(c) << render(c.error(), "");
  EXPECT_DOUBLE_EQ(*c->front().statistics.coalesced_requests, 2); // of 2 warps on a cluster, 4 transactions each
  EXPECT_DOUBLE_EQ(*c->front().statistics.uncoalesced_requests, 1);
  EXPECT_TRUE(model::predict(model::kHongKim, c->front().statistics, device("8800gtx")));
}

TEST(Collector, BadProfilerTablesAreErrors) {
  const model::Device c1060 = device("c1060");
  EXPECT_EQ(first_error(collect_text("method,gputime\nmemcpyHtoD,1\n", "p.csv", c1060)),
            "the table has no kernels, only copies");
  EXPECT_EQ(first_error(collect_text("method,gputime\nk,1\n", "p.csv", c1060)),
            "no 'threadblocksizex' for 'k': the launch shape is needed to compute the number of warps");
  EXPECT_EQ(first_error(collect_text("method,gridsizeX,threadblocksizeX\nk,0,64\n", "p.csv", c1060)),
            "the launch of 'k' is empty");
  EXPECT_EQ(first_error(collect_text("method,gridsizeX,threadblocksizeX,instructions\nk,1,64,lots\n", "p.csv", c1060)),
            "'instructions' is 'lots': expected a number >= 0");
  EXPECT_EQ(first_error(collect_text("method,gridsizeX,threadblocksizeX,sm_cta_launched\nk,1,64,0\n", "p.csv", c1060)),
            "no block of 'k' ran on the observed multiprocessor");
  EXPECT_EQ(
      first_error(collect_text(kProfile, "p.csv", device("h200"))),
      "device 'NVIDIA H200' has no 'multiprocessors_per_tpc', which is needed to convert the profiler's counters");
}

// ---- the emulator's report

std::string report_text(const char* id) {
  Expected<Plan> plan = read_launch_file(WARPLENS_SOURCE_DIR "/samples/microbenchmark/launch.toml", {});
  EXPECT_TRUE(plan);
  plan->device = id;
  const Expected<PlanReport> report = run_plan(*plan, {});
  EXPECT_TRUE(report);
  return json_report(report->device, report->launches);
}

TEST(Collector, TheReportPredictsWhatTheRunPredicted) {
  const std::string json = report_text("c1060");
  const auto c = collect_text(json, "r.json", device("c1060"));
  ASSERT_TRUE(c) << render(c.error(), "");
  ASSERT_EQ(c->at(1).kernel, "scalar_32b");
  const auto p = predict_launch(c->at(1), device("c1060"));
  ASSERT_TRUE(p);
  ASSERT_GE(p->predictions.size(), 5u);
  EXPECT_EQ(p->predictions[1].model, "dasgupta");
  EXPECT_NEAR(p->predictions[1].milliseconds, 0.7222, 0.003);
  ASSERT_TRUE(p->patterns);
  EXPECT_EQ(p->remarks.size(), 2u); // amaris and karan-kumar want a weight
  // The same rule: another device can use the counts.
  const auto other = collect_text(json, "r.json", device("gtx280"));
  ASSERT_TRUE(other) << render(other.error(), "");
  EXPECT_TRUE(predict_launch(other->at(1), device("gtx280"), {}, std::vector<std::string>{"hong-kim"}));
  // Another rule: it cannot.
  EXPECT_EQ(first_error(collect_text(json, "r.json", device("h200"))),
            "the report was counted for 'c1060' under rule 1.2, but 'h200' has rule 6.0");
  const std::string predictions = json_predictions(device("c1060"), std::vector{*p});
  EXPECT_NE(predictions.find("\"measured_milliseconds\": null"), std::string::npos);
}

TEST(Collector, BadReportsAreErrors) {
  const model::Device d = device("c1060");
  EXPECT_EQ(first_error(collect_text("{\"launches\": [", "r.json", d)), "'r.json' is not valid JSON, or is truncated");
  EXPECT_EQ(first_error(collect_text("{}", "r.json", d)),
            "'r.json' is not a report of warplens run --json, or has no launches");
  EXPECT_EQ(first_error(collect_text("{\"device\": 5, \"launches\": [1]}", "r.json", d)),
            "'r.json' is not a report of warplens run --json, or has no launches");
  EXPECT_EQ(first_error(collect_text(R"({"device": {"id": "c1060"}, "launches": [1]})", "r.json", d)),
            "launch of '' has no statistics");
  EXPECT_EQ(
      first_error(collect_text(
          R"({"device": {"id": "c1060"}, "launches": [{"kernel": "k", "statistics": {"blocks": "x"}}]})", "r.json", d)),
      "launch of 'k': 'blocks' is unknown or not a number");
  EXPECT_EQ(first_error(collect_text(R"({"device": {"id": "mine"}, "launches": [{"kernel": "k"}]})", "r.json", d)),
            "the report is for device 'mine', which is not built in, so its counts may not apply to 'c1060'");
}

} // namespace collector_test
} // namespace warplens::api
