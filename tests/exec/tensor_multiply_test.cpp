// SPDX-License-Identifier: Apache-2.0
// tcgen05.mma computes the plain product in all shapes, types and layouts of 9.7.16.10, and wrong uses stop the kernel.
#include "tests/exec/tensor_kernels.hpp"
#include "tests/exec/tensor_products.hpp"

namespace warplens::tests {
namespace tensor_multiply_test {

const std::string kOne = ".cta_group::1", kTwo = ".cta_group::2";

TEST(TensorMultiply, Halves) {
  for (const int n : {8, 64, 136, 256})
    for (const bool a_in_tensor_memory : {false, true}) {
      expect_product({.words = kOne + ".kind::f16", .n = n, .a_in_tensor_memory = a_in_tensor_memory});
      expect_product({.words = kOne + ".kind::f16", .d = "f16", .n = n, .a_in_tensor_memory = a_in_tensor_memory});
      expect_product({.words = kOne + ".kind::f16",
                      .a = "bf16",
                      .b = "f16",
                      .n = n,
                      .a_in_tensor_memory = a_in_tensor_memory,
                      .accumulate = false});
    }
}

TEST(TensorMultiply, HalfOfTheLanes) {
  for (const std::uint32_t lane : {0u, 16u})
    for (const bool a_in_tensor_memory : {false, true}) {
      expect_product({.words = kOne + ".kind::f16", .m = 64, .a_in_tensor_memory = a_in_tensor_memory, .d_lane = lane});
      expect_product({.words = ".sp" + kOne + ".kind::f16",
                      .m = 64,
                      .k = 32,
                      .a_in_tensor_memory = a_in_tensor_memory,
                      .d_lane = lane});
    }
}

TEST(TensorMultiply, Swizzled) {
  for (const std::uint64_t mode : {0, 2, 4, 6})
    for (const bool a_transposed : {false, true})
      for (const bool b_transposed : {false, true})
        for (const char* const type : {"f16", "e4m3"}) {
          const bool bytes = type[0] == 'e';
          expect_product({.words = kOne + (bytes ? ".kind::f8f6f4" : ".kind::f16"),
                          .a = type,
                          .b = type,
                          .n = 64,
                          .k = bytes ? 32 : 16,
                          .a_transposed = a_transposed,
                          .b_transposed = b_transposed,
                          .swizzling = mode});
        }
  expect_product({.words = kOne + ".kind::tf32",
                  .a = "tf32",
                  .b = "tf32",
                  .k = 8,
                  .a_transposed = true,
                  .b_transposed = true,
                  .swizzling = 1});
}

TEST(TensorMultiply, OtherTypes) {
  expect_product({.words = kOne + ".kind::tf32", .a = "tf32", .b = "tf32", .n = 24, .k = 8});
  expect_product({.words = kOne + ".kind::tf32", .a = "tf32", .b = "tf32", .k = 8, .a_in_tensor_memory = true});
  for (const char* const a : {"e4m3", "e5m2", "e2m3", "e3m2", "e2m1"})
    for (const char* const b : {"e4m3", "e5m2", "e2m3", "e3m2", "e2m1"})
      expect_product({.words = kOne + ".kind::f8f6f4", .a = a, .b = b, .n = 16, .k = 32, .a_in_tensor_memory = a == b});
  for (const char* const a : {"u8", "s8"})
    for (const char* const b : {"u8", "s8"})
      expect_product(
          {.words = kOne + ".kind::i8", .a = a, .b = b, .d = "s32", .n = 48, .k = 32, .a_in_tensor_memory = a == b});
  expect_product({.words = kOne + ".kind::f8f6f4", .a = "e4m3", .b = "e5m2", .d = "f16", .k = 32});
}

TEST(TensorMultiply, IntegersSaturate) {
  for (const int base : {0x7ffffff0, -0x7ffffff0})
    expect_product(
        {.words = kOne + ".kind::i8", .a = "s8", .b = "s8", .d = "s32", .k = 32, .more_bits = 8, .d_base = base});
}

TEST(TensorMultiply, Negated) {
  expect_product({.words = kOne + ".kind::f16", .negate_a = true});
  expect_product({.words = kOne + ".kind::tf32", .a = "tf32", .b = "tf32", .k = 8, .negate_b = true});
  expect_product({.words = kOne + ".kind::f16", .negate_a = true, .negate_b = true});
}

TEST(TensorMultiply, Sparse) {
  for (const bool a_in_tensor_memory : {false, true}) {
    expect_product({.words = ".sp" + kOne + ".kind::f16", .k = 32, .a_in_tensor_memory = a_in_tensor_memory});
    expect_product({.words = ".sp" + kOne + ".kind::tf32",
                    .a = "tf32",
                    .b = "tf32",
                    .k = 16,
                    .a_in_tensor_memory = a_in_tensor_memory});
    expect_product({.words = ".sp" + kOne + ".kind::f8f6f4",
                    .a = "e4m3",
                    .b = "e5m2",
                    .k = 64,
                    .a_in_tensor_memory = a_in_tensor_memory});
    expect_product({.words = ".sp" + kOne + ".kind::i8",
                    .a = "s8",
                    .b = "s8",
                    .d = "s32",
                    .k = 64,
                    .a_in_tensor_memory = a_in_tensor_memory});
  }
}

TEST(TensorMultiply, SparsitySelectors) {
  expect_product({.words = ".sp" + kOne + ".kind::f16", .k = 32, .more_bits = 1});
  expect_product({.words = ".sp" + kOne + ".kind::tf32", .a = "tf32", .b = "tf32", .k = 16, .more_bits = 1});
}

TEST(TensorMultiply, StationaryWeights) {
  for (const int m : {32, 64, 128})
    for (const bool a_in_tensor_memory : {false, true}) {
      expect_product(
          {.words = ".ws" + kOne + ".kind::f16", .m = m, .n = 128, .a_in_tensor_memory = a_in_tensor_memory});
      expect_product({.words = ".ws.sp" + kOne + ".kind::i8.collector::b2::fill",
                      .a = "s8",
                      .b = "s8",
                      .d = "s32",
                      .m = m,
                      .n = 128,
                      .k = 64,
                      .a_in_tensor_memory = a_in_tensor_memory});
      expect_product(
          {.words = ".ws.sp" + kOne + ".kind::f16", .m = m, .k = 32, .a_in_tensor_memory = a_in_tensor_memory});
    }
}

TEST(TensorMultiply, Pairs) {
  for (const int m : {128, 256})
    for (const bool a_in_tensor_memory : {false, true}) {
      expect_product({.words = kTwo + ".kind::f16", .m = m, .n = 96, .a_in_tensor_memory = a_in_tensor_memory});
      expect_product(
          {.words = ".sp" + kTwo + ".kind::f16", .m = m, .n = 96, .k = 32, .a_in_tensor_memory = a_in_tensor_memory});
      expect_product({.words = kTwo + ".kind::i8",
                      .a = "u8",
                      .b = "s8",
                      .d = "s32",
                      .m = m,
                      .n = 96,
                      .k = 32,
                      .a_in_tensor_memory = a_in_tensor_memory});
    }
}

// sm_103a: rows have 48 bytes, and three or six scales, which go on in a second word.
TEST(TensorMultiply, LongRowsOfFourBits) {
  const std::string three = ".kind::mxf4.block_scale.block32", six = ".kind::mxf4nvf4.block_scale.block16";
  for (const bool a_in_tensor_memory : {false, true})
    for (const int n : {64, 160}) {
      for (const std::uint32_t id : {0u, 1u, 2u, 3u})
        expect_product({.words = kOne + three,
                        .a = "packed",
                        .b = "packed",
                        .n = n,
                        .k = 96,
                        .a_in_tensor_memory = a_in_tensor_memory,
                        .more_bits = id << 29 | (3 - id) << 4});
      for (const std::uint32_t id : {0u, 2u})
        expect_product({.words = kOne + six,
                        .a = "packed",
                        .b = "packed",
                        .n = n,
                        .k = 96,
                        .a_in_tensor_memory = a_in_tensor_memory,
                        .scales_with_fraction = true,
                        .more_bits = id << 29 | (2 - id) << 4});
    }
  for (const int m : {128, 256})
    expect_product({.words = kTwo + six, .a = "packed", .b = "packed", .m = m, .n = 160, .k = 96});
  for (const bool continued : {false, true})
    expect_product({.words = kOne + three,
                    .a = "packed",
                    .b = "packed",
                    .n = 32,
                    .k = 96,
                    .swizzling = 2,
                    .continued = continued});
}

TEST(TensorMultiply, BlocksHaveScales) {
  for (const bool a_in_tensor_memory : {false, true}) {
    for (const std::uint32_t id : {0u, 1u, 3u})
      expect_product({.words = kOne + ".kind::mxf8f6f4.block_scale",
                      .a = "e4m3",
                      .b = "e2m1",
                      .n = 136,
                      .k = 32,
                      .a_in_tensor_memory = a_in_tensor_memory,
                      .more_bits = id << 29 | (3 - id) << 4});
    expect_product({.words = kOne + ".kind::mxf4.block_scale.scale_vec::2X",
                    .a = "packed",
                    .b = "packed",
                    .k = 64,
                    .a_in_tensor_memory = a_in_tensor_memory,
                    .more_bits = 2u << 29});
    expect_product({.words = kOne + ".kind::mxf4nvf4.block_scale.block16",
                    .a = "packed",
                    .b = "packed",
                    .k = 64,
                    .a_in_tensor_memory = a_in_tensor_memory,
                    .scales_with_fraction = true});
    expect_product({.words = ".sp" + kOne + ".kind::mxf4nvf4.block_scale.scale_vec::4X",
                    .a = "packed",
                    .b = "packed",
                    .k = 128,
                    .a_in_tensor_memory = a_in_tensor_memory});
    expect_product({.words = ".sp" + kOne + ".kind::mxf8f6f4.block_scale.block32",
                    .a = "e5m2",
                    .b = "e5m2",
                    .k = 64,
                    .a_in_tensor_memory = a_in_tensor_memory});
  }
  for (const int m : {128, 256})
    expect_product({.words = kTwo + ".kind::mxf8f6f4.block_scale",
                    .a = "e3m2",
                    .b = "e2m3",
                    .m = m,
                    .n = 128,
                    .k = 32,
                    .negate_a = true});
}

TEST(TensorMultiply, LanesAreMasked) {
  expect_product(
      {.words = kOne + ".kind::f16", .masked_lanes = {0xff, 0, 0x80000001, 0xffffffff}, .masks_lanes = true});
  expect_product(
      {.words = kTwo + ".kind::f16", .m = 256, .masked_lanes = {1, 2, 3, 4, 5, 6, 7, 0xffff0000}, .masks_lanes = true});
}

TEST(TensorMultiply, DIsReduced) {
  TensorProductTest test({.words = kOne + ".kind::f16.collector::a::fill", .operands = ", 3"});
  test.set_d_factor(1.0 / 8);
  ASSERT_EQ(test.run(), "");
  EXPECT_EQ(test.differences(), "");
}

TEST(TensorMultiply, RowsOfAAreShifted) {
  for (const int m : {128, 256}) {
    TensorProductTest test(
        {.words = (m == 128 ? kOne : kTwo) + ".kind::f16.ashift", .m = m, .a_in_tensor_memory = true});
    test.shifted_rows = true;
    ASSERT_EQ(test.run(), "");
    EXPECT_EQ(test.differences(), "");
  }
}

// Examples 2 and 4 of 9.7.16.4.3.
TEST(TensorMultiply, ColumnsOfBAreZero) {
  TensorProductTest one({.words = ".ws" + kOne + ".kind::f16", .operands = ", 0x0003028000000000"});
  for (int j = 0; j < 64; ++j)
    if (j % 7 >= 4) one.zero_columns.push_back(j);
  ASSERT_EQ(one.run(), "");
  EXPECT_EQ(one.differences(), "");
  for (const bool transposed : {false, true}) {
    TensorProductTest four({.words = ".ws" + kOne + ".kind::f16",
                            .m = 32,
                            .n = 128,
                            .b_transposed = transposed,
                            .operands = ", 0x0203028301020100",
                            .more_bits = 1u << 30});
    four.shift = 2;
    const int first_zeros[] = {3, 2, 0, 0}, first_used[] = {0, 0, 2, 3};
    for (int mask = 0; mask < 4; ++mask)
      for (int j = 0; j < 32; ++j) {
        const bool is_zero = first_used[mask] == 0 ? (j < first_zeros[mask] || (j - first_zeros[mask]) % 7 >= 4)
                                                   : j >= first_used[mask] && (j - first_used[mask]) % 7 < 3;
        if (is_zero) four.zero_columns.push_back(32 * mask + j);
      }
    ASSERT_EQ(four.run(), "");
    EXPECT_EQ(four.differences(), "");
  }
}

std::string trap_of(const TensorForm& form) { return TensorProductTest(form).run(); }
void expect_trap(const TensorForm& form, const std::string& part) {
  const std::string trap = trap_of(form);
  EXPECT_NE(trap.find(part), std::string::npos) << form.words << form.before << "\n" << trap;
}

TEST(TensorMultiply, InvalidInstructionDescriptors) {
  const std::string f16 = kOne + ".kind::f16";
  expect_trap({.words = f16, .m = 32}, "M = 32 is not possible");
  expect_trap({.words = f16, .before = "add.u32 %r22, %r22, 0x08000000;\n"}, "M = 256 is not possible");
  expect_trap({.words = f16, .before = "and.b32 %r22, %r22, 0xff81ffff;\n"}, "N = 0 is not possible with M = 128");
  expect_trap({.words = f16, .before = "or.b32 %r22, %r22, 0x40;\n"}, "is invalid for .kind::f16: its bit 6 must be 0");
  expect_trap({.words = f16, .before = "or.b32 %r22, %r22, 4;\n"}, "says that A is sparse");
  expect_trap({.words = f16, .before = "or.b32 %r22, %r22, 8;\n"}, "saturation");
  expect_trap({.words = f16, .a = "tf32"}, "A cannot have type 2");
  expect_trap({.words = f16, .a = "bf16", .b = "bf16", .d = "f16"}, "needs factors of .f16");
  expect_trap({.words = f16, .a_in_tensor_memory = true, .a_transposed = true}, "A cannot be transposed");
  expect_trap({.words = f16 + ".ashift", .m = 64, .a_in_tensor_memory = true}, "'.ashift' needs M = 128");
  expect_trap({.words = kOne + ".kind::i8", .a = "s8", .b = "s8", .d = "s32", .n = 40, .k = 32},
              "N = 40 is not possible");
  expect_trap({.words = kOne + ".kind::f8f6f4", .a = "e4m3", .b = "e4m3", .n = 24, .k = 32, .b_transposed = true},
              "N = 24");
  expect_trap({.words = kOne + ".kind::f8f6f4", .a = "e2m1", .b = "e4m3", .k = 32, .a_transposed = true},
              "less than 8 bits");
  expect_trap({.words = ".ws" + kOne + ".kind::f16", .n = 96}, "N = 96 is not possible");
  expect_trap({.words = kOne + ".kind::mxf4.block_scale", .a = "packed", .b = "packed", .k = 64, .more_bits = 1u << 29},
              "no scale factor ID");
  const std::string mxf4 = kOne + ".kind::mxf4.block_scale";
  expect_trap({.words = mxf4, .a = "packed", .b = "packed", .k = 96, .target = "sm_100a"}, "K = 96 needs sm_103a");
  expect_trap({.words = ".sp" + mxf4, .a = "packed", .b = "packed", .k = 128, .more_bits = 1u << 31},
              "its bit 31 must be 0");
  expect_trap({.words = kOne + ".kind::mxf4nvf4.block_scale.block16",
               .a = "packed",
               .b = "packed",
               .k = 96,
               .scales_with_fraction = true,
               .more_bits = 1u << 29},
              "1 is no scale factor ID of 6 scales");
  expect_trap(
      {.words = kOne + ".kind::mxf8f6f4.block_scale", .a = "e4m3", .b = "e4m3", .k = 32, .scales_with_fraction = true},
      "scales of .ue4m3");
}

TEST(TensorMultiply, ForgedMatrixDescriptorsOfLongRows) {
  const TensorForm form{.words = kOne + ".kind::mxf4.block_scale",
                        .a = "packed",
                        .b = "packed",
                        .n = 32,
                        .k = 96,
                        .swizzling = 2,
                        .continued = true};
  const auto with = [&](const std::string& before, int k = 96) {
    TensorForm changed = form;
    changed.before = before, changed.k = k;
    return changed;
  };
  EXPECT_EQ(trap_of(form), "");
  expect_trap(with("or.b64 %rd10, %rd10, 0x10000;\n"), "must be a multiple of 128 bytes");
  expect_trap(with("xor.b64 %rd11, %rd11, 0xc000000000000000;\n"), "which are swizzled"); // 64 bytes
  expect_trap(with("or.b64 %rd11, %rd11, 0x3ff80000;\n"), "reaches beyond the");
  TensorForm shorter = with("", 64);
  shorter.target = "sm_103a";
  expect_trap(shorter, "only for tcgen05.mma with K = 96");
}

TEST(TensorMultiply, ForgedMatrixDescriptors) {
  const std::string f16 = kOne + ".kind::f16";
  expect_trap({.words = f16, .before = "or.b64 %rd10, %rd10, 0x3fff;\n"}, "the descriptor of A");
  expect_trap({.words = f16, .before = "or.b64 %rd11, %rd11, 0x3fff;\n"}, "reaches beyond the");
  expect_trap({.words = f16, .before = "or.b64 %rd11, %rd11, 0x3fff0000;\n"}, "reaches beyond the");
  expect_trap({.words = f16, .before = "or.b64 %rd11, %rd11, 0x00003fff00000000;\n"}, "reaches beyond the");
  expect_trap({.words = f16, .before = "or.b64 %rd11, %rd11, 0x6000000000000000;\n"}, "its swizzling mode");
  expect_trap({.words = f16, .before = "or.b64 %rd11, %rd11, 0x2000000000000000;\n"}, "only for transposed elements");
  expect_trap({.words = f16, .before = "xor.b64 %rd10, %rd10, 0x0000400000000000;\n"}, "its bits 46 to 48 must be 1");
  expect_trap({.words = kOne + ".kind::tf32", .a = "tf32", .b = "tf32", .k = 8, .a_transposed = true},
              "need swizzling of 128 by 32");
}

TEST(TensorMultiply, PlacesInTensorMemory) {
  const std::string f16 = kOne + ".kind::f16";
  expect_trap({.words = f16, .before = "add.u32 %r20, %r20, 500;\n"}, "D");
  expect_trap({.words = f16, .before = "add.u32 %r20, %r20, 0x00200000;\n"}, "D");
  expect_trap({.words = f16, .a_in_tensor_memory = true, .before = "add.u32 %r21, %r21, 250;\n"}, "A");
  expect_trap({.words = f16, .m = 64, .before = "add.u32 %r20, %r20, 0x00080000;\n"},
              "D begins at lane 8 instead of 0 or 16");
  expect_trap({.words = f16, .m = 64, .a_in_tensor_memory = true, .before = "add.u32 %r20, %r20, 0x00100000;\n"},
              "A begins at lane 0, but D at lane 16");
  expect_trap({.words = ".ws" + kOne + ".kind::f16", .operands = ", 0x0100000000000000"},
              "it shifts by 1 columns, more than 0");
}

std::string commit_kernel(const std::string& before, const std::string& commit, const std::string& after = "") {
  return tensor_program(
      "mov.u32 %r20, b; mov.u32 %r22, %ctaid.x; setp.eq.u32 %p1, %r1, 0; setp.eq.and.u32 %p2, %r22, 0, %p1;\n" +
          before + "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n@%p2 " + commit + after +
          "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
          "mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r20], 0; selp.u32 %r21, 1, 0, %p3; st.global.u32 [%rd2], "
          "%r21; ret;",
      ".shared .align 8 .b64 b;\n");
}

TEST(TensorCommit, ArrivesOnce) {
  const std::string init = "@%p1 mbarrier.init.shared::cta.b64 [%r20], 2;\n";
  const std::string commit = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r20];\n";
  EXPECT_EQ(run_kernel(commit_kernel(init, commit)).words[0], 0u);
  const Ran ran = run_kernel(commit_kernel(init, commit, "@%p2 " + commit));
  EXPECT_EQ(ran.trap, "");
  EXPECT_EQ(ran.words[0], 1u);
}

TEST(TensorCommit, ArrivesInTheBlocksOfAMask) {
  const std::string init = "mov.b16 %h1, 6; @%p1 mbarrier.init.shared::cta.b64 [%r20], 1;\n";
  const std::string commit =
      "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r20], %h1;\n";
  const Ran ran = run_kernel(commit_kernel(init, commit), {.blocks = 4, .cluster = 4});
  ASSERT_EQ(ran.trap, "");
  for (const std::size_t block : {0u, 1u, 2u, 3u}) EXPECT_EQ(ran.words[32 * block], block == 1 || block == 2 ? 1u : 0u);
  EXPECT_NE(run_kernel(commit_kernel(init, commit), {.blocks = 2, .cluster = 2}).trap.find("the mask names blocks"),
            std::string::npos);
}

TEST(TensorCommit, NeedsAnMbarrier) {
  const std::string commit = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%rd10];\n";
  const std::string address = "mov.u64 %rd10, b; cvta.shared.u64 %rd10, %rd10;\n";
  EXPECT_NE(run_kernel(commit_kernel(address, commit)).trap.find("no initialised mbarrier"), std::string::npos);
  EXPECT_NE(run_kernel(commit_kernel("mov.u64 %rd10, %rd1;\n", commit)).trap.find("must be in shared memory"),
            std::string::npos);
  const std::string one = "@%p1 mbarrier.init.shared::cta.b64 [%r20], 1; add.u64 %rd10, %rd10, 4;\n";
  EXPECT_NE(run_kernel(commit_kernel(address + one, commit)).trap.find("misaligned"), std::string::npos);
}

} // namespace tensor_multiply_test
} // namespace warplens::tests
