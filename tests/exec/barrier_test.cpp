// SPDX-License-Identifier: Apache-2.0
// Barriers of a block: which threads count and wait, reductions, and incorrect use.
#include "tests/exec/kernel_test.hpp"

namespace warplens::tests {
namespace barrier_test {

void expect_trap(const Ran& ran, const std::string& text) {
  EXPECT_NE(ran.trap.find(text), std::string::npos) << "got: " << ran.trap << "\nexpected: " << text;
}

TEST(Barrier, OrdersSharedMemory) {
  const Ran ran = run_kernel(kernel_of(R"(
    shl.b32 %r10, %r1, 2;
    mov.u32 %r11, s; add.u32 %r11, %r11, %r10;
    st.shared.u32 [%r11], %r1;
    bar.sync 0;
    sub.u32 %r12, 255, %r1; shl.b32 %r12, %r12, 2;
    mov.u32 %r13, s; add.u32 %r13, %r13, %r12;
    ld.shared.u32 %r14, [%r13];
    st.global.u32 [%rd2], %r14;
    ret;)",
                                       ".shared .align 4 .b8 s[1024];\n"),
                             {3, 256});
  ASSERT_EQ(ran.trap, "");
  for (std::uint32_t i = 0; i < 3 * 256; ++i) EXPECT_EQ(ran.words[i], 255 - i % 256);
}

// Named barriers with a thread count: two groups of warps that do not wait for each other.
TEST(Barrier, PartialBarriersCountThreads) {
  for (const char* barrier : {"bar.sync", "bar.cta.sync", "barrier.sync", "barrier.cta.sync.aligned"}) {
    const Ran ran = run_kernel(kernel_of("shr.u32 %r10, %r1, 6;\nadd.u32 %r11, %r10, 1;\n" + std::string(barrier) +
                                         " %r11, 64;\nst.global.u32 [%rd2], %r11;\nret;"),
                               {1, 128});
    ASSERT_EQ(ran.trap, "") << barrier;
    for (std::uint32_t i = 0; i < 128; ++i) EXPECT_EQ(ran.words[i], i / 64 + 1);
  }
}

// The producer-consumer example of the manual: one warp hands 50 numbers to another through one word of shared memory.
TEST(Barrier, ArriveDoesNotWait) {
  for (const char* form : {"bar.arrive", "barrier.cta.arrive.aligned"}) {
    const std::string arrive = form;
    const Ran ran =
        run_kernel(kernel_of("setp.lt.u32 %p1, %r1, 32; mov.u32 %r10, 0; mov.u32 %r12, 0; @%p1 bra PRODUCE;\n"
                             "CONSUME: bar.sync 0, 64; ld.shared.u32 %r11, [s]; add.u32 %r12, %r12, %r11;\n" +
                                 arrive +
                                 " 1, 64; add.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, 50; @%p2 bra CONSUME;\n"
                                 "bra END;\n"
                                 "PRODUCE: mul.lo.u32 %r13, %r10, %r10; st.shared.u32 [s], %r13;\n" +
                                 arrive +
                                 " 0, 64; bar.sync 1, 64; add.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, 50;\n"
                                 "@%p2 bra PRODUCE;\nEND: st.global.u32 [%rd2], %r12; ret;",
                             ".shared .align 4 .b8 s[4];\n"),
                   {1, 64});
    ASSERT_EQ(ran.trap, "") << form;
    for (std::uint32_t i = 32; i < 64; ++i) EXPECT_EQ(ran.words[i], 40425u) << form; // 0 + 1 + 4 + … + 49 * 49
  }
}

// 100 threads: the last warp has 4.
TEST(Barrier, ReducesPredicates) {
  const auto reduced = [](const std::string& statement) {
    const Ran ran = run_kernel(kernel_of("rem.u32 %r10, %r1, 3; setp.eq.u32 %p1, %r10, 0; setp.lt.u32 %p2, %r1, 100;\n"
                                         "setp.eq.u32 %p3, %r1, 99; mov.u32 %r11, 77;\n" +
                                         statement + "\nst.global.u32 [%rd2], %r11; ret;"),
                               {1, 100});
    EXPECT_EQ(ran.trap, "") << statement;
    for (const std::uint32_t w : ran.words) EXPECT_EQ(w, ran.words[0]) << statement;
    return ran.words[0];
  };
  const std::string as_number = "selp.u32 %r11, 1, 0, %p4;";
  EXPECT_EQ(reduced("bar.red.popc.u32 %r11, 0, %p1;"), 34u);
  EXPECT_EQ(reduced("bar.red.popc.u32 %r11, 1, 128, !%p1;"), 66u);
  EXPECT_EQ(reduced("barrier.cta.red.popc.aligned.u32 %r11, 15, %p2;"), 100u);
  EXPECT_EQ(reduced("bar.red.and.pred %p4, 0, %p2;" + as_number), 1u);
  EXPECT_EQ(reduced("bar.cta.red.and.pred %p4, 0, !%p3;" + as_number), 0u);
  EXPECT_EQ(reduced("barrier.red.or.pred %p4, 2, 128, %p3;" + as_number), 1u);
  EXPECT_EQ(reduced("barrier.red.or.aligned.pred %p4, 0, !%p2;" + as_number), 0u);
}

// A barrier begins anew each time, with the predicates too.
TEST(Barrier, ReductionsDoNotAddUp) {
  const Ran ran = run_kernel(kernel_of(R"(
    mov.u32 %r10, 0; mov.u32 %r11, 0;
    L: setp.lt.u32 %p1, %r1, %r10;
    bar.red.popc.u32 %r12, 0, %p1;
    add.u32 %r11, %r11, %r12;
    add.u32 %r10, %r10, 1; setp.le.u32 %p2, %r10, 96; @%p2 bra L;
    st.global.u32 [%rd2], %r11; ret;)"),
                             {2, 96});
  ASSERT_EQ(ran.trap, "");
  for (const std::uint32_t w : ran.words) EXPECT_EQ(w, 96u * 97 / 2);
}

TEST(Barrier, ThreadsThatHaveExitedDoNotCount) {
  const Ran ran = run_kernel(kernel_of(R"(
    setp.ge.u32 %p1, %r1, 70; @%p1 exit;
    setp.lt.u32 %p2, %r1, 68;
    bar.red.popc.u32 %r10, 0, 1;
    @%p2 bra MORE;
    st.global.u32 [%rd2], %r10; ret;
    MORE: bar.red.popc.u32 %r10, 0, 1;
    st.global.u32 [%rd2], %r10; ret;)"),
                             {1, 128});
  ASSERT_EQ(ran.trap, "");
  for (std::uint32_t i = 0; i < 128; ++i) EXPECT_EQ(ran.words[i], i < 68 ? 68u : i < 70 ? 70u : 0u) << i;
}

// From sm_70 on the threads of a warp may come to a barrier by different ways, and even to different barrier
// instructions; the warp has arrived when all are there.
constexpr const char* kTwoWays = R"(
    and.b32 %r10, %r1, 1; setp.eq.u32 %p1, %r10, 0; shl.b32 %r11, %r1, 2; mov.u32 %r12, s; add.u32 %r12, %r12, %r11;
    xor.b32 %r13, %r11, 252; mov.u32 %r14, s; add.u32 %r13, %r13, %r14;
    @%p1 bra EVEN;
    st.shared.u32 [%r12], %r1; bar.sync 0; bra MEET;
    EVEN: add.u32 %r15, %r1, 100; st.shared.u32 [%r12], %r15; bar.sync 0;
    MEET: ld.shared.u32 %r15, [%r13]; st.global.u32 [%rd2], %r15; ret;)";

