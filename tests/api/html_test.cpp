// SPDX-License-Identifier: Apache-2.0
// The document of the HTML page, and the page around it. What the page shows is tested in tests/frontend/.
#include "analyzers/trace/deflate.hpp"
#include "api/html/page.hpp"
#include "api/report/json_report.hpp"
#include "api/report/source_texts.hpp"
#include "tests/tools/folder.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace warplens::api {
namespace html_test {

using Json = nlohmann::json;

/// Even threads store to one array, odd ones to another; then all read from shared memory with a stride of two words.
constexpr std::string_view kBranching = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry _Z9branchingPi(.param .u64 y) {
  .reg .pred %p;
  .reg .u32 %r<6>;
  .reg .u64 %rd<4>;
  .shared .align 4 .b8 tile[256];
  ld.param.u64 %rd1, [y];
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 1;
  setp.eq.u32 %p, %r2, 0;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  @%p bra EVEN;
  st.global.u32 [%rd3], 1;
  bra DONE;
EVEN:
  st.global.u32 [%rd3+128], 2;
DONE:
  shl.b32 %r3, %r1, 3;
  mov.u32 %r4, tile;
  add.u32 %r4, %r4, %r3;
  ld.shared.u32 %r5, [%r4];
  st.global.u32 [%rd3], %r5;
  ret;
}
)";

class HtmlTest : public ::testing::Test {
protected:
  LaunchReport run(const char* device = "h200", std::string_view file = "branching.ptx") {
    auto context = *Context::create();
    auto module = *Module::load(context, kBranching, file);
    auto y = *Buffer::allocate(context, 4096, "y");
    LaunchRequest r;
    r.kernel = *module->kernel("_Z9branchingPi");
    r.block = {32, 1, 1};
    r.arguments = {Argument::buffer(*y)};
    r.device = *load_device(device);
    r.options.keep_accesses = true;
    EXPECT_TRUE(r.options.rules.add(*rules::find_coalescing_rule("1.2")));
    return *launch(r);
  }

  static Json document(const LaunchReport& report) { return Json::parse(json_for_page(report.device, {&report, 1})); }
};

TEST_F(HtmlTest, HasTheWholeReport) {
  const LaunchReport report = run();
  const Json page = document(report), plain = Json::parse(json_report(report.device, {&report, 1}));
  for (const auto& [key, value] : plain.items())
    if (key != "launches" && key != "device") {
      EXPECT_EQ(page[key], value) << key;
    }
  for (const auto& [key, value] : plain["launches"][0].items())
    if (key != "instructions") {
      EXPECT_EQ(page["launches"][0][key], value) << key;
    }
  EXPECT_EQ(page["launches"][0]["name"], "branching");
  EXPECT_EQ(page["launches"][0]["module"], "branching.ptx");
  EXPECT_EQ(page["device"]["multiprocessors"], 132);
  EXPECT_EQ(page["device"]["limits"]["warps"], 64);
  EXPECT_EQ(page["metrics"]["smsp__inst_executed.sum"]["unit"], "instructions");
}

/// What the first screen of the text report shows, so that the page shows the same.
TEST_F(HtmlTest, NamesTheMostExpensiveLinesAndTheLowerBounds) {
  const Json launch = document(run())["launches"][0], &costs = launch["costly_lines"];
  EXPECT_EQ(costs["of"], "the accesses to memory and divergent branches");
  ASSERT_EQ(costs["lines"].size(), 5u);
  double last = 1;
  for (const Json& line : costs["lines"]) {
    EXPECT_LE(line["share"], last);
    last = line["share"];
    EXPECT_EQ(line["line"], line["ptx_line"]); // no CUDA source
    EXPECT_EQ(line["file"], "");
  }
  EXPECT_EQ(launch["lower_bounds"], Json::array({"bounds", "roofline"}));
}

