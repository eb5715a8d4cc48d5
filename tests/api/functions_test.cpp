// SPDX-License-Identifier: Apache-2.0
// Kernels with function calls: linking several files, printf output, the device heap.
#include "api/launch/launch.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace warplens::api {
namespace functions_test {

constexpr std::string_view kHeader = ".version 8.3\n.target sm_75\n.address_size 64\n";

class FunctionsTest : public ::testing::Test {
protected:
  void SetUp() override { context_ = *Context::create(); }

  static Source source(std::string_view file, std::string_view text) {
    return {std::string(kHeader) + std::string(text), std::string(file)};
  }

  std::shared_ptr<Module> load(const std::vector<Source>& sources) {
    auto module = Module::load(context_, sources);
    EXPECT_TRUE(module) << (module ? "" : render(module.error(), sources.front().text));
    return module ? *module : nullptr;
  }

  LaunchReport run(const std::shared_ptr<Module>& module, std::uint64_t blocks, std::uint64_t threads,
                   const std::vector<Argument>& arguments, unsigned workers = 1) {
    LaunchRequest r;
    r.kernel = *module->kernel("k");
    r.grid = {blocks, 1, 1};
    r.block = {threads, 1, 1};
    r.arguments = arguments;
    r.device = *load_device("h200");
    r.options.workers = workers;
    r.options.analyze = analyze_;
    const auto report = launch(r);
    EXPECT_TRUE(report) << render(report.error(), "");
    return report ? *report : LaunchReport{};
  }

  std::shared_ptr<Context> context_;
  bool analyze_ = true;
};

constexpr std::string_view kCaller = R"(
.extern .func (.param .b32 r) twice(.param .b32 a);
.extern .global .u32 offset;
.func (.param .b32 r) own(.param .b32 a) { .reg .b32 %r; ld.param.b32 %r, [a]; st.param.b32 [r], %r; ret; }
.visible .entry k(.param .u64 x)
{
  .reg .b32 %r<9>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [x];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  call (%r2), own, (%r1);
  call (%r2), twice, (%r2);
  ld.global.u32 %r3, [offset];
  add.u32 %r2, %r2, %r3;
  st.global.u32 [%rd1], %r2;
  ret;
})";
constexpr std::string_view kCalled = R"(
.visible .global .u32 offset = 1000;
.func (.param .b32 r) own(.param .b32 a) { .reg .b32 %r; ld.param.b32 %r, [a]; shl.b32 %r, %r, 1; st.param.b32 [r], %r; ret; }
.visible .func (.param .b32 r) twice(.param .b32 a)
{
  .reg .b32 %r<9>;
  ld.param.b32 %r1, [a];
  call (%r2), own, (%r1);
  st.param.b32 [r], %r2;
  ret;
})";

TEST_F(FunctionsTest, FilesAreLinked) {
  const auto module = load({source("a.ptx", kCaller), source("b.ptx", kCalled)});
  EXPECT_TRUE(module->warnings().list().empty());
  const auto x = *Buffer::allocate(context_, 128, "x");
  const LaunchReport report = run(module, 1, 32, {Argument::buffer(*x)});
  EXPECT_FALSE(report.trap);
  for (std::uint32_t i = 0; i < 32; ++i) {
    std::uint32_t value = 0;
    std::memcpy(&value, &x->bytes()[4 * i], 4);
    EXPECT_EQ(value, 2 * i + 1000);
  }
  // Rows of the report: those of the kernel and of its functions.
  bool called = false;
  for (const auto& row : report.profile.instructions) called = called || row.ptx == "shl.b32 %r, %r, 1;";
  EXPECT_TRUE(called);
}

TEST_F(FunctionsTest, WithoutTheOtherFileTheKernelIsRefused) {
  const auto module = load({source("a.ptx", kCaller)});
  ASSERT_EQ(module->unsupported().size(), 1u);
  EXPECT_EQ(module->unsupported()[0].why.message, "'twice' is declared but not defined");
  EXPECT_FALSE(module->program(*module->kernel("k")->function, false, ""));
}

TEST_F(FunctionsTest, ATrapNamesTheFileOfItsFunction) {
  const auto module = load({source("a.ptx", ".extern .func f(); .visible .entry k() { call f; ret; }"),
                            source("b.ptx", ".visible .func f() {\ntrap; }")});
  const LaunchReport report = run(module, 1, 32, {});
  ASSERT_TRUE(report.trap);
  EXPECT_EQ(report.trap->file, "b.ptx");
  EXPECT_EQ(report.trap->where.line, 5u);
}

TEST_F(FunctionsTest, WhatIsPrintedIsInTheOrderOfTheBlocks) {
  const auto module = load({source("p.ptx", R"(
.extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 text[5] = {37, 100, 32, 0};
.visible .entry k(.param .u32 last)
{
  .local .align 8 .b8 arguments[8];
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p;
  mov.u32 %r1, %ctaid.x;
  mov.u64 %rd1, arguments;
  cvta.local.u64 %rd2, %rd1;
  st.local.u32 [%rd1], %r1;
  mov.u64 %rd3, text;
  cvta.global.u64 %rd3, %rd3;
  call (%r2), vprintf, (%rd3, %rd2);
  ld.param.u32 %r3, [last];
  setp.eq.u32 %p, %r1, %r3;
  @%p trap;
  ret;
})")});
  std::string all;
  for (int i = 0; i < 200; ++i) all += std::to_string(i) + " ";
  for (const bool analyze : {true, false}) {
    analyze_ = analyze;
    for (const unsigned workers : {1u, 4u})
      EXPECT_EQ(run(module, 200, 1, {*Argument::scalar(Type::u32, std::int64_t{1000})}, workers).printed, all);
  }
  // Of blocks behind the one that stopped the kernel nothing is shown, whether they ran or not.
  for (const unsigned workers : {1u, 4u}) {
    const LaunchReport stopped = run(module, 200, 1, {*Argument::scalar(Type::u32, std::int64_t{3})}, workers);
    ASSERT_TRUE(stopped.trap);
    EXPECT_EQ(stopped.printed, "0 1 2 3 ");
  }
}

TEST_F(FunctionsTest, TheHeapOutlivesALaunch) {
  const auto module = load({source("h.ptx", R"(
.extern .func (.param .b64 r) malloc(.param .b64 size);
.visible .global .u64 kept;
.visible .entry k(.param .u64 x)
{
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p;
  ld.param.u64 %rd1, [x];
  ld.global.u64 %rd2, [kept];
  setp.ne.u64 %p, %rd2, 0;
  @%p bra AGAIN;
  call (%rd2), malloc, (64);
  st.global.u64 [kept], %rd2;
  st.u32 [%rd2+60], 77;
  ret;
AGAIN:
  ld.u32 %r1, [%rd2+60];
  st.global.u32 [%rd1], %r1;
  ret;
})")});
  const auto x = *Buffer::allocate(context_, 4, "x");
  EXPECT_FALSE(run(module, 1, 1, {Argument::buffer(*x)}).trap);
  EXPECT_FALSE(run(module, 1, 1, {Argument::buffer(*x)}).trap);
  std::uint32_t value = 0;
  std::memcpy(&value, x->bytes().data(), 4);
  EXPECT_EQ(value, 77u);
}

} // namespace functions_test
} // namespace warplens::api
