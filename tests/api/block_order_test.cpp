// SPDX-License-Identifier: Apache-2.0
// Blocks that wait for each other, or take ticket numbers: the report is the same with any number of threads, and
// waiting blocks do not starve the others.
#include "api/launch/launch.hpp"
#include "api/report/json_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <map>

namespace warplens::api {
namespace block_order_test {

// %rd1: 64 words of zeros; %rd2: one word per block, then two per block. %r1: thread index, %r2: block index, %r3:
// number of blocks. The amount of work depends on the block index; only the first thread of a block runs the body.
std::string kernel_of(const std::string& body) {
  return R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y) {
  .reg .pred %p<9>;
  .reg .b32 %r<30>;
  .reg .b64 %rd<20>;
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x;
  mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd2, %rd3;
  mul.wide.u32 %rd4, %r2, 8; add.u64 %rd4, %rd2, %rd4;
  setp.ne.u32 %p1, %r1, 0; @%p1 bra END;
)" + body +
         "\nEND: bar.sync 0; ret;\n}\n";
}

// Up to 2000 rounds, depending on the block.
std::string work(const std::string& label) {
  return "mul.lo.u32 %r20, %r2, 977; rem.u32 %r20, %r20, 1900; add.u32 %r20, %r20, 100;\n" + label +
         ": sub.u32 %r20, %r20, 1; setp.ne.u32 %p8, %r20, 0; @%p8 bra " + label + ";\n";
}

const std::string kUnderLock = "ld.volatile.global.u32 %r6, [%rd1+4];\n" + work("INSIDE") +
                               "add.u32 %r6, %r6, 1; st.volatile.global.u32 [%rd1+4], %r6; membar.gl;\n";

struct Case {
  const char* name;
  std::string body;
};

std::vector<Case> cases() {
  return {
      {"a lock by compare and swap",
       work("W") + "L: atom.global.cas.b32 %r5, [%rd1], 0, 1; setp.ne.u32 %p2, %r5, 0; @%p2 bra L;\n" + kUnderLock +
           "atom.global.exch.b32 %r5, [%rd1], 0;"},
      {"a lock by exchange", work("W") +
                                 "L: atom.global.exch.b32 %r5, [%rd1], 1; setp.ne.u32 %p2, %r5, 0; @%p2 bra L;\n" +
                                 kUnderLock + "st.volatile.global.u32 [%rd1], 0;"},
      {"a ticket lock", "atom.global.add.u32 %r4, [%rd1+8], 1;\n" + work("W") +
                            "L: ld.volatile.global.u32 %r5, [%rd1]; setp.ne.u32 %p2, %r5, %r4; @%p2 bra L;\n" +
                            kUnderLock + "add.u32 %r5, %r4, 1; st.volatile.global.u32 [%rd1], %r5;"},
      {"flags from block to block", // each waits for the next one
       work("W") + "add.u32 %r4, %r2, 1; setp.eq.u32 %p2, %r4, %r3; @%p2 bra SET;\n"
                   "L: ld.acquire.gpu.global.u32 %r5, [%rd3+4]; setp.eq.u32 %p2, %r5, 0; @%p2 bra L;\n"
                   "SET: st.release.gpu.global.u32 [%rd3], 1;"},
      {"a look-back scan", // state and value in one word of 64 bits: 1 a sum of the block's own, 2 of all before it,
                           // too
       work("W") +
           "add.u32 %r4, %r2, 5; mov.u32 %r5, 1; mov.b64 %rd5, {%r4, %r5};\n"
           "st.relaxed.gpu.global.u64 [%rd4], %rd5; mov.u64 %rd6, %rd4; mov.u32 %r7, %r2;\n"
           "BACK: setp.eq.u32 %p2, %r7, 0; @%p2 bra PUBLISH; sub.u64 %rd6, %rd6, 8; sub.u32 %r7, %r7, 1;\n"
           "L: ld.relaxed.gpu.global.u64 %rd7, [%rd6]; mov.b64 {%r8, %r9}, %rd7;\n"
           "setp.eq.u32 %p2, %r9, 0; @%p2 bra L; add.u32 %r4, %r4, %r8; setp.eq.u32 %p2, %r9, 1; @%p2 bra BACK;\n"
           "PUBLISH: mov.u32 %r5, 2; mov.b64 %rd5, {%r4, %r5}; st.relaxed.gpu.global.u64 [%rd4], %rd5;"},
      {"a barrier of the grid", work("W") +
                                    "membar.gl; atom.global.add.u32 %r4, [%rd1], 1;\n"
                                    "L: ld.volatile.global.u32 %r5, [%rd1]; setp.lt.u32 %p2, %r5, %r3; @%p2 bra L;\n"
                                    "st.global.u32 [%rd3], %r4;"},
      {"a flag without a word of it", // as programs have it that the compiler happens not to break
       work("W") + "setp.eq.u32 %p2, %r2, 5; @%p2 bra SET;\n"
                   "L: ld.global.u32 %r5, [%rd1]; setp.eq.u32 %p2, %r5, 0; @%p2 bra L;\n"
                   "SET: st.global.u32 [%rd1], 1;"},
      {"a queue of work", "L: atom.global.add.u32 %r4, [%rd1], 1; setp.ge.u32 %p2, %r4, 200; @%p2 bra END;\n"
                          "rem.u32 %r20, %r4, 37; add.u32 %r20, %r20, 2;\n"
                          "R: sub.u32 %r20, %r20, 1; setp.ne.u32 %p8, %r20, 0; @%p8 bra R; bra L;"},
      {"places that are drawn",
       work("W") + "atom.global.add.u32 %r4, [%rd1], 1; rem.u32 %r4, %r4, 3; mul.wide.u32 %rd5, %r4, 36;\n"
                   "add.u64 %rd5, %rd2, %rd5; st.global.v2.u32 [%rd4], {%r2, %r2}; setp.eq.u32 %p2, %r4, 0;\n"
                   "@%p2 st.global.u32 [%rd5], %r2;"},
      {"the last block", work("W") +
                             "st.global.u32 [%rd3], %r2; membar.gl; atom.global.inc.u32 %r4, [%rd1], 1000;\n"
                             "sub.u32 %r5, %r3, 1; setp.ne.u32 %p2, %r4, %r5; @%p2 bra END;\n" +
                             work("M")},
  };
}

class BlockOrder : public ::testing::Test {
protected:
  void SetUp() override { context_ = *Context::create(); }

