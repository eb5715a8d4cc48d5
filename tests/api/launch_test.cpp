// SPDX-License-Identifier: Apache-2.0
#include "api/launch/launch.hpp"
#include "api/report/json_report.hpp"
#include "emulator/ir/liveness.hpp"
#include "emulator/ir/parse.hpp"
#include "tests/api/kernels.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

namespace warplens::api {
namespace launch_test {

using testing::kCounter;
using testing::kScale;

class LaunchTest : public ::testing::Test {
protected:
  void SetUp() override { context_ = *Context::create(); }

  std::shared_ptr<Module> load(std::string_view text) {
    auto module = Module::load(context_, text, "k.ptx");
    EXPECT_TRUE(module) << (module ? "" : render(module.error(), text));
    return module ? *module : nullptr;
  }

  /// scale over `count` of the elements of x.
  LaunchRequest request(const Buffer& x, std::int64_t count) {
    LaunchRequest r;
    r.kernel = *load(kScale)->kernel("scale");
    r.grid = {4, 1, 1};
    r.block = {32, 1, 1};
    r.arguments = {Argument::buffer(x), *Argument::scalar(Type::f32, 2.0), *Argument::scalar(Type::u32, count)};
    r.device = *load_device("h200");
    return r;
  }

  std::shared_ptr<Buffer> iota(std::uint64_t count) {
    auto buffer = *Buffer::allocate(context_, 4 * count, "x");
    fill_iota(Type::f32, buffer->bytes(), std::int64_t{0}, std::int64_t{1});
    return buffer;
  }

  static float element(const Buffer& x, std::size_t i) {
    float value = 0;
    std::memcpy(&value, &x.bytes()[4 * i], 4);
    return value;
  }

