// SPDX-License-Identifier: Apache-2.0
// The paths of a diverged warp from sm_70 on: they run alternately, and reconverge at warp-synchronous instructions.
#include "tests/exec/kernel_test.hpp"

#include <random>

namespace warplens::tests {
namespace paths_test {

void expect_trap(const Ran& ran, const std::string& text) {
  EXPECT_NE(ran.trap.find(text), std::string::npos) << "got: " << ran.trap << "\nexpected: " << text;
}

// The lane that gets the lock has left the loop in which the others retry: neither may wait for the other.
constexpr const char* kSpinLock = R"(
    TRY: atom.global.cas.b32 %r10, [%rd1+256], 0, 1;
    setp.ne.u32 %p1, %r10, 0;
    @%p1 bra TRY;
    ld.volatile.global.u32 %r11, [%rd1]; add.u32 %r11, %r11, 1; st.volatile.global.u32 [%rd1], %r11;
    atom.global.exch.b32 %r12, [%rd1+256], 0;
    ret;)";

TEST(Turns, ASpinLockBetweenLanesEnds) {
  for (const unsigned workers : {1u, 2u, 4u}) {
    const Ran ran = run_kernel(kernel_of(kSpinLock, "", 70), {3, 48, 65, nullptr, workers});
    ASSERT_EQ(ran.trap, "");
    EXPECT_EQ(ran.words[0], 3u * 48);
  }
}

// The retries are counted, so that the warp never repeats its state.
TEST(Turns, ASpinLockThatCountsEnds) {
  std::string counting = kSpinLock;
  counting.replace(counting.find("setp"), 0, "add.u32 %r13, %r13, 1; ");
  const Ran ran = run_kernel(kernel_of(counting, "", 70), {1, 4, 65});
  ASSERT_EQ(ran.trap, "");
  EXPECT_EQ(ran.words[0], 4u);
}

TEST(Turns, BeforeSm70ASpinLockIsADeadlock) {
  for (const unsigned workers : {1u, 2u, 4u})
    expect_trap(
        run_kernel(kernel_of(kSpinLock, "", 60), {2, 32, 65, nullptr, workers}),
        "deadlock: the block makes no progress: warp 0 lanes 1-31 repeat lines 10-12, warp 0 lane 0 waits at line "
        "13 and gets no turn on targets before sm_70 while lanes 1-31 run");
}

// Lane 0 writes what the others wait for, but they come first.
TEST(Turns, LanesMayWaitForASibling) {
  const std::string body = R"(
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra WAIT;
    mov.u32 %r10, 9; st.volatile.global.u32 [%rd1+128], %r10; bra END;
    WAIT: SLEEP ld.volatile.global.u32 %r10, [%rd1+128];
    setp.eq.u32 %p2, %r10, 0;
    @%p2 bra WAIT;
    END: st.global.u32 [%rd2], %r10;
    ret;)";
  for (const char* sleep : {"", "nanosleep.u32 100;"}) {
    std::string text = body;
    text.replace(text.find("SLEEP"), 5, sleep);
    const Ran ran = run_kernel(kernel_of(text, "", 70), {1, 32, 33});
    ASSERT_EQ(ran.trap, "") << sleep;
    for (std::uint32_t i = 0; i < 33; ++i) EXPECT_EQ(ran.words[i], 9u);
  }
  std::string text = body;
  text.replace(text.find("SLEEP"), 5, "");
  expect_trap(run_kernel(kernel_of(text, "", 60), {1, 32, 33}), "warp 0 lanes 1-31 repeat lines 13-15");
}

// Every lane waits for the one before it, each in a loop of its own: 32 paths at once.
TEST(Turns, AChainOfLanes) {
  std::string body;
  for (int i = 31; i > 0; --i) {
    const std::string n = std::to_string(i), before = std::to_string(4 * (i - 1));
    body += "setp.ne.u32 %p1, %r1, " + n + "; @%p1 bra N" + n + ";\nW" + n + ": ld.volatile.global.u32 %r10, [%rd1+" +
            before + "]; setp.eq.u32 %p2, %r10, 0; @%p2 bra W" + n + "; add.u32 %r10, %r10, 3; bra STORE;\nN" + n +
            ":\n";
  }
  const Ran ran = run_kernel(kernel_of(body + "mov.u32 %r10, 1;\nSTORE: st.volatile.global.u32 [%rd2], %r10; ret;"));
  ASSERT_EQ(ran.trap, "");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.words[i], 3 * i + 1);
}

