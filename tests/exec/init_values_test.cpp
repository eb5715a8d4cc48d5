// SPDX-License-Identifier: Apache-2.0
// initcheck: values that were loaded from unwritten bytes of shared and local memory, and what kernels do with them.
#include "tests/exec/init_kernels.hpp"

namespace warplens::tests {
namespace init_test {

const std::string kStore = "st.global.u32 [%rd2], %r20;";

/// %r11: this thread's word in s, of which nobody has written any byte, or the lower two only.
const std::string kLoad = kShared + "ld.shared.u32 %r11, [%r10];\n";
const std::string kLoadHalf =
    kShared + "cvt.u16.u32 %h1, %r1; st.shared.u16 [%r10], %h1; ld.shared.u32 %r11, [%r10];\n";

std::size_t lanes(const std::string& body) {
  const Checked checked = check(body);
  EXPECT_LE(checked.findings.size(), 1u) << body;
  return checked.findings.empty() ? 0 : checked.findings.front().threads.size();
}

TEST(InitValues, WhatNothingNeedsIsNotReported) {
  EXPECT_EQ(lanes(kLoad), 0u);
  EXPECT_EQ(lanes(kLoad + "add.u32 %r12, %r11, 1; mul.lo.u32 %r13, %r12, %r12; mov.u32 %r20, 7;" + kStore), 0u);
  EXPECT_EQ(lanes(kLoad + "mov.u32 %r11, 7; mov.u32 %r20, %r11;" + kStore), 0u) << "overwritten";
  EXPECT_EQ(lanes(kLoad + "setp.lt.u32 %p1, %r1, 4; @%p1 bra done;" + "mov.u32 %r20, %r11;" + kStore + "done: ret;"),
            28u);
}

TEST(InitValues, WhatNeedsAValue) {
  const std::string five = "add.u32 %r11, %r11, 5;";
  EXPECT_EQ(lanes(kLoad + five + "mov.u32 %r20, %r11;" + kStore), 32u);
  EXPECT_EQ(lanes(kLoad + "st.global.v2.u32 [%rd1], {%r1, %r11};"), 32u);
  EXPECT_EQ(lanes(kLoad + "and.b32 %r20, %r11, 31; mul.wide.u32 %rd3, %r20, 4; add.u64 %rd3, %rd3, %rd1;"
                          "ld.global.u32 %r20, [%rd3];"),
            32u)
      << "an address";
  EXPECT_EQ(lanes(kLoad + "setp.eq.u32 %p1, %r11, 3; @%p1 bra done; done: ret;"), 32u) << "a branch";
  EXPECT_EQ(lanes(kLoad + "setp.eq.u32 %p1, %r11, 3; @%p1 mov.u32 %r12, 4;"), 32u) << "a guard";
  EXPECT_EQ(lanes(kLoad + "atom.global.add.u32 %r12, [%rd1], %r11;"), 32u);
  EXPECT_EQ(lanes(kLoad + "setp.eq.u32 %p1, %r11, 3; vote.sync.ballot.b32 %r12, %p1, -1;"), 32u);
}

TEST(InitValues, AreReportedAtTheLoadAndOnce) {
  const auto at_once = only(check(kShared + "ld.volatile.shared.u32 %r11, [%r10]; mov.u32 %r12, %r11;"));
  EXPECT_EQ(at_once.threads.size(), 32u) << "no compiler loads this in advance";
  const auto found = only(check(kLoad + "add.u32 %r20, %r11, 1;" + kStore + "st.global.u32 [%rd2+4096], %r11;"));
  EXPECT_EQ(found.first.at.instruction, at_once.first.at.instruction);
  EXPECT_EQ(found.first.at.address, 0u);
  EXPECT_EQ(found.first.at.bytes, 4u);
  EXPECT_EQ(found.count, 32u);
  const std::string loop = "mov.u32 %r20, 0; mov.u32 %r21, 0; again: ld.shared.u32 %r11, [%r10];"
                           "add.u32 %r20, %r20, %r11; add.u32 %r21, %r21, 1; setp.lt.u32 %p1, %r21, 9; @%p1 bra again;";
  EXPECT_EQ(only(check(kShared + loop + kStore)).count, 32u);
}

TEST(InitValues, SelectionsTakeOneOfTheirSources) {
  const std::string choose = kLoad + "setp.lt.u32 %p1, %r1, 4; selp.b32 %r20, %r11, %r1, %p1;" + kStore;
  EXPECT_EQ(lanes(choose), 4u);
  EXPECT_EQ(lanes(kLoad + "setp.lt.u32 %p1, %r11, 4; selp.b32 %r20, 1, 2, %p1;" + kStore), 32u);
  EXPECT_EQ(lanes(kLoad + "setp.lt.u32 %p1, %r1, 4; @%p1 mov.u32 %r11, 3; mov.u32 %r20, %r11;" + kStore), 28u);
}

// if (i < 4 && s[i] > 7): compilers compute both, and combine them.
TEST(InitValues, ConditionsMayDecideWithoutThem) {
  const std::string both = kLoad + "setp.lt.u32 %p1, %r1, 4; setp.gt.u32 %p2, %r11, 7;";
  EXPECT_EQ(lanes(both + "and.pred %p3, %p1, %p2; @%p3 st.global.u32 [%rd2], %r1;"), 4u);
  EXPECT_EQ(lanes(both + "or.pred %p3, %p2, %p1; @%p3 st.global.u32 [%rd2], %r1;"), 28u);
  EXPECT_EQ(lanes(both + "xor.pred %p3, %p2, %p1; @%p3 st.global.u32 [%rd2], %r1;"), 32u);
  EXPECT_EQ(lanes(both + "setp.gt.and.u32 %p3, %r11, 7, %p1; @%p3 st.global.u32 [%rd2], %r1;"), 4u);
  EXPECT_EQ(lanes(both + "setp.gt.or.u32 %p3, %r11, 7, !%p1; @%p3 st.global.u32 [%rd2], %r1;"), 4u);
}

TEST(InitValues, BytesAreFollowed) {
  const auto of_half = [](const std::string& body) { return lanes(kLoadHalf + body + kStore); };
  EXPECT_EQ(of_half("mov.u32 %r20, %r11;"), 32u);
  EXPECT_EQ(of_half("and.b32 %r20, %r11, 0xffff;"), 0u);
  EXPECT_EQ(of_half("and.b32 %r20, %r11, 0x1ffff;"), 32u);
  EXPECT_EQ(of_half("or.b32 %r20, %r11, 0xffff0000;"), 0u);
  EXPECT_EQ(of_half("xor.b32 %r20, %r11, 0xffff0000;"), 32u);
  EXPECT_EQ(of_half("shl.b32 %r20, %r11, 16;"), 0u);
  EXPECT_EQ(of_half("shl.b32 %r20, %r11, 15;"), 32u);
  EXPECT_EQ(of_half("shl.b32 %r20, %r11, 24; shr.s32 %r20, %r20, 24;"), 0u);
  EXPECT_EQ(of_half("shr.u32 %r20, %r11, 16;"), 32u);
  EXPECT_EQ(of_half("shr.s32 %r20, %r11, 31;"), 32u);
  EXPECT_EQ(of_half("bfe.u32 %r20, %r11, 8, 8;"), 0u);
  EXPECT_EQ(of_half("bfe.s32 %r20, %r11, 12, 8;"), 32u);
  EXPECT_EQ(of_half("bfi.b32 %r20, %r1, %r11, 16, 16;"), 0u);
  EXPECT_EQ(of_half("bfi.b32 %r20, %r1, %r11, 20, 12;"), 32u);
  EXPECT_EQ(of_half("bfi.b32 %r20, %r11, %r1, 16, 16;"), 0u);
  EXPECT_EQ(of_half("bfi.b32 %r20, %r11, %r1, 8, 24;"), 32u);
  EXPECT_EQ(of_half("prmt.b32 %r20, %r11, %r1, 0x5410;"), 0u);
  EXPECT_EQ(of_half("prmt.b32 %r20, %r1, %r11, 0x6540;"), 32u);
  EXPECT_EQ(of_half("mov.b32 {%h2, %h3}, %r11; cvt.u32.u16 %r20, %h2;"), 0u);
  EXPECT_EQ(of_half("mov.b32 {%h2, %h3}, %r11; cvt.s32.s16 %r20, %h3;"), 32u);
  EXPECT_EQ(of_half("mov.b32 {%h2, %h3}, %r11; mov.b32 %r20, {%h2, %h2};"), 0u);
  EXPECT_EQ(of_half("cvt.u64.u32 %rd3, %r11; shl.b64 %rd3, %rd3, 48; shr.u64 %rd3, %rd3, 32; cvt.u32.u64 %r20, %rd3;"),
            0u);
  EXPECT_EQ(of_half("cvt.u16.u32 %h2, %r11; cvt.u32.u16 %r20, %h2;"), 0u);
  EXPECT_EQ(of_half("add.u32 %r20, %r11, 0; and.b32 %r20, %r20, 0xff;"), 32u) << "carries come from lower bytes only";
}

TEST(InitValues, LoadsExtend) {
  EXPECT_EQ(lanes(kShared + "ld.shared.u16 %r11, [%r10]; shr.u32 %r20, %r11, 16;" + kStore), 0u);
  EXPECT_EQ(lanes(kShared + "ld.shared.s16 %r11, [%r10]; shr.u32 %r20, %r11, 16;" + kStore), 32u);
  const std::string vector = kShared + "shl.b32 %r10, %r10, 1; st.shared.u32 [%r10+4], %r1;"
                                       "ld.shared.v2.u32 {%r11, %r12}, [%r10];";
  EXPECT_EQ(lanes(vector + "mov.u32 %r20, %r12;" + kStore + "add.u32 %r20, %r20, %r20;"), 0u);
  EXPECT_EQ(lanes(vector + "add.u32 %r20, %r12, %r11;" + kStore), 32u);
}

TEST(InitValues, OtherLanesTakeThem) {
  const std::string few =
      kShared + "setp.lt.u32 %p1, %r1, 8; @%p1 st.shared.u32 [%r10], %r1; ld.shared.u32 %r11, [%r10];";
  EXPECT_EQ(lanes(few + "shfl.sync.idx.b32 %r20, %r11, 7, 31, -1;" + kStore), 0u);
  EXPECT_EQ(lanes(few + "shfl.sync.idx.b32 %r20, %r11, 8, 31, -1;" + kStore), 1u) << "the lane that has loaded it";
  EXPECT_EQ(lanes(few + "shfl.sync.down.b32 %r11, %r11, 4, 31, -1; @%p1 st.global.u32 [%rd2], %r11;"), 4u);
  EXPECT_EQ(lanes(few + "shfl.sync.up.b32 %r20|%p2, %r11, 30, 0, -1; @%p1 st.global.u32 [%rd2], %r20;"), 0u);
  EXPECT_EQ(lanes(few + "shfl.sync.bfly.b32 %r20, %r11, 16, 31, -1; @%p1 st.global.u32 [%rd2], %r20;"), 8u);
  EXPECT_EQ(lanes(few + "shfl.sync.idx.b32 %r20, %r1, %r11, 31, -1;"), 24u) << "which lane: needed";
}

TEST(InitValues, StoresWithinTheBlockPassThemOn) {
  const std::string move = kLoad + "st.shared.u32 [%r10+128], %r11;";
  EXPECT_EQ(lanes(move), 0u);
  EXPECT_EQ(lanes(move + "st.shared.u32 [%r10+128], %r1; ld.shared.u32 %r20, [%r10+128];" + kStore), 0u);
  const auto found = only(check(move + "bar.sync 0; ld.shared.u32 %r20, [%r10+128];" + kStore));
  EXPECT_EQ(found.first.at.instruction, only(check(kLoad + "mov.u32 %r20, %r11;" + kStore)).first.at.instruction);
  EXPECT_EQ(found.first.at.address, 0u);
  const std::string local = kLoadHalf + "{ .local .b32 mine; st.local.u32 [mine], %r11; ";
  EXPECT_EQ(lanes(local + "ld.local.u16 %r20, [mine];" + kStore + "}"), 0u);
  EXPECT_EQ(lanes(local + "ld.local.u16 %r20, [mine+2];" + kStore + "}"), 32u);
}

// What a function makes of its arguments is not followed: it needs them.
TEST(InitValues, FunctionsNeedTheirArguments) {
  const Way with_functions = {.declarations = ".shared .align 16 .b8 s[1024];\n"
                                              ".func by_memory(.param .b32 x) { ret; }\n"
                                              ".func by_register(.reg .b32 %x) { ret; }\n"};
  for (const std::string call :
       {"{ .param .b32 p; st.param.b32 [p], %r11; call by_memory, (p); }", "call by_register, (%r11);"}) {
    EXPECT_EQ(only(check(kLoad + call, with_functions)).threads.size(), 32u) << call;
    EXPECT_TRUE(check(kLoad + "mov.u32 %r11, 1;" + call, with_functions).findings.empty()) << call;
  }
}

TEST(InitValues, GenericAddressesAreResolved) {
  const std::string generic = "cvta.shared.u64 %rd5, %rd4; ";
  const std::string load = kShared + "cvt.u64.u32 %rd4, %r10;" + generic + "ld.u32 %r11, [%rd5];";
  EXPECT_EQ(lanes(load), 0u);
  EXPECT_EQ(lanes(load + "add.u32 %r20, %r11, 1;" + kStore), 32u);
  EXPECT_EQ(lanes(load + "st.u32 [%rd5+128], %r11; ld.shared.u32 %r12, [%r10+128]; add.u32 %r13, %r12, 1;"), 0u);
  EXPECT_EQ(lanes(load + "st.u32 [%rd2], %r11;"), 32u);
}

} // namespace init_test
} // namespace warplens::tests
