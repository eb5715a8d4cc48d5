// SPDX-License-Identifier: Apache-2.0
// The text report and the files of findings, from reports of launches that are emulated here.
#include "api/report/histogram.hpp"
#include "api/report/json_report.hpp"
#include "api/report/launch_groups.hpp"
#include "api/report/report_files.hpp"
#include "api/report/report_text.hpp"
#include "api/report/source_text.hpp"
#include "api/report/table.hpp"
#include "api/report/units.hpp"
#include "model/trust.hpp"
#include "tests/api/kernels.hpp"
#include "tests/tools/folder.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

namespace warplens::api {
namespace report_test {

using Json = nlohmann::json;
using warplens::testing::Folder;

/// Lane i stores at x[32 i]: 32 sectors for each request, where 4 are enough. The store is in a function of a header
/// that is inlined at line 7 of the kernel.
constexpr std::string_view kStrided = R"(.version 7.2
.target sm_70
.address_size 64
.file 1 "k.cu"
.file 2 "store.cuh"
.visible .entry _Z7stridedPj(.param .u64 x) {
  .reg .u32 %r<3>;
  .reg .u64 %rd<4>;
  .loc 1 5 3
  ld.param.u64 %rd1, [x];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 128;
  add.u64 %rd3, %rd1, %rd2;
  .loc 1 7 3
  .loc 2 40 1, function_name L0, inlined_at 1 7 3
  st.global.u32 [%rd3], %r1;
  .loc 1 9 1
  ret;
}
)";

class ReportTest : public ::testing::Test {
protected:
  void SetUp() override { context_ = *Context::create(); }

  LaunchReport run(std::string_view text, const std::string& kernel, std::vector<Argument> arguments,
                   std::uint64_t blocks = 1, const std::string& file = "k.ptx", const char* device = "h200") {
    auto module = Module::load(context_, text, file);
    EXPECT_TRUE(module) << (module ? "" : render(module.error(), text));
    LaunchRequest r;
    r.kernel = *(*module)->kernel(kernel);
    r.grid = {blocks, 1, 1};
    r.block = {32, 1, 1};
    r.arguments = std::move(arguments);
    r.device = *load_device(device);
    Expected<LaunchReport> report = launch(r);
    EXPECT_TRUE(report) << (report ? "" : render(report.error(), text));
    // Small launches have other findings, too, such as too few blocks.
    std::erase_if(report->findings, [](const auto& f) { return f.rule != "UncoalescedGlobalAccess"; });
    // The remedy saves them no time, so that the finding is a note; reports show those of larger launches, too.
    for (analyzers::Finding& f : report->findings) {
      f.severity = Severity::warning;
      f.speedup = 2;
    }
    return *report;
  }
  std::shared_ptr<Buffer> words(std::uint64_t count) { return *Buffer::allocate(context_, 4 * count, "x"); }
  LaunchReport strided(const std::string& file = "k.ptx", const char* device = "h200") {
    const auto x = words(1024);
    return run(kStrided, "_Z7stridedPj", {Argument::buffer(*x)}, 1, file, device);
  }
  /// Without anything to find: neighbouring lanes access neighbouring words.
  LaunchReport scale(std::uint64_t blocks = 1) {
    const auto x = words(32 * blocks);
    return run(testing::kScale, "scale",
               {Argument::buffer(*x), *Argument::scalar(Type::f32, 2.0),
                *Argument::scalar(Type::u32, static_cast<std::int64_t>(32 * blocks))},
               blocks);
  }