  std::shared_ptr<Context> context_;
};

TEST_F(LaunchTest, RunsAndReports) {
  const auto x = iota(128);
  LaunchRequest asked = request(*x, 100);
  asked.options.footprint = true;
  const auto report = launch(asked);
  ASSERT_TRUE(report) << render(report.error(), "");
  EXPECT_FALSE(report->trap);
  EXPECT_EQ(element(*x, 99), 198);
  EXPECT_EQ(element(*x, 100), 100);
  // Three whole warps load, the last one with four lanes.
  EXPECT_EQ(report->profile.integer("gld_request"), 4u);
  EXPECT_EQ(report->profile.integer("warps_launched"), 4u);
  ASSERT_TRUE(report->occupancy);
  EXPECT_EQ(report->occupancy->blocks, 32); // block slots of compute capability 9.0
  EXPECT_EQ(report->profile.integer("launch__occupancy_limit_blocks"), 32u);
  EXPECT_EQ(report->statistics.argument_bytes, 128 * 4);
  EXPECT_FALSE(report->statistics.host_bytes);
  EXPECT_EQ(report->statistics.written_sectors, 13); // 100 words of 4 bytes, loaded and stored
  EXPECT_EQ(report->statistics.only_loaded_sectors, 0);
  for (const model::Prediction& p : report->predictions) // the H200 has parameters of three models
    EXPECT_EQ(model::find_model(p.model)->says == model::kSaysTime,
              p.model == model::kCriticalPath || p.model == model::kThroughputLatency || p.model == model::kVolkov)
        << p.model;
  EXPECT_TRUE(report->remarks.empty());
}

TEST_F(LaunchTest, KnowsMemoryOfTheHost) {
  auto x = *Buffer::allocate(context_, 4 * 128, "x", {.host = true});
  const auto report = launch(request(*x, 100));
  ASSERT_TRUE(report) << render(report.error(), "");
  EXPECT_EQ(report->statistics.argument_bytes, 128 * 4);
  EXPECT_EQ(report->statistics.host_bytes, 128 * 4);
  EXPECT_EQ(model::trusted(report->predictions)->bound, "latency");
  EXPECT_GT(model::trusted(report->predictions)->term("host").value(), 0);
}

// What a kernel launches is judged for every target, as if it were the only one; one that does not allow it says so.
TEST_F(LaunchTest, ChildrenAreJudgedForAllTargets) {
  std::ifstream file(WARPLENS_SOURCE_DIR "/tests/golden/device_launch_report.ptx");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto x = iota(1);
  LaunchRequest r;
  r.kernel = *load(text)->kernel("k");
  r.arguments = {Argument::buffer(*x)};
  TargetDevice targets[3];
  targets[0].device = *load_device("a100");
  targets[1].device = targets[2].device = *load_device("h200");
  targets[1].device.limits.threads_per_block = 32;
  targets[1].registers = 40;
  const auto reports = launch(r, targets);
  ASSERT_EQ(reports.size(), 3u);
  for (const std::size_t i : {0u, 2u}) {
    ASSERT_TRUE(reports[i]) << render(reports[i].error(), "");
    ASSERT_EQ(reports[i]->children.size(), 1u);
    r.device = targets[i].device;
    const auto alone = launch(r);
    ASSERT_TRUE(alone);
    EXPECT_EQ(json_report(r.device, with_children(*reports[i])), json_report(r.device, with_children(*alone)));
  }
  ASSERT_FALSE(reports[1]);
  EXPECT_NE(render(reports[1].error(), "").find("kernel 'k' launches 'child': "), std::string::npos);
}

TEST_F(LaunchTest, WatchedAndUnwatchedComputeTheSame) {
  const auto x = iota(128), y = iota(128);
  LaunchRequest quiet = request(*y, 100);
  quiet.options.analyze = false;
  ASSERT_TRUE(launch(request(*x, 100)));
  const auto report = launch(quiet);
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->analyzed);
  EXPECT_EQ(std::memcmp(x->bytes().data(), y->bytes().data(), 512), 0);
}

TEST_F(LaunchTest, AskedForAModelItPredicts) {
  const auto x = iota(128);
  LaunchRequest r = request(*x, 128);
  r.device = *load_device("Tesla C1060");
  const auto report = launch(r);
  ASSERT_TRUE(report);
  ASSERT_EQ(report->predictions.size(), 5u);
  EXPECT_EQ(report->statistics.global_requests, 2); // of each warp: a load and a store
  EXPECT_GT(report->predictions[0].milliseconds, 0);
}

TEST_F(LaunchTest, TrapNamesAllocationAndDistance) {
  const auto x = iota(64);
  const auto report = launch(request(*x, 128));
  ASSERT_TRUE(report);
  ASSERT_TRUE(report->trap);
  EXPECT_NE(report->trap->message.find("0 bytes after allocation 'x' (256 bytes"), std::string::npos)
      << report->trap->message;
  EXPECT_EQ(report->trap->where.line, 20u);
  EXPECT_TRUE(report->profile.instructions.empty());
}

TEST_F(LaunchTest, ModuleVariablesKeepTheirValuesBetweenLaunches) {
  const auto module = load(kCounter);
  LaunchRequest r;
  r.kernel = *module->kernel("count");
  r.device = *load_device("h200");
  ASSERT_TRUE(launch(r));
  ASSERT_TRUE(launch(r));
  std::uint32_t value = 0;
  std::memcpy(&value, module->variable("launches")->bytes().data(), 4);
  EXPECT_EQ(value, 42u);
  EXPECT_EQ(module->variable("nothing"), nullptr);
}

TEST_F(LaunchTest, ProgramsAreDecodedOnce) {
  const auto module = load(kScale);
  const ir::Function& kernel = *module->kernel("scale")->function;
  EXPECT_EQ(*module->program(kernel, true, ""), *module->program(kernel, true, ""));
  EXPECT_NE(*module->program(kernel, true, ""), *module->program(kernel, false, ""));
}

TEST_F(LaunchTest, ManyThreadsAtOnce) {
  const auto module = load(kScale);
  std::vector<std::thread> threads;
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (int i = 0; i < 8; ++i) buffers.push_back(iota(128));
  for (const auto& b : buffers)
    threads.emplace_back([&, b] {
      LaunchRequest r = request(*b, 128);
      r.kernel = *module->kernel("scale");
      for (int n = 0; n < 20; ++n) EXPECT_TRUE(launch(r));
    });
  for (std::thread& t : threads) t.join();
  for (const auto& b : buffers) EXPECT_EQ(element(*b, 3), 3 * 1048576.0f);
}

TEST_F(LaunchTest, ReportsDoNotDependOnWorkers) {
  const auto x = iota(128);
  std::vector<std::string> texts;
  for (const unsigned workers : {1u, 2u, 3u}) {
    LaunchRequest r = request(*x, 100);
    r.options.workers = workers;
    const auto report = launch(r);
    ASSERT_TRUE(report);
    texts.push_back(json_report(report->device, {&*report, 1}));
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_EQ(texts[0], texts[2]);
}

TEST_F(LaunchTest, RegistersGivenDirectedAndEstimated) {
  const auto x = iota(128);
  LaunchRequest r = request(*x, 100);
  EXPECT_EQ(launch(r)->resources.registers_from, Resources::RegisterSource::estimated);
  r.options.registers = 40;
  EXPECT_EQ(launch(r)->profile.integer("launch__registers_per_thread"), 40u);
  std::string text(kScale);
  text.replace(text.find(") {"), 3, ") .maxnreg 24 {");
  LaunchRequest limited = request(*x, 100);
  limited.kernel = *load(text)->kernel("scale");
  const auto report = launch(limited);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->resources.registers, 24u);
  EXPECT_EQ(report->resources.registers_from, Resources::RegisterSource::directive);
}

TEST_F(LaunchTest, DeviceOfOldTargets) {
  EXPECT_EQ(default_device(load(kScale)->ir())->id, "h200");
  EXPECT_EQ(device_or_default("")->id, "h200");
  EXPECT_EQ(device_or_default("c1060")->id, "c1060");
  const auto parsed = ir::parse(".version 1.4\n.target sm_13\n.entry k () { exit; }", "old.ptx");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(default_device(*parsed)->id, "c1060");
}

TEST_F(LaunchTest, AllThatIsWrongIsSaidAtOnce) {
  const auto x = iota(128);
  LaunchRequest r = request(*x, 100);
  r.grid = {0, 1, 1};
  r.block = {2000, 1, 1};
  r.arguments.pop_back();
  const auto report = launch(r);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().error_count(), 3u);
}

