// SPDX-License-Identifier: Apache-2.0
// Findings with remedies and speedups, the prediction to trust, and recorded accesses in a report.
#include "api/launch/launch.hpp"
#include "api/report/json_report.hpp"
#include "tests/api/kernels.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <ctime>
#include <set>

namespace warplens::api {
namespace advice_test {

using Json = nlohmann::json;

/// y[i] = x[i * stride] for i < 65536
constexpr std::string_view kGather = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry gather(.param .u64 x, .param .u64 y, .param .u32 stride) {
  .reg .u32 %r<8>;
  .reg .f32 %f1;
  .reg .u64 %rd<7>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.u32 %r5, [stride];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  mul.lo.u32 %r6, %r4, %r5;
  mul.wide.u32 %rd3, %r6, 4;
  add.u64 %rd4, %rd1, %rd3;
  ld.global.f32 %f1, [%rd4];
  mul.wide.u32 %rd5, %r4, 4;
  add.u64 %rd6, %rd2, %rd5;
  st.global.f32 [%rd6], %f1;
  ret;
}
)";

/// y[i] = x[f(i)] for bytes: rows of 36 bytes of a pitch of 512, from the second byte on; or several strides
constexpr std::string_view kRows = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry rows(.param .u64 x, .param .u64 y, .param .u32 strides) {
  .reg .u32 %r<12>;
  .reg .u16 %h;
  .reg .pred %p;
  .reg .u64 %rd<7>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.u32 %r5, [strides];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  div.u32 %r6, %r4, 36;
  rem.u32 %r7, %r4, 36;
  mad.lo.u32 %r8, %r6, 512, %r7;
  add.u32 %r8, %r8, 2;
  and.b32 %r9, %r4, 1;
  shl.b32 %r9, %r9, 2;
  mad.lo.u32 %r9, %r4, 12, %r9;
  setp.ne.u32 %p, %r5, 0;
  selp.u32 %r10, %r9, %r8, %p;
  cvt.u64.u32 %rd3, %r10;
  add.u64 %rd4, %rd1, %rd3;
  ld.global.u8 %h, [%rd4];
  cvt.u64.u32 %rd5, %r4;
  add.u64 %rd6, %rd2, %rd5;
  st.global.u8 [%rd6], %h;
  ret;
}
)";

class AdviceTest : public ::testing::Test {
protected:
  void SetUp() override {
    context_ = *Context::create();
    module_ = *Module::load(context_, kGather, "gather.ptx");
    x_ = *Buffer::allocate(context_, std::uint64_t{4} * 65536 * 32, "x");
    y_ = *Buffer::allocate(context_, std::uint64_t{4} * 65536, "y");
  }

  /// The finding about the load of kRows.
  std::optional<analyzers::Finding> rows(int strides) {
    const auto module = *Module::load(context_, kRows, "rows.ptx");
    LaunchRequest r;
    r.kernel = *module->kernel("rows");
    r.grid = {256, 1, 1};
    r.block = {256, 1, 1};
    r.arguments = {Argument::buffer(*x_), Argument::buffer(*y_), *Argument::scalar(Type::u32, std::int64_t{strides})};
    r.device = *load_device("h200");
    const LaunchReport report = *launch(r);
    for (const analyzers::Finding& f : report.findings)
      if (f.rule == "UncoalescedGlobalAccess") return f;
    return std::nullopt;
  }

  LaunchReport run(int stride, const char* device = "h200", bool keep_accesses = false, unsigned workers = 0) {
    LaunchRequest r;
    r.kernel = *module_->kernel("gather");
    r.grid = {256, 1, 1};
    r.block = {256, 1, 1};
    r.arguments = {Argument::buffer(*x_), Argument::buffer(*y_), *Argument::scalar(Type::u32, std::int64_t{stride})};
    r.device = *load_device(device);
    r.options.keep_accesses = keep_accesses;
    r.options.workers = workers;
    return *launch(r);
  }

  static Json json(const LaunchReport& report) {
    return Json::parse(json_report(report.device, {&report, 1}))["launches"][0];
  }

  std::shared_ptr<Context> context_;
  std::shared_ptr<Module> module_;
  std::shared_ptr<Buffer> x_, y_;
};

TEST_F(AdviceTest, TheSpeedupIsThatOfTheLaunchWithoutTheProblem) {
  for (const char* device : {"h200", "a100", "gtx480", "c1060", "8800gtx"}) {
    SCOPED_TRACE(device);
    const LaunchReport strided = run(32, device), coalesced = run(1, device);
    ASSERT_EQ(strided.findings.size(), 1u);
    const analyzers::Finding& finding = strided.findings[0];
    ASSERT_TRUE(finding.speedup);
    const double actual = model::trusted_for_changes(strided.predictions)->milliseconds /
                          model::trusted_for_changes(coalesced.predictions)->milliseconds;
    EXPECT_GE(*finding.speedup, 1);
    EXPECT_LT(*finding.speedup, 1.5 * actual);
    EXPECT_GT(*finding.speedup, actual / 1.5);
    EXPECT_FALSE(finding.remedy.empty());
    EXPECT_NE(finding.page.find("#uncoalescedglobalaccess"), std::string::npos);
    for (const analyzers::Finding& f : coalesced.findings)
      if (f.rule == finding.rule)
        ADD_FAILURE() << f.rule << ": " << f.message << "; " << f.remedy << " " << f.speedup.value_or(0);
  }
}