  std::shared_ptr<Context> context_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST_F(ReportTest, TheFirstScreenSaysWhatLimitsTheLaunchAndWhere) {
  const LaunchReport report = strided();
  const std::string text = text_report(report, {});
  EXPECT_LE(lines_of(text).size(), 24u) << text;
  for (const char* part :
       {"strided on NVIDIA H200", "k.ptx: 1 block of 32 threads, 1 warp", "Limited by", "Predicted", "Occupancy",
        "100 %  k.cu:7  st.global.u32", "32 sectors (ideal 4), stride 128 bytes",
        "inlined from store.cuh:40, called at k.cu:7", "1. warning: UncoalescedGlobalAccess, k.cu:7", "advice: "})
    EXPECT_NE(text.find(part), text.npos) << part << " is not in:\n" << text;
  EXPECT_EQ(text.find("_Z7strided"), text.npos);
  EXPECT_EQ(text.find("\033"), text.npos);
  EXPECT_EQ(text.find("Global memory:"), text.npos) << "folded";
}

/// CUDA Programming Guide 2.0, section 5.1.2.1: a lane that is alone in its segment makes a transaction of 32 bytes.
TEST_F(ReportTest, CostsOfLinesAreInTheUnitsOfTheDevice) {
  const std::pair<const char*, const char*> expected[] = {{"c1060", "32 transactions, 1024 bytes (ideal 128)"},
                                                          {"8800gtx", "32 transactions (ideal 2)"},
                                                          {"gtx480", "32 transactions, 4096 bytes (ideal 128)"},
                                                          {"h200", "32 sectors (ideal 4)"}};
  for (const auto& [device, cost] : expected) {
    const std::string text = text_report(strided("k.ptx", device), {});
    EXPECT_NE(text.find(cost), text.npos) << device << "\n" << text;
  }
}

/// Compute capability 1.x has no sectors.
TEST_F(ReportTest, LocalMemoryOfOldDevicesHasNoSectors) {
  constexpr std::string_view kLocal = R"(.version 7.2
.target sm_70
.address_size 64
.visible .entry local_memory() {
  .reg .u32 %r;
  .local .align 4 .b8 a[4];
  mov.u32 %r, %tid.x;
  st.local.u32 [a], %r;
  ret;
}
)";
  TextOptions options;
  options.details = Sections::all();
  const std::string old = text_report(run(kLocal, "local_memory", {}, 1, "k.ptx", "c1060"), {}, options),
                    current = text_report(run(kLocal, "local_memory", {}), {}, options);
  EXPECT_NE(old.find("4 units of 32 bytes of local memory (ideal 4)"), old.npos) << old;
  EXPECT_EQ(old.find("sector"), old.npos) << old;
  EXPECT_NE(current.find("4 sectors of local memory (ideal 4)"), current.npos) << current;
}

/// The evaluation of a model on other GPUs says nothing of this one.
TEST_F(ReportTest, TheErrorOfAModelThatWasNotEvaluatedOnTheDeviceIsNotKnown) {
  const LaunchReport report = strided("k.ptx", "a100");
  ASSERT_EQ(model::trusted(report.predictions)->model, "critical-path");
  const std::string text = text_report(report, {});
  EXPECT_NE(text.find("(critical-path, whose error on this device is not known)"), text.npos) << text;
  EXPECT_EQ(text.find("typically"), text.npos) << text;
  EXPECT_NE(text_report(strided(), {}).find("typically"), text.npos);
  const Json launch = Json::parse(json_report(report.device, {&report, 1}))["launches"][0];
  for (const Json& p : launch["predictions"]) {
    if (p["model"] != "critical-path") continue;
    EXPECT_TRUE(p["expected_error"]["median_percent"].is_null() && p["expected_error"]["mean_percent"].is_null());
    EXPECT_EQ(p["expected_error"]["evaluation"], "not evaluated on this device");
  }
}

/// Models disagree. What a change saves is by the same model beside the limit as in the findings.
TEST_F(ReportTest, SavingsAreByOneModel) {
  LaunchReport report = strided();
  for (model::Prediction& p : report.predictions)
    p.benefits = {{"transactions", (p.model == "throughput-latency" ? 0.25 : 0.5) * p.milliseconds}};
  ASSERT_EQ(model::trusted(report.predictions)->model, "critical-path");
  std::string text = text_report(report, {});
  EXPECT_NE(text.find("25 % less time with ideal transactions (throughput-latency)"), text.npos) << text;
  EXPECT_NE(text.find("Findings: speedups are estimates by throughput-latency, because"), text.npos) << text;
  const Json launch = Json::parse(json_report(report.device, {&report, 1}))["launches"][0];
  EXPECT_EQ(launch["speedup_model"], "throughput-latency");
  // One model predicts both.
  text = text_report(strided("k.ptx", "c1060"), {});
  EXPECT_EQ(text.find("speedups are estimates"), text.npos) << text;
}

/// A saving within the noise of measurements is no advice: docs/findings.md.
TEST_F(ReportTest, NotesThatSaveLittleAreCountedWithoutASpeedup) {
  LaunchReport report = strided();
  ASSERT_EQ(report.findings.size(), 1u);
  analyzers::Finding& first = report.findings[0];
  first.severity = Severity::note;
  first.speedup = 1.049;
  EXPECT_TRUE(saves_little(first));
  std::string text = text_report(report, {});
  EXPECT_NE(text.find("\nFindings\n  1 note would save less than 5 %: UncoalescedGlobalAccess, k.cu:7\n"), text.npos)
      << text;
  EXPECT_EQ(text.find("times as fast"), text.npos) << text;
  EXPECT_EQ(text.find("speedups are estimates"), text.npos) << "of none";
  TextOptions options;
  options.details.add(Section::findings);
  text = text_report(report, {}, options);
  EXPECT_NE(text.find("1. note: UncoalescedGlobalAccess, k.cu:7, PTX line 16: would save less than 5 %"), text.npos)
      << text;
  // Those that save more, or for which there is no estimate, come first.
  analyzers::Finding other = first, unknown = first, little = first;
  other.rule = "Occupancy";
  other.speedup = 1.05;
  EXPECT_FALSE(saves_little(other));
  unknown.rule = "ThreadDivergence";
  unknown.speedup.reset();
  EXPECT_FALSE(saves_little(unknown));
  little.rule = "BlockSize";
  report.findings.insert(report.findings.end(), {little, unknown, other});
  const std::vector<const analyzers::Finding*> top = top_findings(report);
  EXPECT_EQ(top[0]->rule, "Occupancy");
  EXPECT_EQ(top[1]->rule, "ThreadDivergence");
  text = text_report(report, {});
  for (const char* part : {"  1. note: Occupancy, k.cu:7", ": 1.05 times as fast\n", "  2. note: ThreadDivergence",
                           "  2 notes would save less than 5 %: 1 BlockSize, 1 UncoalescedGlobalAccess\n"})
    EXPECT_NE(text.find(part), text.npos) << part << " is not in:\n" << text;
  // The table of kernels has no finding where all save little.
  report.findings.resize(1);
  const std::vector<LaunchReport> two = {report, scale()};
  EXPECT_EQ(text_report(two, {}, {})->substr(0, 400).find("Uncoalesced"), std::string::npos);
}

TEST_F(ReportTest, SectionsFollowInNsightComputesOrder) {
  const LaunchReport report = strided();
  TextOptions options;
  options.details = Sections::all();
  const std::string text = text_report(report, {}, options);
  std::size_t at = 0;
  for (const char* title : {"\nPredicted run time:", "\nGlobal memory:", "\nInstructions:", "\nLaunch:", "\nOccupancy:",
                            "\nWhere:", "\nFindings: by kind"}) {
    const std::size_t found = text.find(title, at);
    ASSERT_NE(found, text.npos) << title << " is not in:\n" << text.substr(at);
    at = found;
  }
  EXPECT_NE(text.find("mangled name: _Z7stridedPj"), text.npos);
  options.details = {};
  options.details.add(Section::occupancy);
  const std::string one = text_report(report, {}, options);
  EXPECT_NE(one.find("\nOccupancy:"), one.npos);
  EXPECT_EQ(one.find("\nGlobal memory:"), one.npos);
}

TEST_F(ReportTest, LinesFitTheWidth) {
  const LaunchReport report = strided();
  for (const std::size_t columns : {40u, 60u, 80u, 120u})
    for (const bool graphics : {false, true}) {
      TextOptions options;
      options.columns = columns;
      options.graphics = graphics;
      for (const std::string& line : lines_of(text_report(report, {}, options)))
        EXPECT_LE(width(line), columns) << line;
    }
}

TEST_F(ReportTest, ManyLinesOfAFindingAreCut) {
  LaunchReport report = strided();
  ASSERT_FALSE(report.findings.empty());
  report.findings[0].lines.clear();
  for (std::uint32_t line = 101; line <= 130; ++line) report.findings[0].lines.push_back(line);
  TextOptions wide;
  wide.columns = 160;
  const std::string text = text_report(report, {}, wide);
  EXPECT_NE(text.find("108 and 22 more"), text.npos) << text;
  EXPECT_EQ(text.find("109"), text.npos) << text;
}

TEST_F(ReportTest, BarsAreForTerminals) {
  const LaunchReport report = strided();
  TextOptions options;
  EXPECT_EQ(text_report(report, {}, options).find("█"), std::string::npos);
  options.graphics = true;
  EXPECT_NE(text_report(report, {}, options).find("█"), std::string::npos);
}

TEST_F(ReportTest, HistogramsOnATerminal) {
  const std::vector<Bin> bins = {{"1", 0}, {"2", 10}, {"3 to 4", 0}, {"5 to 8", 30}, {"9 to 16", 0}};
  EXPECT_EQ(histogram("requests", bins, {}), "  requests\n"
                                             "       2   25 %  ████████\n"
                                             "  3 to 4    0 %\n"
                                             "  5 to 8   75 %  ████████████████████████\n");
  EXPECT_EQ(histogram("requests", std::span(bins).first(3), {}), "") << "one number says as much";
  EXPECT_EQ(histogram("requests", {}, {}), "");

  // A coalesced load and a store with 32 sectors.
  const LaunchReport report = strided();
  TextOptions options;
  options.details.add(Section::memory);
  const std::string plain = text_report(report, {}, options);
  EXPECT_EQ(plain.find("by the sectors"), plain.npos);
  options.graphics = true;
  LaunchReport mixed = report;
  analyzers::InstructionRow row = mixed.profile.instructions.back();
  for (analyzers::InstructionRow& one : mixed.profile.instructions)
    if (one.metrics.integer(analyzers::MetricId::global_requests_st) != 0) row = one;
  row.metrics = {};
  row.metrics.add(analyzers::MetricId::global_requests_ld, 3);
  row.metrics.add(analyzers::MetricId::global_sectors_ld, 12);
  mixed.profile.instructions.push_back(row);
  const std::string text = text_report(mixed, {}, options);
  EXPECT_NE(text.find("requests to global memory by the sectors of a request"), text.npos) << text;
  EXPECT_NE(text.find("    3 to 4   75 %  ████████████████████████\n"), text.npos) << text;
  EXPECT_NE(text.find("  17 to 32   25 %  ████████\n"), text.npos) << text;
}

TEST_F(ReportTest, LinesOfTheSourceAreQuoted) {
  const Folder folder;
  static_cast<void>(folder.write("k.cu", "1\n2\n3\n4\n5\n6\n\tstore(x + 32 * i, i);\r\n"));
  const std::string module = (folder.path() / "k.ptx").string();
  const LaunchReport report = strided(module);
  TextOptions options;
  EXPECT_NE(text_report(report, {}, options).find("k.cu:7  store(x + 32 * i, i);\n"), std::string::npos)
      << text_report(report, {}, options);
  options.quotes = false;
  EXPECT_EQ(text_report(report, {}, options).find("store(x"), std::string::npos);
}

TEST_F(ReportTest, ManyLaunchesBeginWithATableOfKernels) {
  std::vector<LaunchReport> reports;
  for (int i = 0; i < 3; ++i) reports.push_back(scale());
  reports.push_back(scale(64));
  reports.push_back(strided());
  const std::vector<KernelGroup> groups = kernel_groups(reports);
  ASSERT_EQ(groups.size(), 2u);
  const KernelGroup& g = groups[0].kernel == "scale" ? groups[0] : groups[1];
  EXPECT_EQ(g.launches, 4u);
  ASSERT_EQ(g.sets.size(), 2u) << "identical launches are folded";
  EXPECT_EQ(g.finding, nullptr);
  EXPECT_NEAR(groups[0].share + groups[1].share, 1, 1e-9);
  EXPECT_GE(groups[0].milliseconds, groups[1].milliseconds);

  const std::string text = *text_report(reports, {}, {});
  EXPECT_EQ(text.find("5 launches of 2 kernels on NVIDIA H200"), 0u) << text;
  EXPECT_NE(text.find("UncoalescedGlobalAccess (2.00 x), k.cu:7"), text.npos) << text;
  EXPECT_NE(text.find("; the longest of 2 different ones"), text.npos) << text;
  TextOptions all;
  all.shown = "all";
  const std::string whole = *text_report(reports, {}, all);
  EXPECT_NE(whole.find("launches 1 to 3, identical\nscale on"), whole.npos) << whole;
  EXPECT_NE(whole.find("strided on"), whole.npos);
  TextOptions chosen;
  chosen.shown = "^stri";
  EXPECT_NE(text_report(reports, {}, chosen)->find("strided on"), std::string::npos);
  EXPECT_EQ(text_report(reports, {}, chosen)->find("scale on"), std::string::npos);
  for (const char* wrong : {"3", "0", "nosuch", "("}) {
    chosen.shown = wrong;
    EXPECT_FALSE(text_report(reports, {}, chosen)) << wrong;
  }
}

TEST_F(ReportTest, TheTableKeepsSpeedupsOfLongNames) {
  std::vector<LaunchReport> reports = {scale(), strided()};
  reports[1].kernel = "a_kernel_with_a_name_that_is_longer_than_the_table_has_room_for_it";
  reports[1].findings[0].speedup = 2.345;
  const std::string text = *text_report(reports, {}, {});
  EXPECT_NE(text.find("… (2.35 x)\n"), text.npos) << text;
  for (const std::string& line : lines_of(text)) EXPECT_LE(width(line), 100u) << line;
}

TEST_F(ReportTest, OneLaunchHasNoTable) {
  const std::vector<LaunchReport> reports = {scale()};
  EXPECT_EQ(text_report(reports, {}, {})->find("scale on NVIDIA H200"), 0u);
}

std::vector<MetCondition> met(const std::string& text, const std::vector<LaunchReport>& reports) {
  const Expected<Condition> condition = Condition::parse(text);
  EXPECT_TRUE(condition) << text;
  return met_conditions({&*condition, 1}, reports);
}

TEST_F(ReportTest, ConditionsNameTheKernelAndTheLine) {
  const std::vector<LaunchReport> reports = {scale(), strided()};
  const auto sectors = met("sectors_per_request>8", reports);
  ASSERT_EQ(sectors.size(), 1u);
  EXPECT_EQ(sectors[0].launch, 1u);
  EXPECT_EQ(sectors[0].text(),
            "strided, k.cu:7 (PTX line 16): sectors_per_request is 32, which meets 'sectors_per_request>8'");
  EXPECT_EQ(met("sectors_per_request > 32", reports).size(), 0u);
  EXPECT_EQ(met("sectors_per_request >= 4", reports).size(), 2u);
  EXPECT_EQ(met("passes_per_request>0", reports).size(), 0u) << "no shared memory";
  EXPECT_EQ(met("findings>0", reports).size(), 1u);
  EXPECT_EQ(met("UncoalescedGlobalAccess==1", reports).size(), 1u);
  EXPECT_EQ(met("SharedMemoryConflicts==0", reports).size(), 2u);
  EXPECT_EQ(met("milliseconds>0", reports).size(), 2u);
  EXPECT_EQ(met("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum>=32", reports).size(), 1u);
  EXPECT_EQ(met("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum<0", reports).size(), 0u);
}

TEST(Conditions, AreChecked) {
  for (const char* wrong : {"", "sectors_per_request", ">8", "sectors_per_request>", "sectors_per_request>x",
                            "sectors_per_request=8", "sectors_per_request>nan", "sectors_per_request>inf", "nosuch>1"})
    EXPECT_FALSE(Condition::parse(wrong)) << wrong;
  EXPECT_EQ(Condition::parse("sector_per_request>8").error().list()[0].hint, "did you mean 'sectors_per_request'?");
  EXPECT_TRUE(Condition::parse(" findings != 0 "));
}

TEST_F(ReportTest, MessagesOfOneKernelAreFolded) {
  const std::vector<LaunchReport> reports = {strided(), strided()};
  const std::vector<std::string> texts = messages(met("findings>0", reports));
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_TRUE(texts[0].ends_with("(the first of 2 launches)")) << texts[0];
}

// SARIF 2.1.0, 3.13 (sarifLog), 3.14 (run), 3.18 (tool), 3.27 (result): the properties that must be there.
TEST_F(ReportTest, FindingsAsSarif) {
  const std::vector<LaunchReport> reports = {strided(), strided()};
  const Condition condition = *Condition::parse("findings>0");
  const Json log = Json::parse(sarif_report(reports, {&condition, 1}));
  EXPECT_EQ(log["version"], "2.1.0");
  ASSERT_EQ(log["runs"].size(), 1u);
  const Json& run = log["runs"][0];
  EXPECT_EQ(run["tool"]["driver"]["name"], "Warplens");
  const Json& rules = run["tool"]["driver"]["rules"];
  ASSERT_EQ(run["results"].size(), 3u) << "one finding of identical launches, two met conditions";
  for (const Json& result : run["results"]) {
    EXPECT_FALSE(result["message"]["text"].get<std::string>().empty());
    EXPECT_EQ(rules.at(result["ruleIndex"].get<std::size_t>())["id"], result["ruleId"]);
    const Json& place = result["locations"].at(0)["physicalLocation"];
    EXPECT_EQ(place["artifactLocation"]["uri"], "k.cu");
    EXPECT_EQ(place["region"]["startLine"], 7);
  }
  EXPECT_EQ(run["results"][0]["level"], "warning");
  EXPECT_EQ(run["results"][0]["properties"]["launches"], 2);
  EXPECT_EQ(run["results"][0]["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 16);
  EXPECT_EQ(run["results"][2]["level"], "error");
}

TEST_F(ReportTest, ClaimsNothingInSarifWithoutFindings) {
  const std::vector<LaunchReport> reports = {scale()};
  const Json log = Json::parse(sarif_report(reports, {}));
  EXPECT_EQ(log["runs"][0]["results"], Json::array());
  EXPECT_EQ(log["runs"][0]["tool"]["driver"]["rules"], Json::array());
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST_F(ReportTest, FindingsAsJUnit) {
  const std::vector<LaunchReport> reports = {scale(), strided()};
  const Condition condition = *Condition::parse("sectors_per_request>8");
  const std::string xml = junit_report(reports, {&condition, 1});
  EXPECT_EQ(xml.find("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites "), 0u);
  EXPECT_EQ(count(xml, "<testsuite "), 2u);
  EXPECT_EQ(count(xml, "<failure "), 2u) << xml;
  EXPECT_NE(xml.find("classname=\"strided\" name=\"sectors_per_request&gt;8\">"), xml.npos) << xml;
  EXPECT_NE(xml.find("classname=\"scale\" name=\"UncoalescedGlobalAccess\"/>"), xml.npos);
  EXPECT_EQ(count(xml, "<testcase "), count(xml, "</testcase>") + count(xml, "\"/>\n"));
}

TEST_F(ReportTest, CsvHasARowForEachMetric) {
  const std::vector<LaunchReport> reports = {scale(), strided()};
  const std::vector<std::string> lines = lines_of(csv_report(reports));
  EXPECT_EQ(lines[0], "\"ID\",\"Kernel Name\",\"Device\",\"Block Size\",\"Grid Size\",\"Metric Name\",\"Metric "
                      "Unit\",\"Metric Value\"");
  const std::string row =
      "1,strided,NVIDIA H200,\"(32, 1, 1)\",\"(1, 1, 1)\",l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum,sectors,32";
  EXPECT_EQ(std::count(lines.begin(), lines.end(), row), 1) << csv_report(reports);
  EXPECT_EQ(lines.size(), 1 + reports[0].profile.metrics.list().size() + reports[1].profile.metrics.list().size());
}

} // namespace report_test
} // namespace warplens::api