TEST(Liveness, CountsLiveRegistersByWidth) {
  const std::string text = R"(.version 7.0
.target sm_70
.address_size 64
.entry k(.param .u64 p) {
  .reg .pred %p;
  .reg .u32 %r<4>;
  .reg .u64 %rd<3>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, 1;
  mov.u32 %r2, 2;
  add.u32 %r3, %r1, %r2;
  setp.eq.u32 %p, %r3, 3;
  @%p st.global.u32 [%rd1], %r3;
  ret;
}
)";
  auto module = ir::parse(text, "k.ptx");
  ASSERT_TRUE(module);
  ASSERT_FALSE(ir::check(*module).errors.has_errors());
  // %rd1 (2 registers), %r1 and %r2 are alive before the addition; predicates count nothing.
  EXPECT_EQ(ir::register_pressure(*module, module->functions[0]), 4u);
  // %rd1 is a parameter, %r1 and %r2 are numbers: they are read where they are needed. Left: %r3.
  EXPECT_EQ(ir::estimated_registers(*module, module->functions[0]), 1u + ir::kRoom);
}

// Before compute capability 2.0 an address takes one register, whatever the PTX says.
TEST(Liveness, AddressesOf32Bits) {
  const std::string text = R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .u32 %r<2>;
  .reg .f64 %d<2>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 8;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.f64 %d1, [%rd3];
  st.global.f64 [%rd3], %d1;
  ret;
}
)";
  auto module = ir::parse(text, "k.ptx");
  ASSERT_TRUE(module);
  ASSERT_FALSE(ir::check(*module).errors.has_errors());
  // %rd3 and %d1: 4 registers, or 3.
  EXPECT_EQ(ir::estimated_registers(*module, module->functions[0]), 4u + ir::kRoom);
  EXPECT_EQ(ir::estimated_registers(*module, module->functions[0], 32), 3u + ir::kRoom);
}

TEST(Liveness, LoopsKeepWhatTheNextRoundNeeds) {
  const std::string text = R"(.version 7.0
.target sm_70
.address_size 64
.entry k() {
  .reg .pred %p;
  .reg .u32 %r<5>;
  mov.u32 %r1, 1;
  mov.u32 %r2, 2;
again:
  add.u32 %r3, %r1, 7;
  mul.lo.u32 %r4, %r3, %r3;
  setp.lt.u32 %p, %r4, %r2;
  @%p bra again;
  ret;
}
)";
  auto module = ir::parse(text, "k.ptx");
  ASSERT_TRUE(module);
  ASSERT_FALSE(ir::check(*module).errors.has_errors());
  // %r1 and %r2 live through the loop, with %r3 or %r4 beside them.
  EXPECT_EQ(ir::register_pressure(*module, module->functions[0]), 3u);
}

} // namespace launch_test
} // namespace warplens::api
