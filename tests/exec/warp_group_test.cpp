// SPDX-License-Identifier: Apache-2.0
// Warp groups: their four warps meet at each product, and wrong uses stop the kernel.
#include "tests/exec/kernel_test.hpp"

namespace warplens::tests {
namespace warp_group_test {

// A and B of ones: each element of D is 16.
std::string group_kernel(const std::string& before, const std::string& after, const std::string& a = "%rd10",
                         const std::string& statement = {}) {
  const std::string multiply = statement.empty()
                                   ? "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, " + a +
                                         ", %rd10, %p9, 1, 1, 0, 0;\n"
                                   : statement;
  std::string text =
      kernel_of("mov.u32 %r10, s; and.b32 %r11, %r1, 127; shl.b32 %r11, %r11, 4; add.u32 %r11, %r11, %r10; mov.b32 "
                "%r12, 0x3c003c00;\n"
                "st.shared.v4.b32 [%r11], {%r12, %r12, %r12, %r12};\n"
                "shr.u32 %r10, %r10, 4; cvt.u64.u32 %rd10, %r10; or.b64 %rd10, %rd10, 0x0000001000080000;\n"
                "setp.ne.u32 %p9, %r1, %r1; fence.proxy.async; bar.sync 0; wgmma.fence.sync.aligned;\n" +
                    before + multiply + after +
                    "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
                    "cvt.rzi.u32.f32 %r13, %f3; st.global.u32 [%rd2], %r13; ret;",
                ".shared .align 1024 .b8 s[2048];\n");
  text.replace(text.find("sm_90"), 5, "sm_90a");
  return text;
}

TEST(WarpGroup, MultipliesTogether) {
  const Ran ran = run_kernel(group_kernel("", ""), {.threads = 128});
  ASSERT_EQ(ran.trap, "");
  EXPECT_EQ(ran.words, std::vector<std::uint32_t>(128, 16));
}

TEST(WarpGroup, TwoGroupsOfABlockAreIndependent) {
  const Ran ran = run_kernel(group_kernel("", ""), {.blocks = 3, .threads = 256});
  ASSERT_EQ(ran.trap, "");
  EXPECT_EQ(ran.words, std::vector<std::uint32_t>(3 * 256, 16));
}

// One warp goes on only when all have multiplied: it clears the matrices at once.
TEST(WarpGroup, NoWarpGoesOnBeforeTheOthers) {
  const Ran ran = run_kernel(group_kernel("", "setp.lt.u32 %p1, %r1, 32; mov.b32 %r12, 0; shl.b32 %r14, %r1, 4;\n"
                                              "@%p1 st.shared.v4.b32 [%r14], {%r12, %r12, %r12, %r12};\n"),
                             {.threads = 128});
  ASSERT_EQ(ran.trap, "");
  EXPECT_EQ(ran.words, std::vector<std::uint32_t>(128, 16));
}

TEST(WarpGroup, DivergedLanesMeetFirst) {
  const Ran ran = run_kernel(group_kernel("and.b32 %r14, %r1, 1; setp.eq.u32 %p1, %r14, 0; @%p1 bra odd;\n"
                                          "add.u32 %r15, %r15, 1;\nodd:\n",
                                          ""),
                             {.threads = 128});
  ASSERT_EQ(ran.trap, "");
  EXPECT_EQ(ran.words, std::vector<std::uint32_t>(128, 16));
}

TEST(WarpGroup, AProductWhoseGuardIsFalseIsSkipped) {
  const Ran ran = run_kernel(group_kernel("mov.f32 %f3, 0f40e00000;\n@%p9 ", ""), {.threads = 128});
  ASSERT_EQ(ran.trap, "");
  EXPECT_EQ(ran.words, std::vector<std::uint32_t>(128, 7));
}

TEST(WarpGroup, NeedsFourWarps) {
  EXPECT_TRUE(run_kernel(group_kernel("", ""), {.threads = 96})
                  .trap.starts_with("this instruction needs the four warps 0 to 3 of a warp group, but the block has 3 "
                                    "warps\n"));
}

TEST(WarpGroup, WithoutAWarpThatHasExited) {
  const Ran ran = run_kernel(group_kernel("setp.ge.u32 %p1, %r1, 96; @%p1 ret;\n", ""), {.threads = 128});
  const bool exited = ran.trap.find("warp 3 has exited") != std::string::npos;
  const bool waits = ran.trap.find("warp 0 waits for its warp group (line") != std::string::npos;
  EXPECT_TRUE(exited || waits) << ran.trap;
}

TEST(WarpGroup, WithoutAWarpThatWaitsElsewhere) {
  const Ran ran = run_kernel(group_kernel("setp.ge.u32 %p1, %r1, 96; @%p1 bar.sync 1, 64;\n", ""), {.threads = 128});
  EXPECT_NE(ran.trap.find("warp 1 waits for its warp group"), std::string::npos) << ran.trap;
  EXPECT_NE(ran.trap.find("warp 3"), std::string::npos) << ran.trap;
}

TEST(WarpGroup, AllThreadsHaveOneDescriptor) {
  const Ran ran =
      run_kernel(group_kernel("cvt.u64.u32 %rd11, %r1; add.u64 %rd10, %rd10, %rd11;\n", ""), {.threads = 128});
  EXPECT_NE(ran.trap.find("the threads have different descriptors of B: "), std::string::npos) << ran.trap;
}

TEST(WarpGroup, NothingIsReadBeyondSharedMemory) {
  for (const char* const forged : {"or.b64 %rd10, %rd10, 0x3fff;\n",              // start
                                   "or.b64 %rd10, %rd10, 0x3fff0000;\n",          // leading offset
                                   "or.b64 %rd10, %rd10, 0x00003fff00000000;\n",  // stride
                                   "or.b64 %rd10, %rd10, 0x4000000000000078;\n"}) // swizzled, next to the end
    EXPECT_NE(run_kernel(group_kernel(forged, ""), {.threads = 128}).trap.find("reaches beyond the 2048 bytes"),
              std::string::npos)
        << forged;
}

TEST(WarpGroup, WarpsMustMultiplyAtOnePlace) {
  const std::string other = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd10, %rd10, "
                            "%p9, 1, 1, 0, 0;\n";
  const Ran ran = run_kernel(
      group_kernel("setp.ge.u32 %p1, %r1, 64; @%p1 bra second;\n" + other + "bra both;\nsecond:\n" + other + "both:\n",
                   ""),
      {.threads = 128});
  EXPECT_NE(ran.trap.find("other warps of the warp group wait at another multiplication (line"), std::string::npos)
      << ran.trap;
}

} // namespace warp_group_test
} // namespace warplens::tests
