// SPDX-License-Identifier: Apache-2.0
// Two warps of a block that run together in compiled code do what each does by itself.
#include "tests/exec/compiled_subject.hpp"

namespace warplens::tests {
namespace compiled_pairs_test {

using namespace compiled_test;

class CompiledPairs : public testing::Test {
protected:
  void SetUp() override { exec::set_pairs_anyhow(true); }
  void TearDown() override { exec::set_pairs_anyhow(false); }
};

// Warps that begin turns together.
std::uint64_t pairs_of(const Subject& subject) {
  const std::uint64_t before = exec::paired_turns();
  subject.expect_same();
  return exec::paired_turns() - before;
}

void expect_some(std::uint64_t pairs, std::uint64_t at_least = 1) {
  EXPECT_GE(pairs, WARPLENS_HAS_COMPILER ? at_least : 0);
}

// Both forms are compiled: the interpreter lets warps run in pairs, too, which programs with races show.
void expect_same_without_pairs(const Subject& subject) {
  for (const bool watched : {false, true}) {
    exec::set_pairs_anyhow(false);
    const Outcome single = subject.run(exec::CompileMode::always, watched, nullptr);
    EXPECT_EQ(last_explanation(subject.kernel).find(" of pairs"), std::string::npos);
    exec::set_pairs_anyhow(true);
    const std::uint64_t before = exec::paired_turns();
    const Outcome pairs = subject.run(exec::CompileMode::always, watched, nullptr);
    expect_some(exec::paired_turns() - before);
    EXPECT_EQ(pairs.trap, single.trap);
    if (single.trap.empty()) { // of a launch that traps, no counts are reported
      EXPECT_EQ(pairs.told, single.told);
    }
    EXPECT_TRUE(pairs.buffers == single.buffers);
  }
}

// Loops longer than a turn, and blocks whose last warp is alone or has few lanes.
TEST_F(CompiledPairs, LongLoops) {
  for (const std::uint32_t threads : {64u, 96u, 80u, 160u}) {
    const std::uint64_t pairs = pairs_of(
        words("mov.u32 %r10, 0; mov.u32 %r11, %r1; cvt.rn.f32.u32 %f1, %r1; mov.f32 %f2, 0f3F7F0000;\n"
              "LOOP: mad.lo.u32 %r11, %r11, 77, %r10; fma.rn.f32 %f1, %f1, %f2, 0f3A83126F; xor.b32 %r11, %r11, %r1;\n"
              "add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 9000; @%p1 bra LOOP;\n"
              "mov.b32 %r12, %f1; add.u32 %r11, %r11, %r12; st.global.u32 [%rd2], %r11; ret;",
              threads));
    expect_some(pairs, 2 * 3 * 2u); // in each of three runs of two blocks
  }
  for (const std::uint32_t threads : {20u, 32u, 63u}) // one warp, or two with other lanes
    EXPECT_EQ(pairs_of(words("mov.u32 %r10, 0; mov.u32 %r11, %r1;\n"
                             "LOOP: mad.lo.u32 %r11, %r11, 77, %r10; xor.b32 %r11, %r11, 5; add.u32 %r10, %r10, 1;\n"
                             "setp.lt.u32 %p1, %r10, 9; @%p1 bra LOOP; st.global.u32 [%rd2], %r11; ret;",
                             threads)),
              0u);
}

// By warp, by lane, and at several levels of loops: those that have parted meet again where their turns begin.
TEST_F(CompiledPairs, WarpsThatPart) {
  for (const std::string by : {"shr.u32 %r20, %r1, 5;", "shr.u32 %r20, %r1, 6;", "and.b32 %r20, %r1, 7;",
                               "shr.u32 %r20, %r1, 4;", "mov.u32 %r20, 3;"}) {
    const std::uint64_t pairs = pairs_of(
        words(by + "add.u32 %r20, %r20, 2; mov.u32 %r10, 0; mov.u32 %r11, %r1; mov.u32 %r14, 1;\n"
                   "OUTER: mov.u32 %r12, 0;\n"
                   "LOOP: mad.lo.u32 %r11, %r11, 5, %r12; setp.eq.u32 %p1, %r12, %r20; @%p1 add.u32 %r11, %r11, 9;\n"
                   "@%p1 bra ELSE; shl.b32 %r13, %r11, 3; add.u32 %r11, %r11, %r13; bra MEET;\n"
                   "ELSE: xor.b32 %r11, %r11, 1234; mov.u32 %r14, 77; MEET: add.u32 %r12, %r12, 1;\n"
                   "add.u32 %r11, %r11, %r14; setp.lt.u32 %p2, %r12, %r20; @%p2 bra LOOP;\n"
                   "add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, 1500; @%p3 bra OUTER;\n"
                   "st.global.u32 [%rd2], %r11; ret;",
              128));
    expect_some(pairs);
  }
}

// Pairs begin after barriers, too, where rows are as the code left them, and part where memory is read.
TEST_F(CompiledPairs, BetweenBarriers) {
  const std::string chain = "mov.u32 %r12, 0; LOOP: mad.lo.u32 %r11, %r11, 3, %r12; xor.b32 %r11, %r11, %r1;\n"
                            "add.u32 %r12, %r12, 1; setp.lt.u32 %p1, %r12, 20; @%p1 bra LOOP;\n";
  for (const std::string leaving : {"", "setp.eq.u32 %p4, %r1, 70; @%p4 ret;"}) {
    const std::uint64_t pairs = pairs_of(
        words(".shared .align 8 .b8 s[640]; mov.u32 %r20, s; shl.b32 %r21, %r1, 2; add.u32 %r20, %r20, %r21;\n"
              "mov.u32 %r10, 0; mov.u32 %r11, %r1;\n"
              "OUTER: st.shared.u32 [%r20], %r11; bar.sync 0; add.u32 %r11, %r11, 3; add.u32 %r13, %r11, %r10;\n" +
                  chain + "add.u32 %r11, %r11, %r13; bar.sync 0; ld.shared.u32 %r14, [s+64];\n" + leaving +
                  "add.u32 %r11, %r11, %r14; bar.sync 0; add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, 5;\n"
                  "@%p3 bra OUTER; st.global.u32 [%rd2], %r11; ret;",
              160));
    expect_some(pairs, 3 * 2 * 5u);
  }
}

// A sequence of narrow numbers that leaves their range in one of the warps.
TEST_F(CompiledPairs, SequencesThatWrapAround) {
  for (const std::string start : {"4294967200", "4294967168", "2147483600"}) {
    const std::uint64_t pairs =
        pairs_of(words("add.u32 %r10, %r1, " + start +
                           "; mov.u32 %r11, 0;\n"
                           "LOOP: cvt.u64.u32 %rd10, %r10; cvt.s64.s32 %rd11, %r10; add.u64 %rd12, %rd10, %rd11;\n"
                           "shr.u64 %rd12, %rd12, 3; cvt.u32.u64 %r12, %rd12; add.u32 %r11, %r11, %r12;\n"
                           "add.u32 %r10, %r10, 8; and.b32 %r13, %r10, 1023; setp.gt.u32 %p1, %r13, 64;\n"
                           "@%p1 bra LOOP; st.global.u32 [%rd2], %r11; ret;",
                       128));
    expect_some(pairs);
  }
}

// Work enough for the processor: by default, there are no pairs.
const std::string kIndependent =
    "add.u32 %r11, %r11, %r12; xor.b32 %r11, %r11, 5; add.u32 %r14, %r14, %r12; xor.b32 %r14, %r14, 7;\n"
    "add.u32 %r15, %r15, %r12; xor.b32 %r15, %r15, 9; add.u32 %r16, %r16, %r12; xor.b32 %r16, %r16, 3;\n";

// A program with a race gives what it gives if one warp runs after the other.
TEST_F(CompiledPairs, OrderOfAccesses) {
  const std::string chain = "mov.u32 %r12, 0; LOOP: " + kIndependent +
                            "\n"
                            "add.u32 %r12, %r12, 1; setp.lt.u32 %p1, %r12, 20; @%p1 bra LOOP;\n";
  Subject s = words("mov.u32 %r11, %r2;\n" + chain +
                        "ld.global.u32 %r13, [%rd1+8192]; add.u32 %r13, %r13, 1; st.global.u32 [%rd1+8192], %r13;\n"
                        "mad.lo.u32 %r11, %r13, 1000, %r11; st.global.u32 [%rd2], %r11; ret;",
                    256);
  s.grid = {1, 1, 1};
  expect_same_without_pairs(s);
}

// Memory is as if the second warp of a pair had not begun when the first one traps.
TEST_F(CompiledPairs, Traps) {
  for (const std::string lane : {"7", "39", "70", "127"}) {
    Subject s =
        words("setp.eq.u32 %p2, %r1, " + lane +
                  "; selp.u32 %r20, 1048576, 0, %p2; cvt.u64.u32 %rd10, %r20; mov.u32 %r11, %r1;\n"
                  "mov.u32 %r12, 0; LOOP: " +
                  kIndependent +
                  "\n"
                  "add.u32 %r12, %r12, 1; setp.lt.u32 %p1, %r12, 20; @%p1 bra LOOP;\n"
                  "st.global.u32 [%rd2], %r11; add.u64 %rd2, %rd2, %rd10; st.global.u32 [%rd2+4096], %r11; ret;",
              128);
    s.grid = {1, 1, 1};
    expect_same_without_pairs(s);
    EXPECT_NE(s.run(exec::CompileMode::always, false, nullptr).trap, "");
  }
}

// Two warps that part soon are not worth it: after some of them, no more begin.
TEST_F(CompiledPairs, NotInShortLoops) {
  std::uint64_t pairs[2];
  for (const bool longer : {false, true}) {
    Subject s = words("mov.u32 %r12, 0; mov.u32 %r11, %r1; mov.u32 %r14, 0; mov.u32 %r15, 0; mov.u32 %r16, 0;\nLOOP: " +
                          kIndependent + "add.u32 %r12, %r12, 1; setp.lt.u32 %p1, %r12, " + (longer ? "50" : "2") +
                          "; @%p1 bra LOOP; add.u32 %r11, %r11, %r14; st.global.u32 [%rd2], %r11; ret;",
                      64, 65536);
    s.grid = {1000, 1, 1};
    pairs[longer ? 1 : 0] = pairs_of(s);
  }
  if (!WARPLENS_HAS_COMPILER) return;
  const std::size_t levels = exec::levels().size();
  EXPECT_EQ(pairs[1], levels * 3000); // of three launches
  EXPECT_LT(pairs[0], levels * 1500);
}

// Where pairs are worth it.
TEST(CompiledPairsByDefault, OnlyChains) {
  if (!WARPLENS_HAS_COMPILER) GTEST_SKIP() << "built without the compiler of kernels";
  const auto has_pairs = [](const Subject& s) {
    s.expect_same();
    return last_explanation(s.kernel).find(" of pairs") != std::string::npos;
  };
  const auto loop = [&](const std::string& body) {
    return words("cvt.rn.f32.u32 %f1, %r1; cvt.rn.f32.u32 %f4, %r2; mov.f32 %f2, 0f3F7F0000; mov.u32 %r10, 0;\n"
                 "mov.u32 %r11, %r1;\nLOOP: " +
                 body +
                 "add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 90; @%p1 bra LOOP;\n"
                 "mov.b32 %r12, %f1; mov.b32 %r13, %f4; add.u32 %r12, %r12, %r13; add.u32 %r11, %r11, %r12;\n"
                 "st.global.u32 [%rd2], %r11; ret;");
  };
  std::string chain, independent;
  for (int i = 0; i < 8; ++i) {
    chain += "fma.rn.f32 %f1, %f1, %f2, 0f3A83126F;\n";
    independent +=
        "add.u32 %r11, %r11, %r2; add.u32 %r14, %r14, %r2; add.u32 %r15, %r15, %r2; add.u32 %r16, %r16, %r2;\n";
  }
  const bool large = exec::levels().back().name != "x86-64-v2"; // where a pair has enough registers
  EXPECT_EQ(has_pairs(loop(chain)), large);
  EXPECT_FALSE(has_pairs(loop(independent)));
  EXPECT_FALSE(has_pairs(loop(chain + "st.global.u32 [%rd2+4096], %r11;"))); // which others may read
}

} // namespace compiled_pairs_test
} // namespace warplens::tests