/// The numbers are those of the findings. A warp stores consecutive words three times, twice with every second lane.
TEST_F(HtmlTest, CostsAreInTheUnitsOfTheDevice) {
  const Json current = document(run("h200"));
  EXPECT_EQ(current["device"]["global_unit"], "sectors");
  EXPECT_EQ(current["launches"][0]["device_costs"], Json::object());
  // CUDA Programming Guide 2.0, section 5.1.2.1, compute capability 1.2: a half-warp of words is a segment of 64 bytes,
  // also with every second lane, which needs 32 bytes.
  const Json gt200 = document(run("c1060"));
  EXPECT_EQ(gt200["device"]["global_unit"], "bytes");
  EXPECT_EQ(gt200["launches"][0]["device_costs"], Json({{"transactions", 6},
                                                        {"transaction_bytes", 384},
                                                        {"ideal_bytes", 256},
                                                        {"bank_passes", 4},
                                                        {"bank_conflicts", 2}}));
  for (const char* name : {"transactions", "transaction_bytes", "bank_passes"})
    EXPECT_FALSE(gt200["metrics"][name]["definition"].get<std::string>().empty()) << name;
  // 1.0: in order, or a transaction for each lane. Lanes that are inactive keep the others in order.
  const Json g80 = document(run("8800gtx"));
  EXPECT_EQ(g80["device"]["global_unit"], "transactions");
  EXPECT_EQ(g80["launches"][0]["device_costs"]["transactions"], 6);
  EXPECT_EQ(g80["launches"][0]["device_costs"]["ideal_transactions"], 6);
  // Lines of 128 bytes.
  const Json fermi = document(run("gtx480"));
  EXPECT_EQ(fermi["device"]["global_unit"], "bytes");
  std::uint64_t moved = 0;
  for (const Json& row : fermi["launches"][0]["instructions"])
    moved += row.value("transaction_bytes", std::uint64_t{0});
  EXPECT_EQ(fermi["launches"][0]["device_costs"]["transaction_bytes"], moved);
}

TEST_F(HtmlTest, LaunchesShareWhatIsEqual) {
  const std::vector<LaunchReport> reports = {run(), run()};
  const Json launches = Json::parse(json_for_page(reports[0].device, reports))["launches"];
  EXPECT_TRUE(launches[0]["instructions"].is_array());
  EXPECT_EQ(launches[1]["instructions"], Json({{"same_as", 0}}));
  EXPECT_EQ(launches[1]["metrics"], Json({{"same_as", 0}}));
  EXPECT_EQ(launches[1]["kernel"], "_Z9branchingPi");
}

TEST_F(HtmlTest, ControlFlowSaysWhereADivergedWarpReconverges) {
  const Json blocks = document(run())["launches"][0]["control_flow"];
  ASSERT_EQ(blocks.size(), 4u); // up to the branch, odd, even, after both
  EXPECT_EQ(blocks[0]["successors"], Json::array({1, 2}));
  EXPECT_EQ(blocks[0]["reconverges_at"], 3);
  EXPECT_EQ(blocks[0]["first_line"], 9);
  EXPECT_EQ(blocks[0]["last_line"], 15);
  EXPECT_EQ(blocks[0]["threads"], 32);
  EXPECT_EQ(blocks[1]["threads"], 16);
  EXPECT_EQ(blocks[2]["threads"], 16);
  EXPECT_EQ(blocks[3]["threads"], 32);
  EXPECT_EQ(blocks[3]["warps"], 1);
  EXPECT_TRUE(blocks[3]["exits"]);
  EXPECT_TRUE(blocks[3]["reconverges_at"].is_null());
}

TEST_F(HtmlTest, RecordedAccessesAreServedByEveryRule) {
  const Json launch = document(run())["launches"][0];
  std::map<std::string, Json> by_text;
  for (const Json& row : launch["instructions"]) by_text[row["ptx"].get<std::string>().substr(0, 18)] = row;
  const Json store = by_text.at("st.global.u32 [%rd").at("accesses")[0].at("served");
  ASSERT_EQ(store.size(), 2u); // the device's rule first
  EXPECT_EQ(store[0]["rule"], "6.0");
  EXPECT_EQ(store[1]["rule"], "1.2");
  // 32 words in order: four sectors; a half-warp of compute capability 1.2 has a segment of 64 bytes.
  EXPECT_EQ(store[1]["transactions"].size(), 2u);
  EXPECT_EQ(store[1]["transactions"][0][1], 64);
  EXPECT_EQ(store[1]["transactions"][0][2], 0xffff);
  // Two words apart: 16 banks with two words each.
  const Json load = by_text.at("ld.shared.u32 %r5,").at("accesses")[0].at("served")[0];
  EXPECT_EQ(load["rule"], "5.x+");
  EXPECT_EQ(load["passes"], 2);
  EXPECT_EQ(load["fewest"], 1);
  EXPECT_EQ(load["ways"], 2);
  EXPECT_EQ(load["bank"][1], Json::array({2}));
  EXPECT_EQ(load["bank"][16], Json::array({0}));
  EXPECT_EQ(load["requests"], Json::parse("[[4294967295, 2]]"));
}

/// CUDA C Programming Guide 2.3, section 5.1.2.5: a half-warp of compute capability 1.x is a request, and 16 words next
/// to each other are free of conflicts; here, they are two words apart.
TEST_F(HtmlTest, HalfWarpsAreRequestsToTheBanks) {
  const Json launch = document(run("c1060"))["launches"][0];
  for (const Json& row : launch["instructions"])
    if (row["ptx"].get<std::string>().starts_with("ld.shared")) {
      const Json served = row["accesses"][0]["served"][0];
      EXPECT_EQ(served["requests"], Json::parse("[[65535, 2], [4294901760, 2]]"));
      EXPECT_EQ(served["passes"], 4);
      EXPECT_EQ(served["ways"], 2);
      EXPECT_EQ(served["bank"][8], Json::array({0}));
      return;
    }
  FAIL() << "no load of shared memory";
}

