// SPDX-License-Identifier: Apache-2.0
// Compiled kernels do what interpreted ones do: memory, traps, events and counts are equal.
#include "tests/exec/compiled_subject.hpp"

#include <chrono>
#include <thread>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace warplens::tests {
namespace compiled_test {

TEST(Compiled, BenchmarkKernels) {
  const Subject subjects[] = {
      {bench_kernel("fma_loop"),
       "fma_loop",
       {2, 1, 1},
       {96, 1, 1},
       {buffer(256), real(0.9f), real(0.1f), integer(7000)}},
      {bench_kernel("vec_add"),
       "vec_add",
       {5, 1, 1},
       {256, 1, 1},
       {buffer(1100), buffer(1100), buffer(1100), integer(1100)}},
      {bench_kernel("matmul_tiled"),
       "matmul_tiled",
       {3, 3, 1},
       {16, 16, 1},
       {buffer(2304), buffer(2304), buffer(2304), integer(48)}},
      {bench_kernel("transpose_naive"),
       "transpose_naive",
       {4, 4, 1},
       {16, 16, 1},
       {buffer(4096), buffer(4096), integer(64), integer(60)}},
      {bench_kernel("nbody_ulist"),
       "nbody_ulist",
       {2, 1, 1},
       {128, 1, 1},
       {buffer(1024), buffer(1024), buffer(256), integer(256)}},
      {bench_kernel("scan_blelloch"), "scan_blelloch", {3, 1, 1}, {256, 1, 1}, {buffer(1536), buffer(1536), buffer(3)}},
      {bench_kernel("gather"), "gather", {2, 1, 1}, {256, 1, 1}, {buffer(1024), buffer(1024), integer(1024)}},
      {bench_kernel("scatter"), "scatter", {2, 1, 1}, {256, 1, 1}, {buffer(1024), integer(1024)}},
      {bench_kernel("histogram"), "histogram", {2, 1, 1}, {256, 1, 1}, {buffer(256)}},
  };
  for (const Subject& subject : subjects) subject.expect_same();
}

TEST(Compiled, LoopsThatLanesLeaveAtDifferentTimes) {
  words(
      "mov.u32 %r10, 0; mov.u32 %r11, 0;\n"
      "LOOP: add.u32 %r11, %r11, %r10; mad.lo.u32 %r11, %r11, 3, %r1; xor.b32 %r11, %r11, 77; shl.b32 %r12, %r11, 3;\n"
      "add.u32 %r11, %r11, %r12; add.u32 %r10, %r10, 1; and.b32 %r13, %r1, 7; add.u32 %r13, %r13, 5;\n"
      "setp.lt.u32 %p1, %r10, %r13; @%p1 bra LOOP; st.global.u32 [%rd2], %r11; ret;")
      .expect_same();
}

TEST(Compiled, GuardsAndPartialWarps) {
  for (const std::uint32_t threads : {1u, 20u, 48u, 64u})
    words(
        "and.b32 %r10, %r1, 3; setp.eq.u32 %p1, %r10, 0; setp.lt.u32 %p2, %r1, 40; mov.u32 %r11, 9; mov.u32 %r12, 5;\n"
        "@%p1 add.u32 %r11, %r11, %r1; @!%p1 sub.u32 %r11, %r12, %r1; @%p2 setp.gt.u32 %p1, %r1, 10;\n"
        "@%p1 ld.global.u32 %r12, [%rd2]; @!%p1 st.global.u32 [%rd2], %r11; selp.u32 %r13, %r11, %r12, %p1;\n"
        "@%p2 st.global.u32 [%rd2+512], %r13; ret;",
        threads)
        .expect_same();
}

TEST(Compiled, TrapsNameTheLane) {
  // One warp; lane 7 leaves the buffer in the third iteration.
  Subject s = words("mov.u32 %r10, 0; setp.eq.u32 %p1, %r1, 7; selp.u32 %r11, 1048576, 4, %p1;\n"
                    "LOOP: st.global.u32 [%rd2], %r10; add.u32 %r10, %r10, 1; setp.eq.u32 %p2, %r10, 3;\n"
                    "@%p2 cvt.u64.u32 %rd10, %r11; @%p2 add.u64 %rd2, %rd2, %rd10; setp.lt.u32 %p3, %r10, 9;\n"
                    "@%p3 bra LOOP; ret;",
                    32);
  s.grid = {1, 1, 1};
  s.expect_same();
  EXPECT_NE(s.run(exec::CompileMode::always, false, nullptr).trap, "");
}

// Lanes that act alone, or have addresses of no order: some of them the same, where the last one to store wins.
TEST(Compiled, AddressesOfEachLane) {
  const std::string addresses =
      "mul.lo.u32 %r10, %r1, 7; xor.b32 %r10, %r10, 21; and.b32 %r10, %r10, 63; shl.b32 %r11, %r10, 3;\n"
      "cvt.u64.u32 %rd10, %r11; add.u64 %rd10, %rd1, %rd10; and.b32 %r12, %r1, 5; shl.b32 %r13, %r12, 3;\n"
      "cvt.u64.u32 %rd11, %r13; add.u64 %rd11, %rd1, %rd11; setp.ne.u32 %p1, %r12, 1; setp.lt.u32 %p2, %r1, 19;\n";
  const std::string start = "ld.param.u64 %rd1, [out];\n" + addresses;
  for (const std::string guard : {"", "@%p1 ", "@!%p2 "})
    for (const std::uint32_t threads : {64u, 50u})
      words(start + "mov.u32 %r14, 1; mov.u64 %rd12, 2;\n" + guard + "ld.global.u32 %r14, [%rd10+4];\n" + guard +
                "ld.global.s32 %rd12, [%rd10];\n" + guard + "ld.global.u64 %rd13, [%rd11+64];\n" + guard +
                "st.global.u32 [%rd11+1024], %r1;\n" + guard + "st.global.u64 [%rd11+2048], %rd12;\n" + guard +
                "st.global.u8 [%rd11+3072], %r1;\n" + guard + "st.global.u16 [%rd10+4096], %r1;\n" + guard +
                "st.global.u64 [%rd10+5120], %rd13; st.global.u32 [%rd2+8192], %r14; ret;",
            threads)
          .expect_same();
  // One lane leaves the buffer, or its address is not aligned: a trap names it, unless it does not act.
  for (const std::string wrong : {"0x40000000", "0xfffffff0", "2"})
    for (const std::string access : {"st.global.u32 [%rd10], %r1", "ld.global.u32 %r14, [%rd10]"})
      for (const std::string guard : {"", "@%p3 "}) {
        Subject s = words(start + "setp.ne.u32 %p3, %r1, 11; mov.u32 %r14, 3; mov.u64 %rd14, " + wrong +
                              ";\n@!%p3 add.u64 %rd10, %rd10, %rd14; add.u32 %r15, %r1, 4; xor.b32 %r15, %r15, 3;\n" +
                              guard + access + "; add.u32 %r14, %r14, %r15; st.global.u32 [%rd2+8192], %r14; ret;",
                          32);
        s.grid = {1, 1, 1};
        s.expect_same();
      }
}

// Strides that are known only while the kernel runs, also where the halves of a warp lie between each other, and where
// lanes overlap.
TEST(Compiled, StridesOfEachLength) {
  struct Distances {
    int lane, row; ///< in bytes, half of them
  };
  for (const Distances d : {Distances{128, 4},
                            {128, 2},
                            {128, 64},
                            {8, 128},
                            {4, 0},
                            {0, 4},
                            {16, 8},
                            {4, 4},
                            {-64, 4},
                            {-64, -8},
                            {64, -4},
                            {12, 200}})
    for (const auto& block : {std::array<std::uint32_t, 3>{16, 2, 1}, {32, 1, 1}}) { // one warp: two would race
      SCOPED_TRACE(testing::Message() << d.lane << " " << d.row);
      Subject s = words(
          "ld.param.u64 %rd1, [out]; mov.u32 %r20, %nctaid.x; mul.lo.s32 %r21, %r20, " + std::to_string(d.lane) +
              "; mul.lo.s32 %r22, %r20, " + std::to_string(d.row) +
              "; mov.u32 %r23, %tid.x; mov.u32 %r24, %tid.y; mul.lo.s32 %r25, %r23, %r21; mad.lo.s32 %r25, %r24, %r22, "
              "%r25;\nand.b32 %r26, %r25, -8; cvt.s64.s32 %rd10, %r26; add.u64 %rd11, %rd1, %rd10; add.u64 %rd11, "
              "%rd11, "
              "32768;\nmul.wide.u32 %rd12, %r1, 77777; ld.global.u32 %r27, [%rd11]; ld.global.u64 %rd13, [%rd11];\n"
              "add.u32 %r28, %r27, %r1; st.global.u32 [%rd11+4], %r28; st.global.u64 [%rd11+16384], %rd12;\n"
              "st.global.u8 [%rd11+24577], %r28; st.global.u16 [%rd11+26626], %r28; xor.b64 %rd13, %rd13, %rd12;\n"
              "st.global.u64 [%rd11], %rd13; ret;",
          64, 20480);
      s.block = block;
      s.expect_same();
    }
}

// Vectors at addresses of no order, by all lanes and by some, also where one is outside.
TEST(Compiled, VectorsAtAddressesOfEachLane) {
  for (const std::string guard : {"", "@%p1 "})
    for (const std::string far : {"0", "0x40000000", "8"}) { // 8: not aligned, for four words
      Subject s = words(
          ".shared .align 16 .b8 s[1024]; mov.u32 %r9, s; ld.param.u64 %rd1, [out]; mul.lo.u32 %r10, %r1, 7;\n"
          "xor.b32 %r10, %r10, 21; and.b32 %r10, %r10, 31; shl.b32 %r11, %r10, 4; add.u32 %r12, %r9, %r11;\n"
          "cvt.u64.u32 %rd10, %r11; add.u64 %rd10, %rd1, %rd10; setp.ne.u32 %p1, %r1, 11; mov.u64 %rd14, " +
              far +
              ";\n@!%p1 add.u64 %rd10, %rd10, %rd14; shl.b32 %r13, %r1, 4; add.u32 %r13, %r13, %r9;\n"
              "mov.u32 %r20, 1; mov.u32 %r21, 2; mov.u32 %r22, 3; mov.u32 %r23, 4; mov.u64 %rd11, 5; mov.u64 %rd12, "
              "6;\n"
              "st.shared.v4.u32 [%r13], {%r1, %r10, %r11, %r12}; bar.sync 0;\n" +
              guard + "ld.global.v4.u32 {%r20, %r21, %r22, %r23}, [%rd10];\n" + guard +
              "ld.shared.v2.u32 {%r24, %r25}, [%r12+8];\n" + guard + "ld.global.v2.u64 {%rd11, %rd12}, [%rd10];\n" +
              guard +
              "ld.shared.v2.s32 {%rd13, %rd15}, [%r12]; mad.lo.u32 %r20, %r20, 3, %r21;\n"
              "mad.lo.u32 %r20, %r20, 5, %r22; mad.lo.u32 %r20, %r20, 7, %r23; xor.b64 %rd11, %rd11, %rd12;\n"
              "@%p1 mad.lo.u32 %r20, %r24, 9, %r20; @%p1 xor.b32 %r20, %r20, %r25; @%p1 add.u64 %rd11, %rd11, %rd13;\n"
              "@%p1 xor.b64 %rd11, %rd11, %rd15; cvt.u32.u64 %r26, %rd11; add.u32 %r20, %r20, %r26;\n"
              "st.global.u32 [%rd2+8192], %r20; ret;",
          32);
      s.grid = {1, 1, 1};
      s.expect_same();
      EXPECT_EQ(s.run(exec::CompileMode::always, false, nullptr).trap.empty(), far == "0" || !guard.empty());
    }
}

// As a transposition stores them.
TEST(Compiled, HalvesOfWarpsBetweenEachOther) {
  Subject s = words("mov.u32 %r20, %tid.y; mov.u32 %r21, %ntid.x; ld.param.u64 %rd1, [out];\n"
                    "mad.lo.u32 %r22, %r1, %r21, %r20; mul.wide.u32 %rd10, %r22, 4; add.u64 %rd11, %rd1, %rd10;\n"
                    "mad.lo.u32 %r23, %r20, 1000, %r1; st.global.u32 [%rd11], %r23; ret;");
  s.grid = {1, 1, 1};
  s.block = {16, 16, 1};
  for (const exec::CompileMode mode : {exec::CompileMode::off, exec::CompileMode::always}) {
    const Outcome outcome = s.run(mode, false, nullptr);
    for (std::uint32_t x = 0; x < 16; ++x)
      for (std::uint32_t y = 0; y < 16; ++y) EXPECT_EQ(outcome.buffers[0][16 * x + y], 1000 * y + x);
  }
}

// Both lanes of a pair store to one place, or to places that overlap: which of them remains depends on the order.
TEST(Compiled, HalvesOfWarpsAtTheSamePlaces) {
  for (const char* const half : {"0", "2", "-2"}) {
    Subject s = words("and.b32 %r20, %r1, 15; shr.u32 %r21, %r1, 4; mov.u32 %r22, " + std::string(half) +
                      ";\nmul.lo.s32 %r21, %r21, %r22; mad.lo.s32 %r20, %r20, 64, %r21; add.s32 %r20, %r20, 8;\n"
                      "ld.param.u64 %rd1, [out]; cvt.s64.s32 %rd10, %r20; add.u64 %rd11, %rd1, %rd10;\n"
                      "mad.lo.u32 %r23, %r1, 65537, 7; cvt.u16.u32 %h1, %r23; st.global.u16 [%rd11], %h1;\n"
                      "st.global.u8 [%rd11+32], %h1; ret;");
    s.grid = {1, 1, 1};
    s.block = {32, 1, 1};
    s.expect_same();
    const Outcome outcome = s.run(exec::CompileMode::off, false, nullptr);
    if (half != std::string("0")) continue;
    for (std::uint32_t i = 0; i < 16; ++i) EXPECT_EQ(outcome.buffers[0][16 * i + 2] & 0xffff, i + 7) << i;
  }
}

// After a barrier, a warp goes on with rows as its code left them, unless paths of it met there, or exited before.
TEST(Compiled, RowsAfterBarriers) {
  const std::string work = "mad.lo.u32 %r12, %r12, 3, %r11; xor.b32 %r12, %r12, %r10; shl.b32 %r13, %r12, 2;"
                           "add.u32 %r12, %r12, %r13; add.u32 %r14, %r12, %r15; xor.b32 %r12, %r12, %r14;\n";
  for (const std::string leaving : {"", "@%p4 ret;"})
    for (const std::string reduction : {"bar.sync 0;", "bar.red.popc.u32 %r15, 0, %p5;"})
      words("mov.u32 %r10, 0; mov.u32 %r11, 9; mov.u32 %r12, 1; mov.u32 %r15, 2; setp.eq.u32 %p4, %r1, 37;\n"
            "and.b32 %r16, %r1, 3; setp.eq.u32 %p1, %r16, 1; setp.gt.u32 %p5, %r1, 33;\n"
            "LOOP: bar.sync 0;\n" +
            work + "setp.eq.u32 %p2, %r10, 3; and.pred %p3, %p1, %p2; @%p3 bra OTHER;\n" + work +
            "add.u32 %r11, %r11, 5;" + reduction + work + "bra MEET;\nOTHER:" + work + "mov.u32 %r11, 77; bar.sync 0;" +
            work + "MEET:" + work + "bar.sync 0;" + work + "st.global.u32 [%rd2+1024], %r15; " + leaving +
            " add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, 7;\n"
            "@%p3 bra LOOP; add.u32 %r12, %r12, %r11; st.global.u32 [%rd2], %r12; ret;")
          .expect_same();
}

// Code for blocks whose rows are warps, in blocks with shorter rows, and the other way round.
TEST(Compiled, BlocksOfOtherShapesThanTheFirst) {
  exec::set_compile_mode(exec::CompileMode::always);
  for (const bool whole_first : {false, true}) {
    Emulated machine(kernel_of("mov.u32 %r20, %tid.x; mov.u32 %r21, %tid.y; mad.lo.u32 %r22, %r21, 100, %r20;\n"
                               "add.u32 %r23, %r22, %r20; shl.b32 %r24, %r23, 1; xor.b32 %r25, %r24, %r22;\n"
                               "add.u32 %r25, %r25, %r21; st.global.u32 [%rd2], %r25; ret;"),
                     "test.ptx");
    for (int launch = 0; launch < 4; ++launch) {
      const std::uint32_t width = (launch + (whole_first ? 1 : 0)) % 2 == 0 ? 16 : launch < 2 ? 64 : 8;
      const std::uint64_t buffer = machine.buffer(std::vector<std::uint32_t>(64));
      Emulated::Request request;
      request.kernel = "k";
      request.shape.block[0] = width;
      request.shape.block[1] = 64 / width;
      request.arguments.push_back({buffer, 8});
      EXPECT_EQ(machine.run(request), "");
      const auto* const words = reinterpret_cast<const std::uint32_t*>(buffer);
      for (std::uint32_t t = 0; t < width; ++t) { // %r1 is %tid.x
        const std::uint32_t y = 64 / width - 1, r22 = 100 * y + t;
        if (width < 64) continue; // rows store to the same words
        EXPECT_EQ(words[t], ((2 * (r22 + t)) ^ r22) + y);
      }
    }
  }
  exec::set_compile_mode(exec::CompileMode::off);
}

TEST(Compiled, SharedAddressesOfEachLane) {
  const std::string body =
      ".shared .align 8 .b8 s[640]; mov.u32 %r9, s; mul.lo.u32 %r10, %r1, 5; and.b32 %r10, %r10, 63;\n"
      "shl.b32 %r11, %r10, 3; add.u32 %r11, %r11, %r9; setp.lt.u32 %p1, %r1, 40; and.b32 %r12, %r1, 3;\n"
      "setp.ne.u32 %p2, %r12, 2; @%p2 bra MEET;\n"
      "st.shared.u32 [%r11], %r1; add.u32 %r13, %r1, 77; st.shared.u32 [%r11+4], %r13; xor.b32 %r14, %r13, 5;\n"
      "st.shared.u16 [%r9+512], %r14; st.shared.u8 [%r9+520], %r14; add.u32 %r14, %r14, %r1;\n"
      "MEET: bar.sync 0; @%p1 ld.shared.u32 %r14, [%r11+LAST]; ld.shared.u32 %r15, [%r9+520];\n"
      "ld.shared.u32 %r16, [%r9+512]; add.u32 %r15, %r15, %r16; xor.b32 %r15, %r15, %r14;\n"
      "st.global.u32 [%rd2], %r15; ret;";
  for (const std::string last : {"4", "136"}) { // the second one is outside
    std::string text = body;
    text.replace(text.find("LAST"), 4, last);
    words(text).expect_same();
  }
}

TEST(Compiled, TellsOfSpecialOperands) {
  const std::string body =
      "and.b32 %r10, %r1, 3; setp.eq.u32 %p1, %r10, 0; cvt.rn.f32.u32 %f1, %r10; cvt.rn.f64.u32 %fd1, %r1;\n"
      "mov.f32 %f2, 0f40400000; mov.f64 %fd2, 0d4008000000000000; div.rn.f32 %f3, %f2, %f1; rcp.rn.f32 %f4, %f1;\n"
      "sqrt.rn.f32 %f5, %f1; div.rn.f64 %fd3, %fd1, %fd2; rcp.rn.f64 %fd4, %fd1; sqrt.rn.f64 %fd5, %fd1;\n"
      "@%p1 div.rn.f32 %f6, %f1, %f2; @!%p1 sqrt.rn.f32 %f7, %f1; st.global.f32 [%rd2], %f3; ret;";
  words(".reg .f64 %fd<9>;\n" + body).expect_same();
  Subject s = words(".reg .f64 %fd<9>;\n" + body);
  EXPECT_NE(s.run(exec::CompileMode::always, true, nullptr).told.find("special"), std::string::npos);
}

TEST(Compiled, DivergedWarpsRunInCompiledCode) {
  // Sides of branches, nested and in a loop, which lanes leave at different times; values of both sides are used later.
  const std::string side = "mad.lo.u32 %r12, %r12, 5, %r10; xor.b32 %r13, %r12, %r1; shl.b32 %r14, %r13, 2;"
                           "add.u32 %r12, %r12, %r14; add.u32 %r15, %r13, 7; xor.b32 %r12, %r12, %r15;\n";
  const std::string other = "sub.u32 %r12, %r12, %r1; mul.lo.u32 %r13, %r12, 9; shr.u32 %r14, %r13, 3;"
                            "xor.b32 %r12, %r12, %r14; add.u32 %r15, %r12, %r13; sub.u32 %r12, %r15, 3;\n";
  std::string long_side; // for a mask
  for (int i = 0; i < 17; ++i) long_side += side;
  const Subject s = words("mov.u32 %r10, 0; mov.u32 %r12, %r1; mov.u32 %r15, 1; and.b32 %r11, %r1, 5;\n"
                          "LOOP: add.u32 %r16, %r1, %r10; and.b32 %r16, %r16, 3; setp.eq.u32 %p1, %r16, 0;\n"
                          "@%p1 bra OTHER;\n" +
                          long_side + "setp.gt.u32 %p2, %r16, 1; @%p2 bra INNER;\n" + other + "INNER:" + side +
                          "st.global.u32 [%rd2+512], %r13; bra MEET;\nOTHER:" + other +
                          "ld.global.u32 %r14, [%rd2+1024]; add.u32 %r12, %r12, %r14;\nMEET:" + other +
                          "add.u32 %r10, %r10, 1; setp.le.u32 %p3, %r10, %r11; @%p3 bra LOOP;\n" + side +
                          "st.global.u32 [%rd2], %r12; st.global.u32 [%rd2+1536], %r15; ret;");
  s.expect_same();
  if (!WARPLENS_HAS_COMPILER) return;
  // The loop, what follows it, the sides of two branches, and a place where paths meet; one side runs under a mask.
  const std::string last = last_explanation("k");
  EXPECT_GE(std::atoi(last.substr(last.find(": ") + 2).c_str()), 7) << last;
}

// The module may be gone when the compiler has time for a hot kernel.
TEST(Compiled, InTheBackgroundAfterTheModuleIsGone) {
  if (!WARPLENS_HAS_COMPILER) GTEST_SKIP() << "the compiler of kernels is not built";
  for (int i = 0; i < 3; ++i) {
    const std::string kernel = "short_lived_" + std::to_string(i);
    Subject s =
        words("mov.u32 %r10, 0; mov.u32 %r11, %r1;\nLOOP: mad.lo.u32 %r11, %r11, 5, %r10; add.u32 %r10, %r10, 1;\n"
              "setp.lt.u32 %p1, %r10, 500000; @%p1 bra LOOP; st.global.u32 [%rd2], %r11; ret;",
              1024, 8192);
    s.ptx.replace(s.ptx.find("k("), 1, kernel);
    s.kernel = kernel;
    EXPECT_EQ(s.run(exec::CompileMode::automatic, false, nullptr).trap, "");
  }
  for (int tries = 0; tries < 600 && exec::explain_compiled().find("short_lived_2: ") == std::string::npos; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  for (const std::string n : {"0", "1", "2"})
    EXPECT_NE(exec::explain_compiled().find("short_lived_" + n + ": "), std::string::npos) << n;
}

// Calls and returns are interpreted: by all lanes, and by some; also of a function that calls itself.
TEST(Compiled, KernelsThatCallFunctions) {
  const std::string functions =
      ".func (.reg .b32 %result) twice(.reg .b32 %x)\n{ .reg .pred %p1; .reg .b32 %y<9>; mul.lo.u32 %y1, %x, 3;\n"
      "xor.b32 %y2, %y1, %x; shr.u32 %y3, %y2, 2; add.u32 %y4, %y3, %y1; setp.gt.u32 %p1, %y4, 77; mov.u32 %result, "
      "%y4;\n@%p1 bra END; add.u32 %y5, %y4, 50; mad.lo.u32 %result, %y5, %y5, %x; END: ret; }\n"
      ".func (.param .b32 out) power(.param .b32 in)\n{ .reg .pred %p1; .reg .b32 %y<9>; ld.param.u32 %y1, [in];\n"
      "setp.eq.u32 %p1, %y1, 0; mov.u32 %y4, 1; @%p1 bra END; sub.u32 %y2, %y1, 1; .param .b32 a; .param .b32 r;\n"
      "st.param.b32 [a], %y2; call.uni (r), power, (a); ld.param.u32 %y3, [r]; mad.lo.u32 %y4, %y3, 3, %y1;\n"
      "END: st.param.b32 [out], %y4; ret; }\n";
  Subject s = words("mov.u32 %r10, 0; mov.u32 %r11, %r1; setp.lt.u32 %p1, %r1, 20; and.b32 %r15, %r1, 3;\n"
                    "LOOP: mad.lo.u32 %r12, %r11, 5, %r10; xor.b32 %r12, %r12, %r1; shr.u32 %r13, %r12, 3;\n"
                    "add.u32 %r11, %r12, %r13; @%p1 bra SKIP; call (%r14), twice, (%r11); add.u32 %r11, %r11, %r14;\n"
                    "SKIP: .param .b32 a; .param .b32 r; st.param.b32 [a], %r15; call.uni (r), power, (a);\n"
                    "ld.param.u32 %r16, [r]; add.u32 %r11, %r11, %r16; add.u32 %r10, %r10, 1;\n"
                    "setp.lt.u32 %p2, %r10, 6; @%p2 bra LOOP; st.global.u32 [%rd2], %r11; ret;");
  s.ptx.insert(s.ptx.find(".visible"), functions);
  s.expect_same();
}

TEST(Compiled, NansAreCanonical) {
  // Of operands with other NaNs, and of invalid operations; also where only some lanes act.
  words("or.b32 %r10, %r1, 0x7fc00000; or.b32 %r10, %r10, 0x80000000; mov.b32 %f1, %r10; mov.f32 %f2, 0f3FC00000;\n"
        "setp.lt.u32 %p1, %r1, 40; mov.f32 %f3, 0fBF800000; mov.f32 %f4, %f1; mov.f32 %f9, 0f7F800000;\n"
        "mul.f32 %f5, %f1, %f2; fma.rn.f32 %f6, %f2, %f1, %f3; sqrt.rn.f32 %f7, %f3; @%p1 add.f32 %f4, %f1, %f2;\n"
        "sub.f32 %f8, %f9, %f9; st.global.f32 [%rd2], %f5; st.global.f32 [%rd2+512], %f6;\n"
        "st.global.f32 [%rd2+1024], %f7; st.global.f32 [%rd2+1536], %f4; st.global.f32 [%rd2+2048], %f8; ret;")
      .expect_same();
}

// Addresses and values that the compiler takes for sequences, in blocks of several shapes: one row, rows of half a
// warp, and rows where nothing is known.
TEST(Compiled, SequencesInBlocksOfEachShape) {
  const std::string body =
      "mov.u32 %r20, %tid.y; mov.u32 %r21, %warpid; mov.u32 %r22, %laneid; mad.lo.u32 %r22, %r21, 32, %r22;\n"
      "mad.lo.u32 %r22, %r3, 64, %r22; mul.wide.u32 %rd2, %r22, 4; add.u64 %rd2, %rd1, %rd2;\n"
      "mov.u32 %r23, %tid.x; mul.wide.u32 %rd10, %r23, 4; ld.param.u64 %rd3, [out]; add.u64 %rd11, %rd3, %rd10;\n"
      "ld.global.u32 %r10, [%rd11]; mul.wide.u32 %rd12, %r20, 8; add.u64 %rd13, %rd3, %rd12;\n"
      "ld.global.v2.u32 {%r11, %r12}, [%rd13]; shl.b32 %r13, %r23, 3; cvt.u64.u32 %rd14, %r13;\n"
      "add.u64 %rd15, %rd3, %rd14; ld.global.u32 %r14, [%rd15+4]; ld.global.u8 %r15, [%rd11+1];\n"
      "ld.global.u32 %r16, [%rd3+64]; neg.s32 %r17, %r23; mul.wide.s32 %rd16, %r17, 4; add.u64 %rd17, %rd3, %rd16;\n"
      "ld.global.u32 %r18, [%rd17+512]; add.u32 %r10, %r10, %r11; xor.b32 %r10, %r10, %r12; add.u32 %r10, %r10, %r14;\n"
      "mad.lo.u32 %r10, %r15, %r16, %r10; add.u32 %r10, %r10, %r18; mov.u32 %r19, 0;\n"
      "LOOP: add.u32 %r10, %r10, %r19; add.u32 %r19, %r19, %r16; and.b32 %r19, %r19, 15; add.u32 %r24, %r24, 1;\n"
      "setp.lt.u32 %p1, %r24, 9; @%p1 bra LOOP;\n"
      "st.global.u32 [%rd2+8192], %r10; st.global.u32 [%rd15+12292], %r14; ret;";
  using Block = std::array<std::uint32_t, 3>;
  for (const Block& block : {Block{64, 1, 1}, Block{16, 4, 1}, Block{32, 2, 1}, Block{8, 8, 1}, Block{40, 1, 1},
                             Block{16, 2, 2}, Block{1, 64, 1}}) {
    SCOPED_TRACE(testing::PrintToString(block));
    Subject s = words("mov.u32 %r24, 0;\n" + body);
    s.block = block;
    s.expect_same();
  }
}

// A sequence of 32-bit numbers that wraps around is none of 64-bit numbers.
TEST(Compiled, SequencesThatWrapAround) {
  for (const char* const widening : {"cvt.s64.s32", "cvt.u64.u32"})
    for (const char* const start : {"0x7ffffff0", "0xfffffff0", "0"})
      words(std::string("add.u32 %r10, %r1, ") + start + "; " + widening +
            " %rd10, %r10; shr.u64 %rd11, %rd10, 20; cvt.u32.u64 %r11, %rd11; mul.wide.s32 %rd12, %r10, 3;\n"
            "cvt.u32.u64 %r12, %rd12; shr.u64 %rd13, %rd12, 32; cvt.u32.u64 %r13, %rd13; xor.b32 %r12, %r12, %r13;\n"
            "st.global.u32 [%rd2], %r11; st.global.u32 [%rd2+1024], %r12; ret;")
          .expect_same();
}

// Where paths meet, lanes have what their own path wrote, even if each path wrote one number.
TEST(Compiled, UniformOnEachPathOnly) {
  words("and.b32 %r10, %r1, 1; setp.eq.u32 %p1, %r10, 0; mov.u32 %r11, 5; mov.u32 %r13, 0;\n"
        "LOOP: @%p1 bra EVEN; add.u32 %r11, %r11, 7; mul.lo.u32 %r11, %r11, 3; sub.u32 %r11, %r11, 1; xor.b32 %r11, "
        "%r11, 9; add.u32 %r11, %r11, 2; bra MEET;\n"
        "EVEN: add.u32 %r11, %r11, 1; xor.b32 %r11, %r11, 64; add.u32 %r11, %r11, 4; mul.lo.u32 %r11, %r11, 5; sub.u32 "
        "%r11, %r11, 3;\n"
        "MEET: add.u32 %r12, %r11, %r13; shl.b32 %r14, %r12, 1; xor.b32 %r12, %r12, %r14; add.u32 %r12, %r12, 3;\n"
        "st.global.u32 [%rd2], %r12; add.u32 %r13, %r13, 1; setp.lt.u32 %p2, %r13, 6; @%p2 bra LOOP; ret;")
      .expect_same();
}

// More branches than one function could have: the code is divided.
TEST(Compiled, LargeKernels) {
  std::string body = "mov.u32 %r10, %r1; mov.u32 %r11, 1; mov.u32 %r12, 2; mov.u32 %r13, 3; mov.u32 %r14, 4;\n";
  for (int i = 0; i < 150; ++i)
    body += "mad.lo.u32 %r10, %r10, 5, %r11; xor.b32 %r11, %r11, %r10; add.u32 %r12, %r12, %r11; sub.u32 %r13, %r12, "
            "%r13; mad.lo.u32 %r14, %r13, 3, %r14; and.b32 %r15, %r14, " +
            std::to_string(1 << i % 5) + "; setp.eq.u32 %p1, %r15, 0; @%p1 bra L" + std::to_string(i) +
            "; add.u32 %r10, %r10, %r14; xor.b32 %r12, %r12, 9;\nL" + std::to_string(i) + ":\n";
  words(body +
        "LOOP: add.u32 %r10, %r10, 3; mul.lo.u32 %r10, %r10, %r12; xor.b32 %r10, %r10, %r13; add.u32 %r11, %r11, "
        "1; and.b32 %r15, %r11, 15; setp.ne.u32 %p1, %r15, 0; @%p1 bra LOOP; st.global.u32 [%rd2], %r10; ret;")
      .expect_same();
}

// Parts that begin in the middle of a block of code, at rows of each shape.
TEST(Compiled, KernelsInSeveralParts) {
  std::string body =
      "mov.u32 %r10, %r1; mov.u32 %r11, 1; mov.u32 %r12, 2; mov.u32 %r13, 3; mov.u32 %r14, 4; mov.u32 %r15, 5;\n";
  for (int i = 0; i < 400; ++i)
    body += "mad.lo.u32 %r1" + std::to_string(i % 5) + ", %r1" + std::to_string((i + 2) % 5) + ", 5, %r1" +
            std::to_string((i + 3) % 5) + "; add.u32 %r15, %r15, " + std::to_string(i) +
            (i % 40 == 7 ? "; bar.sync 0; st.global.u32 [%rd2], %r15; setp.gt.u32 %p1, %r15, 9; @%p1 bra L" +
                               std::to_string(i) + "; add.u32 %r12, %r12, %r1;\nL" + std::to_string(i) + ":\n"
                         : ";\n");
  exec::set_divided_anyhow(true);
  words(body + "add.u32 %r10, %r10, %r15; st.global.u32 [%rd2], %r10; ret;").expect_same();
  exec::set_divided_anyhow(false);
}

TEST(Compiled, NotWithoutBounds) { // of memory and time
  std::string body = ".reg .b32 %v<9000>; mov.u32 %v0, %r1;\n";
  for (int i = 1; i < 9000; ++i) body += "add.u32 %v" + std::to_string(i) + ", %v" + std::to_string(i - 1) + ", 3;\n";
  words(body + "st.global.u32 [%rd2], %v8999; ret;").expect_same(false);
  if (!WARPLENS_HAS_COMPILER) return;
  EXPECT_NE(last_explanation("k").find("too many operations"), std::string::npos);
}

// The thread that compiles is not in the copy.
TEST(Compiled, CopiesOfTheProcessEnd) {
  if (!WARPLENS_HAS_COMPILER) GTEST_SKIP();
  Subject s = words("mov.u32 %r10, 0; L: add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 1000000; @%p1 bra L; "
                    "st.global.u32 [%rd2], %r10; ret;");
  s.block = {512, 1, 1};
  (void)s.run(exec::CompileMode::automatic, false, nullptr); // starts the thread
  const pid_t copy = fork();
  if (copy == 0) std::exit(0);
  int status = -1;
  for (int i = 0; i < 600 && waitpid(copy, &status, WNOHANG) == 0; ++i) usleep(50'000);
  EXPECT_EQ(status, 0) << "it waits for a thread";
  if (status != 0) kill(copy, SIGKILL);
}

TEST(Compiled, CodeIsKept) {
  if (!WARPLENS_HAS_COMPILER) GTEST_SKIP();
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / ("code_" + std::to_string(getpid()));
  const char* const before = std::getenv("WARPLENS_CACHE");
  const std::string old = before == nullptr ? "" : before;
  setenv("WARPLENS_CACHE", folder.c_str(), 1);
  const Subject s = words("mul.lo.u32 %r10, %r1, 77; xor.b32 %r10, %r10, %r2; shl.b32 %r11, %r10, 3; add.u32 %r11, "
                          "%r11, %r10; xor.b32 %r11, %r11, 55; st.global.u32 [%rd2], %r11; ret;");
  const Outcome wanted = s.run(exec::CompileMode::off, false, nullptr);
  const auto expect_kept = [&](bool kept) {
    EXPECT_TRUE(s.run(exec::CompileMode::always, false, nullptr).buffers == wanted.buffers);
    EXPECT_EQ(last_explanation("k").find("from the cache") != std::string::npos, kept) << last_explanation("k");
  };
  expect_kept(false);
  expect_kept(true);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  ASSERT_EQ(files.size(), 1u);
  std::ifstream in(files.front(), std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(in), {}};
  for (const std::size_t at : {std::size_t{3}, good.size() / 2, good.size() - 1})
    for (const bool cut : {false, true}) {
      std::string bad = good;
      cut ? bad.resize(at) : void(bad[at] ^= 1);
      std::ofstream(files.front(), std::ios::binary) << bad;
      expect_kept(false);
      expect_kept(true);
    }
  // Other code: watched, and with another constant.
  (void)s.run(exec::CompileMode::always, true, nullptr);
  EXPECT_EQ(last_explanation("k").find("from the cache"), std::string::npos);
  Subject changed = s;
  changed.ptx.replace(changed.ptx.find("77"), 2, "78");
  (void)changed.run(exec::CompileMode::always, false, nullptr);
  EXPECT_EQ(last_explanation("k").find("from the cache"), std::string::npos);
  fs::remove_all(folder);
  before == nullptr ? unsetenv("WARPLENS_CACHE") : setenv("WARPLENS_CACHE", old.c_str(), 1);
}

} // namespace compiled_test
} // namespace warplens::tests