TEST(Barrier, ThreadsOfAWarpMayComeByDifferentWays) {
  const Ran ran = run_kernel(kernel_of(kTwoWays, ".shared .align 4 .b8 s[256];\n", 70), {5, 64});
  ASSERT_EQ(ran.trap, "");
  for (std::uint32_t i = 0; i < 5 * 64; ++i) {
    const std::uint32_t other = 63 - i % 64;
    EXPECT_EQ(ran.words[i], other % 2 == 0 ? other + 100 : other) << i;
  }
}

TEST(Barrier, BeforeSm70AWarpComesAsAWhole) {
  const auto two_ways = kernel_of(kTwoWays, ".shared .align 4 .b8 s[256];\n", 60);
  expect_trap(run_kernel(two_ways, {1, 64}), "barrier in divergent code");
  const std::string guarded = "setp.lt.u32 %p1, %r1, 3;\n@!%p1 bra L;\nbar.sync 0;\nL: ret;";
  expect_trap(run_kernel(kernel_of(guarded, "", 60)), "barrier in divergent code");
  EXPECT_EQ(run_kernel(kernel_of(guarded, "", 70)).trap, ""); // the others exit
  expect_trap(run_kernel(kernel_of("and.b32 %r10, %r1, 1;\nbar.sync %r10;\nret;", "", 60)),
              "invalid barrier: the threads of a warp name different barriers or thread counts");
}

