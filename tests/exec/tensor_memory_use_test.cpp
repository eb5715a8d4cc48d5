// SPDX-License-Identifier: Apache-2.0
// Wrong uses of tensor memory stop the kernel; allocations wait for each other.
#include "tests/exec/tensor_kernels.hpp"

namespace warplens::tests {
namespace tensor_memory_use_test {

std::string trap_of(const std::string& body, const How& how = {}) { return run_kernel(tensor_kernel(body), how).trap; }

#define EXPECT_TRAP(trap, text)                                                                                        \
  do {                                                                                                                 \
    const std::string has = trap;                                                                                      \
    EXPECT_NE(has.find(text), std::string::npos) << has;                                                               \
  } while (false)

TEST(UseOfTensorMemory, BeforeItsAllocation) {
  EXPECT_TRAP(
      trap_of("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%t0}, [%r11+64];\n"),
      "invalid use of tensor memory: the access at 0x40 is in column 64, which tcgen05.alloc has not allocated");
  EXPECT_TRAP(trap_of("tcgen05.st.sync.aligned.32x32b.x2.b32 [%r11+63], {%t0, %t1};\n"), "is in columns 63 to 64");
  EXPECT_TRAP(trap_of("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%t0}, [%r11+512];\n"), "but there are only 512");
  EXPECT_TRAP(trap_of("tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%t0}, [%r11], 64;\n"), "the access at 0x40");
}

TEST(UseOfTensorMemory, AfterItsRelease) {
  EXPECT_TRAP(run_kernel(tensor_program("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], 32;\n"
                                        "ld.shared.u32 %r10, [place];\n"
                                        "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 32;\n"
                                        "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%t0}, [%r10];\nret;"))
                  .trap,
              "is in column 0, which tcgen05.dealloc has released");
}

TEST(UseOfTensorMemory, MustBeReleased) {
  EXPECT_TRAP(
      run_kernel(tensor_program("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], 32;\nret;")).trap,
      "the block has exited without tcgen05.dealloc of columns 0 to 31, which this instruction allocated");
}

TEST(UseOfTensorMemory, LanesOfOtherWarps) {
  EXPECT_TRAP(trap_of("mov.b32 %r11, %r10;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%t0}, [%r11];\n", {.threads = 64}),
              "warp 1 can access lanes 32 to 63, not lanes 0 to 31");
  EXPECT_TRAP(trap_of("add.u32 %r11, %r11, 0x110000;\ntcgen05.ld.sync.aligned.16x64b.x1.b32 {%t0}, [%r11];\n"),
              "warp 0 can access lanes 0 to 31, not lanes 17 to 32");
  EXPECT_EQ(trap_of("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%t0}, [%r11];\n", {.threads = 256}), "");
}

TEST(UseOfTensorMemory, ByWholeWarps) {
  EXPECT_TRAP(trap_of("add.u32 %r11, %r11, %r12;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%t0}, [%r11];\n"),
              "the lanes have different addresses: 0x0 and 0x1");
  const std::string half = "setp.lt.u32 %p1, %r12, 16; @%p1 bra on; ret;\non:\n";
  EXPECT_TRAP(trap_of(half + "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%t0}, [%r11];\n"),
              "this instruction needs all 32 lanes of the warp");
}

TEST(UseOfTensorMemory, WrongReleases) {
  const auto release = [](const std::string& address, const std::string& columns) {
    return trap_of("mov.b32 %r20, " + address + "; mov.b32 %r21, " + columns +
                   ";\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 %r20, %r21;\n");
  };
  EXPECT_TRAP(release("32", "32"), "0x20 is not the address of an allocation");
  EXPECT_TRAP(release("0x10000", "64"), "0x10000 is not the address of an allocation");
  EXPECT_TRAP(release("0", "32"), "the allocation at 0x0 has 64 columns, but 32 are to be released");
  EXPECT_TRAP(release("0", "64"), "0x0 is not the address of an allocation: its columns were released already");
}

TEST(UseOfTensorMemory, WrongAllocations) {
  const auto allocate = [](const std::string& columns, const std::string& before = {}) {
    return trap_of(before + "mov.b32 %r20, " + columns +
                   ";\ntcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], %r20;\n");
  };
  EXPECT_TRAP(allocate("48"), "expected a power of two from 32 to 512 as the number of columns, got 48");
  EXPECT_TRAP(allocate("%r12"), "the lanes have different numbers of columns");
  EXPECT_TRAP(allocate("128"), "128 columns are more than the 64 of the last allocation of the block");
  EXPECT_TRAP(allocate("32", "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"),
              "tcgen05.alloc after tcgen05.relinquish_alloc_permit in this block");
  EXPECT_TRAP(trap_of("tcgen05.alloc.cta_group::1.sync.aligned.b32 [%rd1], 32;\n"),
              "tcgen05.alloc must write the address to the block's shared memory");
  EXPECT_TRAP(trap_of("mov.u32 %r20, 0x100000; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r20], 32;\n"),
              "invalid __shared__ write of size 4 bytes");
}

std::string trap_of_copy(const std::string& address, const std::string& descriptor) {
  return run_kernel(
             tensor_kernel("mov.u32 %r21, s; add.u32 %r20, %r10, " + address + "; mov.b64 %rd10, " + descriptor +
                               "; setp.eq.u32 %p1, %r1, 7;\n@%p1 tcgen05.cp.cta_group::1.128x128b [%r20], %rd10;\n",
                           64, ".shared .align 1024 .b8 s[4096];\n"))
      .trap;
}

TEST(UseOfTensorMemory, ForgedDescriptors) {
  EXPECT_EQ(trap_of_copy("0", "0x400800000000"), "");
  EXPECT_TRAP(trap_of_copy("0", "0x400800000fff"),
              "the descriptor 0x400800000fff reaches beyond the 4112 bytes of shared");
  EXPECT_TRAP(trap_of_copy("0", "0x402000000000"), "reaches beyond");
  EXPECT_TRAP(trap_of_copy("0", "0x000800000000"), "is invalid: its bits 46 to 48 must be 1");
  EXPECT_TRAP(trap_of_copy("0", "0x6000400800000000"), "its swizzling mode (bits 61 to 63) must be 0, 1, 2, 4 or 6");
  EXPECT_TRAP(trap_of_copy("0", "0x0020400800000000"), "its bits 53 to 60 must be 0");
  EXPECT_TRAP(trap_of_copy("0", "0x0010400800000000"), "only for tcgen05.mma with K = 96");
  EXPECT_TRAP(trap_of_copy("61", "0x400800000000"), "the destination at 0x3d is in columns 61 to 64");
  EXPECT_TRAP(trap_of_copy("0x200000", "0x400800000000"), "is in lanes 32 to 159, but there are only 128");
  EXPECT_TRAP(trap_of_copy("0", "0"), "by thread (7,0,0) in block (0,0,0)");
}

TEST(UseOfTensorMemory, WrongShifts) {
  EXPECT_TRAP(trap_of("add.u32 %r20, %r10, 0x100000; tcgen05.shift.cta_group::1.down [%r20];\n"),
              "the lane of 0x100000 must be a multiple of 32");
  EXPECT_TRAP(trap_of("tcgen05.shift.cta_group::1.down [%r10+57];\n"), "the matrix at 0x39 is in columns 57 to 64");
}

// Three warps want 256 columns each.
TEST(UseOfTensorMemory, AllocationsWaitForReleases) {
  const std::string body = "shl.b32 %r20, %r13, 2; mov.u32 %r21, places; add.u32 %r20, %r20, %r21;\n"
                           "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r20], 256;\n"
                           "ld.shared.u32 %r22, [%r20]; add.u32 %r23, %r22, 1; and.b32 %r24, %r13, 3; shl.b32 %r24, "
                           "%r24, 21; add.u32 %r24, %r24, %r22;\n"
                           "mov.b32 %t0, %r1; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r24], {%t0};\n"
                           "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%t1}, [%r24]; st.global.u32 [%rd2], %t1;\n"
                           "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r22, 256;\nret;";
  const Ran ran = run_kernel(tensor_program(body, ".shared .b32 places[4];\n"), {.threads = 96});
  ASSERT_EQ(ran.trap, "");
  EXPECT_EQ(ran.words[95], 95u);
}

TEST(UseOfTensorMemory, AWaitWithoutEndIsADeadlock) {
  const std::string body = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], 512;\n"
                           "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], 32;\nret;";
  EXPECT_TRAP(run_kernel(tensor_program(body)).trap, "warp 0 lanes 0-31 wait for columns of tensor memory (line ");
}

std::string pair_program(const std::string& body) {
  return tensor_program("mov.u32 %r30, %cluster_ctarank;\n" + body, ".shared .align 1024 .b8 s[4096];\n");
}

TEST(UseOfTensorMemory, BlocksOfAPairAllocateTogether) {
  const std::string body =
      "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [place], 64;\n"
      "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;\n"
      "ld.shared.u32 %r10, [place]; add.u32 %t0, %r2, 5; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r10], {%t0};\n"
      "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%t1}, [%r10]; st.global.u32 [%rd2], %t1;\n"
      "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
      "tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r10, 64;\nret;";
  const Ran ran = run_kernel(pair_program(body), {.blocks = 4, .cluster = 2});
  ASSERT_EQ(ran.trap, "");
  for (std::uint32_t i = 0; i < 128; ++i) EXPECT_EQ(ran.words[i], i + 5);
}

// Thread 0 of block 0 copies for both blocks, of each its own words; block 1 then shifts both.
TEST(UseOfTensorMemory, BlocksOfAPairCopyTogether) {
  const std::string meet = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
  const std::string body =
      "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [place], 32;\nld.shared.u32 %r10, [place];\n"
      "mov.u32 %r20, s; shl.b32 %r21, %r1, 4; add.u32 %r21, %r21, %r20; st.shared.v4.u32 [%r21], {%r2, %r2, %r2, "
      "%r2};\n"
      "mov.b64 %rd10, 0x400800000000; shr.u32 %r21, %r20, 4; cvt.u64.u32 %rd11, %r21; or.b64 %rd10, %rd10, %rd11;\n" +
      meet + "setp.eq.u32 %p1, %r2, 0;\n@%p1 tcgen05.cp.cta_group::2.32x128b.warpx4 [%r10], %rd10;\n" + meet +
      "setp.eq.u32 %p1, %r2, 32;\n@%p1 tcgen05.shift.cta_group::2.down [%r10];\n" + meet +
      "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%t1}, [%r10+3]; st.global.u32 [%rd2], %t1;\n"
      "tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r10, 32;\nret;";
  const Ran ran = run_kernel(pair_program(body), {.blocks = 2, .cluster = 2});
  ASSERT_EQ(ran.trap, "");
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(ran.words[i], i % 32 == 0 ? i : i - 1) << i;
}

TEST(UseOfTensorMemory, WrongPairs) {
  const std::string allocate = "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [place], %r31;\nret;";
  EXPECT_TRAP(run_kernel(pair_program("mov.b32 %r31, 32;\n" + allocate)).trap,
              "'.cta_group::2' needs a cluster with a second block of the pair");
  EXPECT_TRAP(run_kernel(pair_program("shl.b32 %r31, 64, %r30;\n" + allocate), {.blocks = 2, .cluster = 2}).trap,
              "the blocks of a pair ask for ");
  EXPECT_TRAP(
      run_kernel(pair_program("mov.b32 %r31, 32; setp.eq.u32 %p1, %r30, 1; @%p1 bra end;\n"
                              "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [place], %r31;\nend: ret;"),
                 {.blocks = 2, .cluster = 2})
          .trap,
      "the other block of the pair has exited");
}

} // namespace tensor_memory_use_test
} // namespace warplens::tests