  struct Result {
    std::string report;
    double seconds; ///< of processors
  };
  Result run(const std::shared_ptr<Module>& module, unsigned workers) {
    const auto x = *Buffer::allocate(context_, 256, "x"), y = *Buffer::allocate(context_, 4096, "y");
    LaunchRequest request;
    request.kernel = *module->kernel("k");
    request.grid = {8, 1, 1}; // each that waits does so for half a million instructions before another one starts
    request.block = {64, 1, 1};
    request.arguments = {Argument::buffer(*x), Argument::buffer(*y)};
    request.device = *load_device("h200");
    request.options.workers = workers;
    request.options.per_block = true;
    const std::clock_t start = std::clock();
    const auto report = launch(request);
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_TRUE(report);
    if (!report) return {};
    EXPECT_FALSE(report->trap) << report->trap->message;
    return {json_report(report->device, {&*report, 1}), seconds};
  }

  std::shared_ptr<Context> context_;
};

TEST_F(BlockOrder, IsTheSameWithAnyNumberOfThreads) {
  for (const auto& [name, body] : cases()) {
    const auto module = Module::load(context_, kernel_of(body), "k.ptx");
    ASSERT_TRUE(module) << name << render(module.error(), kernel_of(body));
    const std::string expected = run(*module, 1).report;
    std::map<unsigned, double>
        seconds; // the least of several runs in turn: other programs on the machine cost time, too
    for (int i = 0; i < 10; ++i)
      for (const unsigned workers : {1u, 2u, 3u, 7u}) {
        const Result result = run(*module, workers);
        ASSERT_EQ(result.report, expected) << name << " with " << workers << " threads";
        const auto [least, first] = seconds.try_emplace(workers, result.seconds);
        if (!first) least->second = std::min(least->second, result.seconds);
      }
    EXPECT_LT(seconds[7], 1.5 * seconds[1] + 0.005) << name;
  }
}

// 40 blocks that print 2 MiB each: a block may print 1 MiB, and a launch 32.
TEST_F(BlockOrder, DecidesWhatIsPrinted) {
  const auto module = Module::load(context_, R"(.version 8.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 text[8] = {37, 54, 53, 53, 51, 54, 100, 0}; // %65536d
.visible .entry k() {
  .reg .pred %p1;
  .reg .b32 %r<5>;
  .reg .b64 %rd<4>;
  .local .align 8 .b8 number[8];
  mov.u64 %rd1, text; mov.u64 %rd3, number; cvta.local.u64 %rd2, %rd3; mov.u32 %r1, %ctaid.x; st.local.u32 [number], %r1; mov.u32 %r2, 0;
L:
  {
    .param .b64 format; .param .b64 arguments; .param .b32 r;
    st.param.b64 [format], %rd1; st.param.b64 [arguments], %rd2;
    call.uni (r), vprintf, (format, arguments);
    ld.param.b32 %r3, [r];
  }
  add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 32; @%p1 bra L;
  ret;
}
)",
                                   "k.ptx");
  ASSERT_TRUE(module) << render(module.error(), "");
  LaunchRequest request;
  request.kernel = *(*module)->kernel("k");
  request.grid = {40, 1, 1};
  request.device = *load_device("h200");
  request.options.analyze = false;
  std::string expected;
  for (int block = 0; block < 32; ++block)
    for (int i = 0; i < 16; ++i)
      expected += std::string(65536 - std::to_string(block).size(), ' ') + std::to_string(block);
  for (const unsigned workers : {1u, 7u}) {
    request.options.workers = workers;
    const auto report = launch(request);
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->printed == expected) << workers << " threads, " << report->printed.size() << " characters";
  }
}

} // namespace block_order_test
} // namespace warplens::api