// Each thread goes through its own number of barriers, and then all through one.
TEST(Barrier, ThreadsLeaveALoopOfBarriersOneByOne) {
  const Ran ran = run_kernel(kernel_of(R"(
    mov.u32 %r10, 0; mov.u32 %r12, 0;
    L: barrier.red.popc.u32 %r11, 1, 1;
    add.u32 %r12, %r12, %r11;
    add.u32 %r10, %r10, 1; setp.le.u32 %p1, %r10, %r1; @%p1 bra L;
    st.global.u32 [%rd2], %r12; ret;)"),
                             {1, 64});
  ASSERT_EQ(ran.trap, "");
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(ran.words[i], sum += 64 - i) << i;
}

TEST(Barrier, GuardedOnBothSides) {
  const Ran ran = run_kernel(kernel_of(R"(
    setp.lt.u32 %p1, %r1, 40;
    @%p1 bar.red.popc.u32 %r10, 3, 1;
    @!%p1 bar.red.popc.u32 %r10, 3, 0;
    st.global.u32 [%rd2], %r10; ret;)"),
                             {1, 96});
  ASSERT_EQ(ran.trap, "");
  for (const std::uint32_t w : ran.words) EXPECT_EQ(w, 40u);
}

// Half of warp 0 only announces itself; the other half and warp 1 wait.
TEST(Barrier, OneWarpMayArriveAndWait) {
  const Ran ran = run_kernel(kernel_of(R"(
    setp.lt.u32 %p1, %r1, 16; mov.u32 %r10, 1; mov.u32 %r11, 5;
    @%p1 bra FIRST;
    barrier.sync 1, 64; ld.shared.u32 %r11, [s]; bra END;
    FIRST: st.shared.u32 [s], %r10; barrier.arrive 1, 64;
    END: st.global.u32 [%rd2], %r11; ret;)",
                                       ".shared .align 4 .b8 s[4];\n"),
                             {1, 64});
  ASSERT_EQ(ran.trap, "");
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(ran.words[i], i < 16 ? 5u : 1u) << i;
}

TEST(Barrier, WhatCannotCompleteIsADeadlock) {
  expect_trap(run_kernel(kernel_of("shr.u32 %r10, %r1, 5;\nbar.sync %r10;\nret;"), {1, 64}),
              "warp 0 waits at barrier 0 (line 10), warp 1 waits at barrier 1 (line 10)");
  expect_trap(
      run_kernel(kernel_of("setp.lt.u32 %p1, %r1, 8;\n@%p1 bra A;\nbar.sync 1;\nbra END;\nA: bar.sync 2;\nEND: ret;"),
                 {1, 32}),
      "warp 0 lanes 8-31 wait at barrier 1 (line 11), warp 0 lanes 0-7 wait at barrier 2 (line 13)");
  expect_trap(run_kernel(kernel_of("bar.sync 4, 96;\nret;"), {1, 64}), "deadlock");
  expect_trap(run_kernel(kernel_of("setp.lt.u32 %p1, %r1, 32;\n@%p1 bra L;\nbar.sync 1, 64;\nL: ret;"), {1, 64}),
              "warp 1 waits at barrier 1 (line 11)");
}

TEST(Barrier, WrongUseIsReported) {
  expect_trap(run_kernel(kernel_of("add.u32 %r10, %r1, 16;\nbar.sync %r10;\nret;"), {1, 1}),
              "barrier 16 does not exist: barriers are numbered 0 to 15");
  expect_trap(run_kernel(kernel_of("mov.u32 %r10, 33;\nbar.sync 0, %r10;\nret;")),
              "thread count 33 is not a positive multiple of 32");
  expect_trap(run_kernel(kernel_of("mov.u32 %r10, 0;\nbar.arrive 0, %r10;\nret;")),
              "thread count 0 is not a positive multiple of 32");
  expect_trap(
      run_kernel(kernel_of("setp.lt.u32 %p1, %r1, 32; selp.u32 %r10, 64, 96, %p1;\nbar.sync 1, %r10;\nret;"), {1, 96}),
      "barrier 1 expects 96 threads here, but 64 where other warps have arrived");
}

} // namespace barrier_test
} // namespace warplens::tests