TEST_F(HtmlTest, OccupancyCurvesGoThroughTheLaunch) {
  for (const char* device : {"c1060", "gtx480", "h200"}) {
    SCOPED_TRACE(device);
    const LaunchReport report = run(device);
    const Json curves = document(report)["launches"][0]["occupancy_curves"];
    const auto at = [&](const char* of, std::int64_t x) {
      std::int64_t value = -1;
      for (const Json& step : curves[of])
        if (step[0].get<std::int64_t>() <= x) value = step[1].get<std::int64_t>();
      return value;
    };
    EXPECT_EQ(at("by_threads", 32), report.occupancy->warps);
    EXPECT_EQ(at("by_registers", curves["registers"]), report.occupancy->warps);
    EXPECT_EQ(at("by_shared_bytes", curves["shared_bytes"]), report.occupancy->warps);
    // CUDA occupancy calculators: a block of the largest size fills the multiprocessor but for the rest.
    const model::OccupancyLimits& limits = report.device.limits;
    EXPECT_EQ(at("by_threads", limits.threads_per_block),
              limits.threads / limits.threads_per_block * limits.threads_per_block / 32);
  }
}

TEST_F(HtmlTest, HasThePtxOfTheModuleWithoutItsFile) {
  const Json sources = document(run("h200", "no such file.ptx"))["sources"];
  EXPECT_EQ(sources["no such file.ptx"], kBranching);
}

TEST(SourceTexts, ReadsOnlySourceFiles) {
  const warplens::testing::Folder folder;
  const std::string kernel = folder.write("k.cu", "__global__ void k() {}\n"),
                    secret = folder.write("key.txt", "secret"),
                    binary = folder.write("binary.cu", std::string("\0", 1));
  LaunchReport report;
  report.file = (folder.path() / "k.ptx").string();
  for (const std::string& name : {kernel, secret, binary, std::string("k.cu"), std::string("/elsewhere/k.cu"),
                                  std::string("missing.cu"), folder.path().string(), std::string("/dev/zero")}) {
    analyzers::InstructionRow& row = report.profile.instructions.emplace_back();
    row.source_file = name;
    row.source_line = 1;
  }
  const std::map<std::string, std::string> texts = source_texts({&report, 1});
  // Of the module's folder, also by the last part of a path from another machine.
  const std::map<std::string, std::string> expected = {{kernel, "__global__ void k() {}\n"},
                                                       {"k.cu", "__global__ void k() {}\n"},
                                                       {"/elsewhere/k.cu", "__global__ void k() {}\n"}};
  EXPECT_EQ(texts, expected);
}

/// What the page contains as data.
std::string data_of(const std::string& page, std::size_t size) {
  constexpr std::string_view kBegin = "id=\"data\">";
  const std::size_t begin = page.find(kBegin) + kBegin.size();
  const std::string text = page.substr(begin, page.find('<', begin) - begin);
  EXPECT_EQ(text.size() % 4, 0u);
  std::vector<std::byte> packed;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (c == '=') break;
    bits = bits << 6 | static_cast<std::uint32_t>(kDigits.find(c));
    if ((count += 6) >= 8) packed.push_back(static_cast<std::byte>(bits >> (count -= 8)));
  }
  std::string out(size, '\0');
  EXPECT_TRUE(analyzers::trace::decompress(packed, 1, std::as_writable_bytes(std::span(out))));
  return out;
}

TEST(HtmlPage, ContainsTheDocument) {
  if (!check_html()) GTEST_SKIP() << check_html().error().list().front().message;
  std::string text = R"({"a": "</script><b>"})";
  for (int i = 0; i < 5; ++i, text += ' ') { // all lengths of the padding
    const Expected<std::string> page = html_page(text);
    ASSERT_TRUE(page);
    EXPECT_EQ(data_of(*page, text.size()), text);
    EXPECT_TRUE(page->starts_with("<!doctype html>"));
    EXPECT_EQ(page->find("<b>"), page->npos);
  }
  EXPECT_FALSE(html_page(""));
}

TEST(HtmlPage, RefersToNothing) {
  if (!check_html()) GTEST_SKIP() << check_html().error().list().front().message;
  const std::string page = *html_page("{}");
  EXPECT_NE(page.find("default-src 'none'"), page.npos);
  EXPECT_EQ(page.find("unsafe"), page.npos);
  for (const char* reference : {"src=\"", "href=\"http", "@import", "url("})
    EXPECT_EQ(page.find(reference), page.npos) << reference;
}

} // namespace html_test
} // namespace warplens::api
