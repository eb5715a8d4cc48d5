// SPDX-License-Identifier: Apache-2.0
// Divergence and exits: the results of each lane, and what stops a kernel. Barriers: barrier_test.cpp.
#include "tests/exec/kernel_test.hpp"

#include <random>

namespace warplens::tests {
namespace control_test {

TEST(Divergence, BothSidesRunAndMeetAgain) {
  const Ran ran = run_kernel(kernel_of(R"(
    setp.lt.u32 %p1, %r1, 10;
    mov.u32 %r10, 0;
    @%p1 bra THEN;
    mov.u32 %r10, 200;
    bra DONE;
    THEN: mov.u32 %r10, 100;
    DONE: add.u32 %r10, %r10, %r1;
    st.global.u32 [%rd2], %r10;
    ret;)"));
  ASSERT_EQ(ran.trap, "");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.words[i], (i < 10 ? 100 : 200) + i);
}

// A trap stops the whole launch: lanes that go on meet behind it.
TEST(Divergence, LanesMeetBehindATrapThatNobodyTakes) {
  const Ran ran = run_kernel(kernel_of(R"(
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra DONE;
    setp.eq.u32 %p2, %r4, 32;
    @%p2 bra FINE;
    trap;
    FINE: mov.u32 %r11, 1;
    DONE: activemask.b32 %r10;
    st.global.u32 [%rd2], %r10;
    ret;)"));
  ASSERT_EQ(ran.trap, "");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.words[i], 0xffffffffu) << i;
}

TEST(Divergence, LanesLeaveALoopOneByOne) {
  const Ran ran = run_kernel(kernel_of(R"(
    mov.u32 %r10, 0;
    mov.u32 %r11, 0;
    LOOP: add.u32 %r11, %r11, %r10;
    add.u32 %r10, %r10, 1;
    setp.le.u32 %p1, %r10, %r1;
    @%p1 bra LOOP;
    st.global.u32 [%rd2], %r11;
    ret;)"));
  ASSERT_EQ(ran.trap, "");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.words[i], i * (i + 1) / 2) << i;
}

// A guarded exit or ret ends only its own lanes: Ocelot ended the whole block.
TEST(Divergence, GuardedExitTakesLanesOut) {
  for (const char* leave : {"exit", "ret"}) {
    const Ran ran = run_kernel(kernel_of(std::string("mov.u32 %r10, 7; st.global.u32 [%rd2], %r10;\n"
                                                     "setp.ge.u32 %p1, %r1, 40; @%p1 ") +
                                         leave + R"(;
      bar.sync 0;
      mov.u32 %r10, 8; st.global.u32 [%rd2], %r10;
      ret;)"),
                               {1, 100});
    ASSERT_EQ(ran.trap, "") << leave;
    for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(ran.words[i], i < 40 ? 8u : 7u) << leave << " " << i;
  }
}

TEST(Divergence, ExitInsideADivergentRegion) {
  const Ran ran = run_kernel(kernel_of(R"(
    and.b32 %r10, %r1, 1;
    setp.eq.u32 %p1, %r10, 0;
    @%p1 bra EVEN;
    setp.gt.u32 %p2, %r1, 16;
    @%p2 exit;
    mov.u32 %r11, 1;
    bra MEET;
    EVEN: mov.u32 %r11, 2;
    MEET: st.global.u32 [%rd2], %r11;
    ret;)"));
  ASSERT_EQ(ran.trap, "");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.words[i], i % 2 == 0 ? 2u : i > 16 ? 0u : 1u) << i;
}

// Random structured control flow: nested ifs, loops with data-dependent counts, early exits. Every lane must see what
// it would see alone, so a launch of one thread per block is the reference for a launch of full warps.
std::string random_body(std::mt19937& random, int depth) {
  static int label = 0;
  std::string text;
  const auto statements = 1 + random() % 3;
  for (unsigned s = 0; s < statements; ++s) {
    const std::string id = std::to_string(label++);
    const std::string bit = std::to_string(random() % 5), constant = std::to_string(random() % 1000);
    switch (depth == 0 ? 0 : random() % 5) {
    case 0:
      text += "mad.lo.u32 %r20, %r20, 31, " + constant + "; xor.b32 %r20, %r20, %r2;\n";
      if (random() % 3 == 0) text += "nanosleep.u32 20;\n"; // another path's turn
      break;
    case 1:
    case 2:
      text += "shr.u32 %r21, %r20, " + bit + "; and.b32 %r21, %r21, 1; setp.ne.u32 %p1, %r21, 0; @%p1 bra E" + id +
              ";\n" + random_body(random, depth - 1) + "bra D" + id + ";\nE" + id + ":\n" +
              random_body(random, depth - 1) + "D" + id + ":\n";
      break;
    case 3: {
      const std::string counter = "%r" + std::to_string(30 + depth);
      text += "and.b32 " + counter + ", %r20, 3;\nL" + id + ":\n" + random_body(random, depth - 1) + "sub.u32 " +
              counter + ", " + counter + ", 1; setp.gt.s32 %p2, " + counter + ", 0; @%p2 bra L" + id + ";\n";
      break;
    }
    default:
      text += "and.b32 %r21, %r20, 63; setp.eq.u32 %p3, %r21, " + std::to_string(random() % 64) +
              "; @%p3 st.global.u32 [%rd2], %r20; @%p3 exit;\n";
    }
  }
  return text;
}

TEST(Divergence, LanesDoNotSeeEachOther) {
  std::mt19937 random(7);
  for (int round = 0; round < 150; ++round) {
    const std::string ptx =
        kernel_of("mad.lo.u32 %r20, %r2, 77, 5;\n" + random_body(random, 4) + "st.global.u32 [%rd2], %r20; ret;");
    Emulated machine(ptx, "random.ptx");
    How together{2, 48}, alone{96, 1};
    const Ran a = run_on(machine, together), b = run_on(machine, alone);
    ASSERT_EQ(a.trap, "") << ptx;
    ASSERT_EQ(a.words, b.words) << ptx;
  }
}

TEST(Steps, AnEndlessKernelIsStopped) {
  const Ran ran = run_kernel(kernel_of("L: bra L;"), {4, 64, 0, nullptr, 2, nullptr, 1'000'000});
  EXPECT_NE(ran.trap.find("step limit reached: more than 1000000 warp instructions"), std::string::npos) << ran.trap;
}

TEST(Steps, ManyShortBlocksAreStoppedToo) {
  const Ran ran = run_kernel(kernel_of("add.u32 %r10, %r1, 1;\nret;"), {1000, 64, 0, nullptr, 2, nullptr, 1000});
  EXPECT_NE(ran.trap.find("step limit reached"), std::string::npos) << ran.trap;
}

// Whichever worker is first: the trap of the block with the lowest number is the one that is told.
TEST(Trap, TheLowestBlockIsReportedWithAnyNumberOfWorkers) {
  Emulated machine(kernel_of(R"(
    mov.u32 %r10, 0;
    sub.u32 %r11, 600, %r3; mul.lo.u32 %r11, %r11, 40;
    L: add.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, %r11; @%p2 bra L;
    setp.ge.u32 %p1, %r3, 57;
    @%p1 trap;
    ret;)"),
                   "traps.ptx");
  for (const unsigned workers : {1u, 2u, 3u}) {
    const Ran ran = run_on(machine, {600, 32, 0, nullptr, workers});
    EXPECT_NE(ran.trap.find("block (57,0,0)"), std::string::npos) << ran.trap;
  }
}

TEST(Trap, NamesKernelAndThread) {
  const Ran ran = run_kernel(kernel_of("setp.eq.u32 %p1, %r2, 70;\n@%p1 trap;\nret;"), {2, 64});
  EXPECT_NE(ran.trap.find("trap instruction"), std::string::npos) << ran.trap;
  EXPECT_NE(ran.trap.find("in kernel k, by thread (6,0,0) in block (1,0,0)"), std::string::npos) << ran.trap;
}

// An instruction that writes its own guard reads it before, also where it is made of several steps.
TEST(Guards, AreReadBeforeTheyAreWritten) {
  const Ran ran = run_kernel(kernel_of(R"(
    and.b32 %r10, %r1, 1; setp.eq.u32 %p1, %r10, 1;
    setp.ne.u32 %p2, %r1, %r1; setp.eq.u32 %p3, %r1, %r1;
    @!%p1 setp.lt.and.u32 %p1|%p2, %r1, 16, %p3;
    selp.u32 %r11, 1, 0, %p1; selp.u32 %r12, 2, 0, %p2; or.b32 %r11, %r11, %r12;
    st.global.u32 [%rd2], %r11;
    ret;)"));
  ASSERT_EQ(ran.trap, "");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.words[i], i % 2 == 1 ? 1u : i < 16 ? 1u : 2u) << i;
}

} // namespace control_test
} // namespace warplens::tests
