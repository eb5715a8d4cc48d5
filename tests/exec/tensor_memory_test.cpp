// SPDX-License-Identifier: Apache-2.0
// Tensor memory and the tcgen05 instructions that move data in and out of it. No GPU with tensor memory could be asked:
// the expected layouts are those of the manual's section 9.7.16 and of compilers for these GPUs.
#include "emulator/exec/memory/tensor_memory.hpp"
#include "tests/exec/tensor_kernels.hpp"

namespace warplens::tests {
namespace tensor_memory_test {

using exec::TensorMemory;

TEST(TensorMemory, AllocatesTheLowestFreeColumns) {
  TensorMemory memory;
  EXPECT_EQ(memory.allocate(256, {}), 0u);
  EXPECT_EQ(memory.allocate(128, {}), 256u);
  EXPECT_EQ(memory.allocate(128, {}), 384u);
  EXPECT_EQ(memory.allocate(32, {}), std::nullopt);
  memory.release(256);
  EXPECT_EQ(memory.allocate(64, {}), 256u);
  EXPECT_EQ(memory.allocate(64, {}), 320u);
}

TEST(TensorMemory, KnowsWhatIsAllocated) {
  using State = TensorMemory::State;
  TensorMemory memory;
  memory.allocate(64, {});
  EXPECT_EQ(memory.state(0, 64), State::allocated);
  EXPECT_EQ(memory.state(63, 1), State::allocated);
  EXPECT_EQ(memory.state(63, 2), State::never_allocated);
  EXPECT_EQ(memory.state(500, 13), State::outside);
  EXPECT_EQ(memory.state(0xffff, 1), State::outside);
  memory.release(0);
  EXPECT_EQ(memory.state(0, 1), State::released);
  memory.reset();
  EXPECT_EQ(memory.state(0, 1), State::never_allocated);
}

TEST(TensorMemory, HasPowersOfTwoFrom32To512) {
  for (const std::uint32_t size : {32u, 64u, 128u, 256u, 512u}) EXPECT_TRUE(TensorMemory::is_size(size)) << size;
  for (const std::uint32_t size : {0u, 1u, 16u, 48u, 96u, 1024u, 0x80000000u})
    EXPECT_FALSE(TensorMemory::is_size(size)) << size;
}

std::string registers(int count) {
  std::string list = "{";
  for (int i = 0; i < count; ++i) list += (i == 0 ? "%t" : ", %t") + std::to_string(i);
  return list + "}";
}

// Each word of 32 lanes and `columns` columns is 1000 * lane + column.
std::string numbered(int columns) {
  std::string text = "mul.lo.u32 %r20, %r1, 1000;\n";
  for (int c = 0; c < columns; ++c) text += "add.u32 %t" + std::to_string(c) + ", %r20, " + std::to_string(c) + ";\n";
  return text + "tcgen05.st.sync.aligned.32x32b.x" + std::to_string(columns) + ".b32 [%r11], " + registers(columns) +
         ";\ntcgen05.wait::st.sync.aligned;\n";
}

// The words that each thread of a block gets.
std::vector<std::vector<std::uint32_t>> loaded(const std::string& load, int count, std::uint32_t threads = 32) {
  std::string body = numbered(64) + load + "tcgen05.wait::ld.sync.aligned;\n";
  body +=
      "mul.lo.u32 %r20, %r1, " + std::to_string(4 * count) + "; cvt.u64.u32 %rd10, %r20; add.u64 %rd10, %rd10, %rd1;\n";
  for (int i = 0; i < count; ++i)
    body += "st.global.u32 [%rd10+" + std::to_string(4 * i) + "], %t" + std::to_string(i) + ";\n";
  const Ran ran =
      run_kernel(tensor_kernel(body), {.threads = threads, .words = threads * static_cast<std::size_t>(count)});
  EXPECT_EQ(ran.trap, "");
  std::vector<std::vector<std::uint32_t>> by_thread;
  for (std::size_t t = 0; t < threads; ++t)
    by_thread.emplace_back(ran.words.begin() + static_cast<std::ptrdiff_t>(t * static_cast<std::size_t>(count)),
                           ran.words.begin() + static_cast<std::ptrdiff_t>((t + 1) * static_cast<std::size_t>(count)));
  return by_thread;
}

using Words = std::vector<std::uint32_t>;

TEST(TensorMemory, LoadsWhatWasStored) {
  const auto words = loaded("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%t0, %t1, %t2, %t3}, [%r11+2];\n", 4, 128);
  for (std::uint32_t t = 0; t < 128; ++t)
    EXPECT_EQ(words[t], (Words{1000 * t + 2, 1000 * t + 3, 1000 * t + 4, 1000 * t + 5})) << t;
}

TEST(TensorMemory, LayoutOf16Lanes) {
  const auto of64 = loaded("tcgen05.ld.sync.aligned.16x64b.x2.b32 {%t0, %t1}, [%r11];\n", 2);
  EXPECT_EQ(of64[0], (Words{0, 2}));
  EXPECT_EQ(of64[1], (Words{8000, 8002}));
  EXPECT_EQ(of64[2], (Words{1, 3}));
  EXPECT_EQ(of64[3], (Words{8001, 8003}));
  EXPECT_EQ(of64[31], (Words{15001, 15003}));
  const auto of128 = loaded("tcgen05.ld.sync.aligned.16x128b.x2.b32 {%t0, %t1, %t2, %t3}, [%r11];\n", 4);
  EXPECT_EQ(of128[0], (Words{0, 8000, 4, 8004}));
  EXPECT_EQ(of128[6], (Words{1002, 9002, 1006, 9006}));
  const auto of256 = loaded("tcgen05.ld.sync.aligned.16x256b.x1.b32 {%t0, %t1, %t2, %t3}, [%r11];\n", 4);
  EXPECT_EQ(of256[0], (Words{0, 1, 8000, 8001}));
  EXPECT_EQ(of256[7], (Words{1006, 1007, 9006, 9007}));
  const auto two = loaded("tcgen05.ld.sync.aligned.16x32bx2.x2.b32 {%t0, %t1}, [%r11], 16;\n", 2);
  EXPECT_EQ(two[3], (Words{3000, 3001}));
  EXPECT_EQ(two[19], (Words{3016, 3017}));
}

TEST(TensorMemory, TheUpper16LanesOfAWarp) {
  const auto words =
      loaded("add.u32 %r11, %r11, 0x100000;\ntcgen05.ld.sync.aligned.16x64b.x1.b32 {%t0}, [%r11];\n", 1, 64);
  EXPECT_EQ(words[0], Words{16000});
  EXPECT_EQ(words[33], Words{56000});
}

TEST(TensorMemory, StoresHaveTheLayoutOfLoads) {
  for (const std::string shape : {"16x64b.x4", "16x128b.x2", "16x256b.x1", "16x32bx2.x4"}) {
    const std::string split = shape.starts_with("16x32bx2") ? ", 8" : "";
    const auto words = loaded(
        "mov.b32 %t0, %r12; add.u32 %t1, %r12, 100; add.u32 %t2, %r12, 200; add.u32 %t3, %r12, 300;\n"
        "tcgen05.st.sync.aligned." +
            shape + ".b32 [%r11]" + split + ", " + registers(4) + ";\nmov.b32 %t0, 0;\ntcgen05.ld.sync.aligned." +
            shape + ".b32 " + registers(4) + ", [%r11]" + split + ";\n",
        4);
    for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(words[t], (Words{t, t + 100, t + 200, t + 300})) << shape;
  }
}

TEST(TensorMemory, PacksHalvesOfTwoColumns) {
  const auto packed = loaded("tcgen05.ld.sync.aligned.32x32b.x2.pack::16b.b32 {%t0, %t1}, [%r11];\n", 2);
  EXPECT_EQ(packed[1], (Words{1000 | 1001 << 16, 1002 | 1003 << 16}));
  const auto unpacked = loaded("mov.b32 %t0, 0x00020001; mov.b32 %t1, 0x00040003;\n"
                               "tcgen05.st.sync.aligned.32x32b.x2.unpack::16b.b32 [%r11], {%t0, %t1};\n"
                               "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%t0, %t1, %t2, %t3}, [%r11];\n",
                               4);
  EXPECT_EQ(unpacked[0], (Words{1, 2, 3, 4}));
}

TEST(TensorMemory, All128Registers) {
  const std::string all = registers(128);
  std::string body;
  for (int i = 0; i < 128; ++i) body += "add.u32 %t" + std::to_string(i) + ", %r1, " + std::to_string(i) + ";\n";
  body += "tcgen05.st.sync.aligned.32x32b.x128.b32 [%r11], " + all + ";\n" +
          "tcgen05.ld.sync.aligned.32x32b.x128.b32 " + all + ", [%r11];\nst.global.u32 [%rd2], %t127;";
  const Ran ran = run_kernel(tensor_kernel(body, 128));
  ASSERT_EQ(ran.trap, "");
  EXPECT_EQ(ran.words[5], 132u);
}

TEST(TensorMemory, LoadsWithAReduction) {
  const auto least = loaded("tcgen05.ld.red.sync.aligned.32x32b.x4.min.u32 {%t1, %t2, %t3, %t4}, %t0, [%r11+3];\n", 1);
  EXPECT_EQ(least[2], Words{2003});
  const auto most = loaded("tcgen05.ld.red.sync.aligned.16x32bx2.x2.max.s32 {%t1, %t2}, %t0, [%r11], 8;\n", 1);
  EXPECT_EQ(most[2], Words{2001});
  EXPECT_EQ(most[18], Words{2009});
  const std::string floats =
      "mov.b32 %t0, 0xc0000000; mov.b32 %t1, 0x3f800000; mov.b32 %t2, 0x7fc00000; mov.b32 %t3, 0;\n"
      "tcgen05.st.sync.aligned.32x32b.x4.b32 [%r11], " +
      registers(4) + ";\n";
  const auto reduce = [&](const std::string& how) {
    return loaded(floats + "tcgen05.ld.red.sync.aligned.32x32b.x4." + how + ".f32 {%t1, %t2, %t3, %t4}, %t0, [%r11];\n",
                  1)[0][0];
  };
  EXPECT_EQ(reduce("min"), 0xc0000000u);
  EXPECT_EQ(reduce("max"), 0x3f800000u);
  EXPECT_EQ(reduce("max.abs"), 0x40000000u);
  EXPECT_EQ(reduce("min.NaN"), 0x7fffffffu);
}

// ---- tcgen05.cp and tcgen05.shift

// Byte i of shared memory holds i / 4 in words, as 16-bit halves i / 2, or the low byte of i; then `copy` copies with
// the descriptor in %rd12, whose start is s. Without swizzling, a row of 16 bytes follows the one before it.
std::vector<std::vector<std::uint32_t>> copied(const std::string& copy, std::uint64_t descriptor, int columns) {
  std::string body = "mov.u32 %r20, s; shr.u32 %r21, %r20, 4; cvt.u64.u32 %rd12, %r21; mov.b64 %rd13, " +
                     std::to_string(descriptor) +
                     "; or.b64 %rd12, %rd12, %rd13; mov.u32 %r22, %r1;\n"
                     "fill: shl.b32 %r23, %r22, 2; add.u32 %r23, %r23, %r20; st.shared.u32 [%r23], %r22; add.u32 %r22, "
                     "%r22, 128; setp.lt.u32 %p1, %r22, 2048; @%p1 bra fill;\nbar.sync 0;\n"
                     "setp.eq.u32 %p2, %r1, 0;\n@%p2 " +
                     copy + " [%r10], %rd12;\nbar.sync 0;\n";
  body += "tcgen05.ld.sync.aligned.32x32b.x" + std::to_string(columns) + ".b32 " + registers(columns) + ", [%r11];\n";
  body += "mul.lo.u32 %r20, %r1, " + std::to_string(4 * columns) +
          "; cvt.u64.u32 %rd10, %r20; add.u64 %rd10, %rd10, %rd1;\n";
  for (int i = 0; i < columns; ++i)
    body += "st.global.u32 [%rd10+" + std::to_string(4 * i) + "], %t" + std::to_string(i) + ";\n";
  const auto count = static_cast<std::size_t>(columns);
  const Ran ran =
      run_kernel(tensor_kernel(body, 64, ".shared .align 1024 .b8 s[8192];\n"), {.threads = 128, .words = 128 * count});
  EXPECT_EQ(ran.trap, "");
  std::vector<Words> lanes;
  for (std::size_t t = 0; t < 128; ++t)
    lanes.emplace_back(ran.words.begin() + static_cast<std::ptrdiff_t>(t * count),
                       ran.words.begin() + static_cast<std::ptrdiff_t>((t + 1) * count));
  return lanes;
}

constexpr std::uint64_t descriptor_of(std::uint64_t leading, std::uint64_t stride, std::uint64_t mode = 0) {
  return leading / 16 << 16 | stride / 16 << 32 | std::uint64_t{1} << 46 | mode << 61;
}

Words words_from(std::uint32_t first) { return {first, first + 1, first + 2, first + 3}; }

TEST(CopyToTensorMemory, RowsOf128Lanes) {
  const auto lanes = copied("tcgen05.cp.cta_group::1.128x128b", descriptor_of(0, 128), 4);
  for (std::uint32_t t = 0; t < 128; ++t) EXPECT_EQ(lanes[t], words_from(4 * t)) << t;
  const auto wide = copied("tcgen05.cp.cta_group::1.128x256b", descriptor_of(2048, 128), 8);
  for (std::uint32_t t = 0; t < 128; ++t) {
    EXPECT_EQ(Words(wide[t].begin(), wide[t].begin() + 4), words_from(4 * t)) << t;
    EXPECT_EQ(Words(wide[t].begin() + 4, wide[t].end()), words_from(512 + 4 * t)) << t;
  }
}

TEST(CopyToTensorMemory, SwizzledRows) {
  // Rows of 32 bytes, their halves swapped in rows 4 to 7 of eight.
  const auto lanes = copied("tcgen05.cp.cta_group::1.128x256b", descriptor_of(0, 256, 6), 8);
  EXPECT_EQ(Words(lanes[3].begin(), lanes[3].begin() + 4), words_from(24));
  EXPECT_EQ(Words(lanes[4].begin(), lanes[4].begin() + 4), words_from(36));
  EXPECT_EQ(Words(lanes[13].begin() + 4, lanes[13].end()), words_from(64 + 40));
  // Rows of 128 bytes: unit u of row r is unit u ^ r % 8.
  const auto wide = copied("tcgen05.cp.cta_group::1.32x128b.warpx4", descriptor_of(0, 1024, 2), 4);
  EXPECT_EQ(wide[5], words_from(5 * 32 + 5 * 4));
  EXPECT_EQ(wide[32 + 10], words_from(10 * 32 + 2 * 4));
}

TEST(CopyToTensorMemory, CopiesForSeveralWarps) {
  const auto four = copied("tcgen05.cp.cta_group::1.32x128b.warpx4", descriptor_of(0, 128), 4);
  for (std::uint32_t t = 0; t < 128; ++t) EXPECT_EQ(four[t], words_from(t % 32 * 4)) << t;
  const auto even = copied("tcgen05.cp.cta_group::1.64x128b.warpx2::02_13", descriptor_of(0, 128), 4);
  for (std::uint32_t t = 0; t < 128; ++t) EXPECT_EQ(even[t], words_from(t % 64 * 4)) << t;
  const auto near = copied("tcgen05.cp.cta_group::1.64x128b.warpx2::01_23", descriptor_of(0, 128), 4);
  for (std::uint32_t t = 0; t < 128; ++t) EXPECT_EQ(near[t], words_from((t / 64 * 32 + t % 32) * 4)) << t;
}

TEST(CopyToTensorMemory, FourRowsGoToALaneOfEachWarp) {
  const auto lanes = copied("tcgen05.cp.cta_group::1.4x256b", descriptor_of(64, 0), 8);
  for (std::uint32_t w = 0; w < 4; ++w) {
    EXPECT_EQ(Words(lanes[32 * w].begin(), lanes[32 * w].begin() + 4), words_from(4 * w));
    EXPECT_EQ(Words(lanes[32 * w].begin() + 4, lanes[32 * w].end()), words_from(16 + 4 * w));
    EXPECT_EQ(lanes[32 * w + 1], Words(8));
  }
}

TEST(CopyToTensorMemory, NumbersOf6And4BitsBecomeBytes) {
  // Lane 4 gets words 16 to 19. Bits 4, 32, 36, 65 and 68 of these 12 bytes are 1: numbers 0, 5, 6, 10
  // and 11.
  const auto six = copied("tcgen05.cp.cta_group::1.128x128b.b8x16.b6x16_p32", descriptor_of(0, 128), 4);
  EXPECT_EQ(six[4], (Words{0x00000010, 0x00010400, 0x04200000, 0}));
  // Eight bytes hold numbers of 4 bits: numbers 1, 8 and 9 are 1, in the middle of their bytes.
  const auto four = copied("tcgen05.cp.cta_group::1.128x128b.b8x16.b4x16_p64", descriptor_of(0, 128), 4);
  EXPECT_EQ(four[4], (Words{0x00000400, 0, 0x00000404, 0}));
}

TEST(CopyToTensorMemory, ShiftsRowsDown) {
  const auto words = loaded("setp.eq.u32 %p1, %r1, 0;\n@%p1 tcgen05.shift.cta_group::1.down [%r10];\n"
                            "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%t0}, [%r11+7];\n"
                            "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%t1}, [%r11+8];\n",
                            2);
  EXPECT_EQ(words[0], (Words{7, 8}));
  EXPECT_EQ(words[1], (Words{7, 1008}));
  EXPECT_EQ(words[31], (Words{30007, 31008}));
}

} // namespace tensor_memory_test
} // namespace warplens::tests
