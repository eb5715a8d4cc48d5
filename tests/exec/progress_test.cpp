// SPDX-License-Identifier: Apache-2.0
// Blocks and warps that wait for each other make progress, with any number of workers. Exactly the kernels that cannot
// make progress are reported.
#include "tests/exec/kernel_test.hpp"

namespace warplens::tests {
namespace progress_test {

constexpr unsigned kWorkers[] = {1, 2, 4};

void expect_trap(const Ran& ran, const std::string& text) {
  EXPECT_NE(ran.trap.find(text), std::string::npos) << "got: " << ran.trap << "\nexpected: " << text;
}

TEST(Progress, ABlockMayWaitForALaterOne) {
  for (const unsigned workers : kWorkers) {
    const Ran ran = run_kernel(kernel_of(R"(
      setp.eq.u32 %p1, %r3, 7;
      @%p1 bra WRITE;
      WAIT: ld.volatile.global.u32 %r10, [%rd1+28];
      setp.eq.u32 %p2, %r10, 0;
      @%p2 bra WAIT;
      mov.u32 %r11, 5;
      st.global.u32 [%rd2], %r11;
      ret;
      WRITE: mov.u32 %r10, 9; st.global.u32 [%rd2], %r10;
      ret;)"),
                               {8, 1, 0, nullptr, workers});
    ASSERT_EQ(ran.trap, "");
    for (std::uint32_t i = 0; i < 8; ++i) EXPECT_EQ(ran.words[i], i == 7 ? 9u : 5u);
  }
}

// The others wait while block 0 works for long: in registers, then with the state of its loop in memory, where nobody
// sees it change for a million turns at a time.
TEST(Progress, WaitingForLongIsNoDeadlock) {
  const char* const loops[] = {
      "mov.u32 %r10, 0; L: add.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, 3000000; @%p2 bra L;",
      "L: red.global.add.u32 [%rd1+68], 1; ld.volatile.global.u32 %r10, [%rd1+68]; shr.u32 %r10, %r10, 20;\n"
      "setp.lt.u32 %p2, %r10, 2; @%p2 bra L;"};
  for (const std::string loop : loops)
    for (const unsigned workers : kWorkers) {
      const Ran ran = run_kernel(kernel_of("setp.ne.u32 %p1, %r3, 0; @%p1 bra WAIT;\n" + loop + R"(
        mov.u32 %r11, 1; st.volatile.global.u32 [%rd1+64], %r11; bra END;
        WAIT: ld.volatile.global.u32 %r11, [%rd1+64]; setp.eq.u32 %p1, %r11, 0; @%p1 bra WAIT;
        END: st.global.u32 [%rd2], %r11; ret;)"),
                                 {4, 4, 18, nullptr, workers});
      ASSERT_EQ(ran.trap, "") << loop;
      for (std::uint32_t i = 0; i < 16; ++i) EXPECT_EQ(ran.words[i], 1u);
    }
}

// Prefix sums of today's libraries publish a state and its value by one store of 16 bytes, in front of the eyes of
// other blocks: whoever sees one word new sees all of them new.
TEST(Progress, StrongVectorAccessesAreSeenWhole) {
  constexpr const char* kAccesses[][2] = {{"v4.u32 {%r11, %r12, %r13, %r14}", ""},
                                          {"v2.u64 {%rd11, %rd12}", "cvt.u64.u32 %rd11, %r10; mov.u64 %rd12, %rd11;"},
                                          {"v2.u32 {%r11, %r12}", ""}};
  for (const auto& [vector, prepare] : kAccesses) {
    const std::string words = vector, form = words.substr(0, 6), registers = words.substr(7);
    const bool wide = form == "v2.u64", pair = form == "v2.u32";
    const Ran ran = run_kernel(
        kernel_of("add.u64 %rd10, %rd1, 64; mov.u32 %r10, 0; mov.u32 %r20, 0; setp.ne.u32 %p1, %r3, 0; @%p1 bra READ;\n"
                  "WRITE: add.u32 %r10, %r10, 1; mov.u32 %r11, %r10; mov.u32 %r12, %r10; mov.u32 %r13, %r10;\n"
                  "mov.u32 %r14, %r10; " +
                  std::string(prepare) + "st.relaxed.gpu.global." + form + " [%rd10], " + registers + ";\n" +
                  "setp.lt.u32 %p2, %r10, 400000; @%p2 bra WRITE; ret;\n"
                  "READ: ld.relaxed.gpu.global." +
                  form + " " + registers + ", [%rd10];\n" +
                  (wide ? "cvt.u32.u64 %r11, %rd11; cvt.u32.u64 %r12, %rd12; mov.u32 %r13, %r11; mov.u32 %r14, %r11;\n"
                   : pair ? "mov.u32 %r13, %r11; mov.u32 %r14, %r11;\n"
                          : "") +
                  "setp.ne.u32 %p2, %r11, %r12; @%p2 add.u32 %r20, %r20, 1;\n"
                  "setp.ne.u32 %p2, %r11, %r13; @%p2 add.u32 %r20, %r20, 1;\n"
                  "setp.ne.u32 %p2, %r11, %r14; @%p2 add.u32 %r20, %r20, 1;\n"
                  "setp.lt.u32 %p2, %r11, 400000; @%p2 bra READ;\n"
                  "st.global.u32 [%rd2], %r20; ret;"),
        {2, 1, 32, nullptr, 2});
    ASSERT_EQ(ran.trap, "") << form;
    EXPECT_EQ(ran.words[1], 0u) << form;
  }
}

// A ring of warps and blocks in which a token goes around.
TEST(Progress, ATokenGoesAround) {
  for (const unsigned workers : kWorkers) {
    const Ran ran = run_kernel(kernel_of(R"(
      mov.u32 %r13, %ntid.x; mov.u32 %r14, %nctaid.x; mul.lo.u32 %r13, %r13, %r14; mov.u32 %r10, 0; mov.u32 %r11, %r2;
      ROUND:
      WAIT: nanosleep.u32 50; ld.acquire.gpu.global.u32 %r12, [%rd1]; setp.ne.u32 %p1, %r12, %r11; @%p1 bra WAIT;
      add.u32 %r12, %r12, 1; st.release.gpu.global.u32 [%rd1], %r12;
      add.u32 %r11, %r11, %r13; add.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, 3; @%p2 bra ROUND;
      ret;)"),
                               {3, 40, 1, nullptr, workers});
    ASSERT_EQ(ran.trap, "") << workers;
    EXPECT_EQ(ran.words[0], 3u * 40 * 3);
  }
}

TEST(Deadlock, WhatRepeatsItselfForEverIsReported) {
  for (const unsigned workers : kWorkers) {
    expect_trap(run_kernel(kernel_of("L: bra L;"), {4, 64, 0, nullptr, workers}),
                "deadlock: the block makes no progress: warp 0 lanes 0-31 repeat line 9, "
                "warp 1 lanes 0-31 repeat line 9"
                "\n  in kernel k, by thread (0,0,0) in block (0,0,0)");
    expect_trap(
        run_kernel(kernel_of("setp.lt.u32 %p1, %r2, 40;\n@%p1 bra END;\nL: ld.volatile.global.u32 %r10, [%rd1];\n"
                             "setp.eq.u32 %p2, %r10, 0;\n@%p2 bra L;\nEND: ret;"),
                   {3, 32, 0, nullptr, workers}),
        "warp 0 lanes 8-31 repeat lines 11-13\n  in kernel k, by thread (8,0,0) in block (1,0,0)");
  }
}

// Some wait at a barrier for one that spins; all of them poll, with barriers in between.
TEST(Deadlock, SpinningAndWaiting) {
  for (const unsigned workers : kWorkers) {
    expect_trap(run_kernel(kernel_of("setp.lt.u32 %p1, %r1, 32;\n@%p1 bra W;\nL: ld.volatile.global.u32 %r10, [%rd1];\n"
                                     "setp.eq.u32 %p2, %r10, 0;\n@%p2 bra L;\nW: bar.sync 0;\nret;"),
                           {1, 64, 0, nullptr, workers}),
                "warp 0 waits at barrier 0 (line 14), warp 1 lanes 0-31 repeat lines 11-13");
    expect_trap(run_kernel(kernel_of("L: ld.volatile.global.u32 %r10, [%rd1];\nsetp.ne.u32 %p1, %r10, 0;\n"
                                     "bar.red.or.pred %p2, 0, %p1;\n@!%p2 bra L;\nret;"),
                           {2, 96, 0, nullptr, workers}),
                "deadlock: the block makes no progress");
  }
}

// The lowest block of those that are stuck is named, and a trap elsewhere is the better reason.
TEST(Deadlock, OfALaterBlockAndBesideATrap) {
  for (const unsigned workers : kWorkers) {
    expect_trap(run_kernel(kernel_of("setp.lt.u32 %p1, %r3, 5;\n@%p1 bra END;\nL: bra L;\nEND: ret;"),
                           {9, 32, 0, nullptr, workers}),
                "in block (5,0,0)");
    expect_trap(
        run_kernel(kernel_of("setp.eq.u32 %p1, %r3, 6;\n@%p1 trap;\nL: bra L;\nret;"), {9, 32, 0, nullptr, workers}),
        "the kernel executed a trap instruction");
  }
}

// Who hands in host memory may write to it while the kernel runs.
TEST(Deadlock, IsNotReportedWhereTheHostMayHelp) {
  Emulated machine(kernel_of("L: ld.volatile.global.u32 %r10, [%rd1]; setp.eq.u32 %p1, %r10, 0; @%p1 bra L; ret;"),
                   "k");
  Emulated::Request request;
  request.kernel = "k";
  request.shape.block[0] = 32;
  request.arguments.push_back({machine.buffer({0}), 8});
  request.host_pointers = true;
  request.max_steps = 20'000'000;
  EXPECT_NE(machine.run(request).find("step limit reached"), std::string::npos);
}

// What cooperative_groups makes of grid.sync(): a counter in the workspace whose address is in two special registers.
// More blocks than a worker would otherwise begin.
TEST(Cooperative, AGridHasABarrier) {
  for (const unsigned workers : kWorkers) {
    const Ran ran = run_kernel(kernel_of(R"(
      mov.u32 %r10, %envreg1; mov.u32 %r11, %envreg2; mov.b64 %rd10, {%r11, %r10};
      mov.u32 %r12, %nctaid.x; setp.eq.u32 %p1, %r3, 0; sub.u32 %r13, 0x80000001, %r12; selp.u32 %r13, %r13, 1, %p1;
      setp.ne.u32 %p2, %r1, 0; mov.u32 %r20, 0; mov.u32 %r21, 0;
      ROUND: st.volatile.global.u32 [%rd2], %r20;
      barrier.sync 0;
      @%p2 bra HERE;
      atom.add.release.gpu.u32 %r14, [%rd10+4], %r13;
      WAIT: ld.acquire.gpu.u32 %r15, [%rd10+4]; xor.b32 %r15, %r15, %r14; setp.ge.s32 %p3, %r15, 0; @%p3 bra WAIT;
      HERE: barrier.sync 0;
      add.u32 %r16, %r2, %r4; mul.lo.u32 %r17, %r12, %r4; rem.u32 %r16, %r16, %r17;
      mul.wide.u32 %rd11, %r16, 4; add.u64 %rd11, %rd1, %rd11; ld.volatile.global.u32 %r18, [%rd11];
      sub.u32 %r18, %r18, %r20; abs.s32 %r18, %r18; max.u32 %r21, %r21, %r18;
      add.u32 %r20, %r20, 1; setp.lt.u32 %p4, %r20, 10; @%p4 bra ROUND;
      add.u32 %r21, %r21, 100; st.global.u32 [%rd2+39600], %r21; // 300 * 33 words
      ret;)"),
                               {300, 33, 2 * 300 * 33, nullptr, workers, nullptr, 0, true});
    ASSERT_EQ(ran.trap, "") << workers;
    for (std::size_t i = 300 * 33; i < ran.words.size(); ++i) // the neighbour may be a round ahead, no more
      ASSERT_TRUE(ran.words[i] == 100 || ran.words[i] == 101) << ran.words[i];
  }
}

} // namespace progress_test
} // namespace warplens::tests