// Neighbouring threads access neighbouring bytes already: exchanging indices would not help.
TEST_F(AdviceTest, RowsThatEndWithinAWarp) {
  const auto border = rows(0), strides = rows(1);
  ASSERT_TRUE(border && strides);
  EXPECT_NE(border->message.find("parts of 1.8 rows"), std::string::npos) << border->message;
  EXPECT_TRUE(border->remedy.starts_with("let a warp access one row at a time")) << border->remedy;
  EXPECT_EQ(strides->message.find("parts of"), std::string::npos) << strides->message;
  EXPECT_TRUE(strides->remedy.starts_with("store the words that the kernel uses next to each other"))
      << strides->remedy;
  // Of a row of 36 bytes from its second byte on, two sectors remain; a request of a perfect access needs one.
  ASSERT_EQ(border->changes.accesses.size(), 1u);
  EXPECT_GT(border->changes.accesses[0].remaining, 0.5);
  ASSERT_EQ(strides->changes.accesses.size(), 1u);
  EXPECT_LT(strides->changes.accesses[0].remaining, 0.15);
}

TEST_F(AdviceTest, OnePredictionIsMarked) {
  const Json launch = json(run(32));
  int marked = 0;
  for (const Json& p : launch["predictions"]) {
    marked += p["trusted"].get<bool>() ? 1 : 0;
    if (p["trusted"].get<bool>()) {
      EXPECT_EQ(p["model"], "critical-path");
      EXPECT_GT(p["expected_error"]["median_percent"], 5);
      EXPECT_GT(p["expected_error"]["mean_percent"], p["expected_error"]["median_percent"]);
    } else {
      EXPECT_TRUE(p["expected_error"].is_null());
    }
  }
  EXPECT_EQ(marked, 1);
  EXPECT_GT(launch["findings"][0]["speedup"], 1);
  EXPECT_FALSE(launch["findings"][0]["remedy"].get<std::string>().empty());
}

TEST_F(AdviceTest, AccessesAreKeptOnRequest) {
  for (const auto& row : run(32).profile.instructions) EXPECT_TRUE(row.recorded.empty());
  const LaunchReport one = run(32, "h200", true, 1), four = run(32, "h200", true, 4);
  EXPECT_EQ(json(one), json(four));
  std::set<std::string> roles;
  const Json launch = json(one);
  for (const Json& row : launch["instructions"]) {
    if (row["ptx"].get<std::string>().find("ld.global") == std::string::npos) continue;
    ASSERT_TRUE(row.contains("accesses"));
    EXPECT_LE(row["accesses"].size(), analyzers::kShownAccesses);
    for (const Json& a : row["accesses"]) {
      EXPECT_EQ(a["cost"], 32);
      EXPECT_EQ(a["unit"], "sectors");
      EXPECT_EQ(a["addresses"].size(), 32u);
      EXPECT_EQ(a["addresses"][1].get<std::uint64_t>() - a["addresses"][0].get<std::uint64_t>(), 128u);
      if (!a["role"].is_null()) roles.insert(a["role"]);
    }
  }
  EXPECT_TRUE(roles.count("typical"));
}

// Each load of a long kernel has a finding of its own, and each finding is a launch with other counts; or its remedy
// changes all of them.
TEST_F(AdviceTest, TheTimeGrowsWithTheLengthOfTheKernel) {
  const auto seconds = [&](int loads, int stride, int distance) {
    std::string text(kGather), all;
    const std::string load = "  ld.global.f32 %f1, [%rd4];\n";
    for (int i = 0; i < loads; ++i)
      all += "  ld.global.f32 %f1, [%rd4+" + std::to_string(i * distance % 640000 + 4) + "];\n";
    text.replace(text.find(load), load.size(), all);
    module_ = *Module::load(context_, text, "long.ptx");
    LaunchRequest r;
    r.kernel = *module_->kernel("gather");
    r.block = {32, 1, 1};
    r.arguments = {Argument::buffer(*x_), Argument::buffer(*y_), *Argument::scalar(Type::u32, std::int64_t{stride})};
    r.device = *load_device("h200");
    const std::clock_t begin = std::clock();
    EXPECT_GE(launch(r)->findings.size(), static_cast<std::size_t>(loads));
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  EXPECT_LT(seconds(5000, 1, 128), 40 * seconds(500, 1, 128)); // with all counts for each finding: 100
  EXPECT_LT(seconds(3000, 8, 4), 40 * seconds(300, 8, 4));     // structures of 32 bytes
}

} // namespace advice_test
} // namespace warplens::api