// Long loops of different lengths inside each other, so that turns end everywhere: each lane computes what it would
// compute alone.
TEST(Turns, DoNotChangeWhatLanesCompute) {
  std::mt19937 random(11);
  for (int round = 0; round < 12; ++round) {
    const std::string a = std::to_string(random() % 7), b = std::to_string(1 + random() % 5);
    const std::string ptx = kernel_of(R"(
      mad.lo.u32 %r20, %r2, 77, 5; and.b32 %r10, %r2, 7; add.u32 %r10, %r10, )" +
                                      b + R"(;
      OUTER: shr.u32 %r21, %r20, )" + a +
                                      R"(; and.b32 %r22, %r21, 1; setp.eq.u32 %p1, %r22, 0;
      mul.lo.u32 %r11, %r10, 300; and.b32 %r23, %r21, 1023; add.u32 %r11, %r11, %r23;
      @%p1 bra OTHER;
      INNER: mad.lo.u32 %r20, %r20, 31, 7; sub.u32 %r11, %r11, 1; setp.gt.s32 %p2, %r11, 0; @%p2 bra INNER;
      bra NEXT;
      OTHER: mad.lo.u32 %r20, %r20, 17, %r2; xor.b32 %r20, %r20, %r11; sub.u32 %r11, %r11, 2; setp.gt.s32 %p2, %r11, 0;
      @%p2 bra OTHER;
      and.b32 %r24, %r20, 63; setp.eq.u32 %p3, %r24, 5; @%p3 st.global.u32 [%rd2], %r20; @%p3 exit;
      NEXT: sub.u32 %r10, %r10, 1; setp.gt.s32 %p2, %r10, 0; @%p2 bra OUTER;
      st.global.u32 [%rd2], %r20; ret;)");
    Emulated machine(ptx, "loops.ptx");
    const Ran together = run_on(machine, {2, 48}), alone = run_on(machine, {96, 1});
    ASSERT_EQ(together.trap, "") << ptx;
    ASSERT_EQ(together.words, alone.words) << ptx;
  }
}

// Two ways lead to the instruction, and the branch where they part has its meeting place behind it.
std::string two_ways(const std::string& instruction) {
  return kernel_of(R"(
    setp.lt.u32 %p1, %r1, 12; setp.gt.u32 %p3, %r1, 99; mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r12, -1;
    mov.u32 %r13, 0xfff; and.b32 %r14, %r1, 3;
    @%p1 bra A;
    add.u32 %r11, %r1, 100; mov.u32 %r13, 0xfffff000; bra X;
    A: add.u32 %r11, %r1, 200; @%p3 bra END;
    X: )" + instruction +
                   R"(
    END: st.global.u32 [%rd2], %r10; ret;)");
}

TEST(Members, WaitForEachOther) {
  const auto each = [](const std::string& instruction, auto expected) {
    const Ran ran = run_kernel(two_ways(instruction));
    ASSERT_EQ(ran.trap, "") << instruction;
    for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.words[i], expected(i)) << instruction << " lane " << i;
  };
  const auto value = [](std::uint32_t lane) { return lane + (lane < 12 ? 200 : 100); };
  each("shfl.sync.idx.b32 %r10, %r11, 11, 31, -1;", [&](std::uint32_t) { return value(11); });
  each("shfl.sync.bfly.b32 %r10, %r11, 31, 31, %r12;", [&](std::uint32_t i) { return value(31 - i); });
  each("shfl.sync.bfly.b32 %r11, %r11, 1, 31, %r12; mov.u32 %r10, %r11;",
       [&](std::uint32_t i) { return value(i ^ 1); });
  each("vote.sync.ballot.b32 %r10, %p1, -1;", [](std::uint32_t) { return 0xfffu; });
  each("match.any.sync.b32 %r10, %r14, -1;", [](std::uint32_t i) { return 0x11111111u << (i & 3); });
  each("redux.sync.add.u32 %r10, %r1, -1;", [](std::uint32_t) { return 496u; });
  each("elect.sync %r10|%p4, -1;", [](std::uint32_t) { return 0u; });
  each("redux.sync.add.u32 %r10, %r1, %r13;", [](std::uint32_t i) { return i < 12 ? 66u : 430u; });
  each("activemask.b32 %r10;", [](std::uint32_t i) { return i < 12 ? 0xfffu : 0xfffff000u; }); // does not wait
}

// The masks of one path: a group that is there goes on, another one waits.
TEST(Members, GroupsOfOnePathWaitByThemselves) {
  const Ran ran = run_kernel(kernel_of(R"(
    setp.ge.u32 %p1, %r1, 24; setp.gt.u32 %p3, %r1, 99; setp.lt.u32 %p2, %r1, 8;
    selp.b32 %r12, 0xff, 0xffffff00, %p2;
    @%p1 bra A;
    bra X;
    A: @%p3 bra END;
    X: redux.sync.add.u32 %r10, %r1, %r12;
    END: st.global.u32 [%rd2], %r10; ret;)"));
  ASSERT_EQ(ran.trap, "");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.words[i], i < 8 ? 28u : 468u) << i;
}

// A lane that a mask names may come late, exit first, or come from another bar.warp.sync.
TEST(Members, LanesComeInTheirOwnTime) {
  const Ran late = run_kernel(kernel_of(R"(
    setp.ne.u32 %p1, %r1, 5; mov.u32 %r10, 1;
    @%p1 redux.sync.add.u32 %r10, %r1, 0xffffffdf;
    bar.warp.sync -1;
    st.global.u32 [%rd2], %r10; ret;)"));
  ASSERT_EQ(late.trap, "");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(late.words[i], i == 5 ? 1u : 491u);
  const Ran exits = run_kernel(kernel_of(R"(
    setp.ge.u32 %p1, %r1, 16; @%p1 bra DONE;
    redux.sync.add.u32 %r10, %r1, -1; st.global.u32 [%rd2], %r10;
    DONE: ret;)"));
  ASSERT_EQ(exits.trap, "");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(exits.words[i], i < 16 ? 120u : 0u);
  const Ran places = run_kernel(kernel_of(R"(
    setp.lt.u32 %p1, %r1, 16; shl.b32 %r11, %r1, 2; mov.u32 %r12, s; add.u32 %r13, %r12, %r11;
    @%p1 bra LOW;
    st.shared.u32 [%r13], %r1; bar.warp.sync -1; ld.shared.u32 %r10, [%r13+-64]; bra END;
    LOW: st.shared.u32 [%r13], %r1; bar.warp.sync -1; ld.shared.u32 %r10, [%r13+64];
    END: st.global.u32 [%rd2], %r10; ret;)",
                                          ".shared .align 4 .b8 s[128];\n"));
  ASSERT_EQ(places.trap, "");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(places.words[i], i ^ 16) << i;
}

// Lanes talk in a loop that each of them leaves at another time, as in programs for sm_70 that name who is left.
TEST(Members, ALoopOfShrinkingGroups) {
  const Ran ran = run_kernel(kernel_of(R"(
    mov.u32 %r10, 0; mov.u32 %r11, -1; mov.u32 %r13, 0;
    L: redux.sync.add.u32 %r12, 1, %r11; add.u32 %r13, %r13, %r12;
    add.u32 %r10, %r10, 1; setp.le.u32 %p1, %r10, %r1;
    vote.sync.ballot.b32 %r11, %p1, %r11;
    @%p1 bra L;
    bar.warp.sync -1;
    st.global.u32 [%rd2], %r13; ret;)"));
  ASSERT_EQ(ran.trap, "");
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.words[i], sum += 32 - i) << i;
}

TEST(Members, WhatCannotCompleteIsADeadlock) {
  expect_trap(run_kernel(kernel_of("setp.lt.u32 %p1, %r1, 16; @!%p1 bra L; shfl.sync.down.b32 %r10, %r1, 1, 31, -1;\n"
                                   "bra END;\nL: bar.sync 1;\nEND: ret;")),
              "warp 0 lanes 0-15 wait at shfl.sync.down.b32 (line 9) for lanes 16-31, warp 0 lanes 16-31 wait at "
              "barrier 1 (line 11)");
  expect_trap(
      run_kernel(kernel_of("setp.ne.u32 %p1, %r1, 5;\n@%p1 redux.sync.add.u32 %r10, %r1, -1;\nbar.warp.sync -1;\n"
                           "ret;")),
      "warp 0 lane 5 waits at bar.warp.sync (line 11) for lanes 0-4, 6-31, warp 0 lanes 0-4, 6-31 wait at "
      "redux.sync.add.u32 (line 10) for lane 5");
  expect_trap(run_kernel(kernel_of("setp.eq.u32 %p1, %r1, 9; selp.b32 %r10, 0x200, -1, %p1;\nmatch.any.sync.b32 %r11, "
                                   "%r1, %r10; bar.sync 0;\nret;")),
              "lanes 0-8, 10-31 wait at match.any.sync.b32");
  expect_trap(run_kernel(kernel_of("bar.warp.sync 0xfffffffe;\nret;")),
              "invalid membermask: 0xfffffffe does not name lane 0, which executes the instruction");
}

// Where the paths of a warp run one after the other, bar.warp.sync has nothing to wait for.
TEST(Members, BeforeSm70BarWarpSyncDoesNotWait) {
  const Ran ran = run_kernel(kernel_of("setp.lt.u32 %p1, %r1, 7;\n@%p1 bar.warp.sync 0x7f;\n@!%p1 bar.warp.sync -1;\n"
                                       "st.global.u32 [%rd2], %r1; ret;",
                                       "", 60));
  EXPECT_EQ(ran.trap, "");
  EXPECT_EQ(ran.words[31], 31u);
}

} // namespace paths_test
} // namespace warplens::tests
