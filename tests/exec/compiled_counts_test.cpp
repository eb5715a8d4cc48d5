// SPDX-License-Identifier: Apache-2.0
// What compiled code counts by itself (Tally): the watcher is told the same as by the interpreter.
#include "api/launch/launch.hpp"
#include "emulator/exec/block/tallies.hpp"
#include "tests/exec/compiled_subject.hpp"

namespace warplens::tests {
namespace compiled_counts_test {

using compiled_test::Subject;
using compiled_test::words;

TEST(Tallies, AreToldOnce) {
  using exec::Tally;
  const std::vector<Tally> list = {{Tally::Of::accesses, true, 7, 8, 16, 0},
                                   {Tally::Of::accesses, false, 3, 32, 128, -4},
                                   {Tally::Of::branches, false, 2, 34, 1, 0},
                                   {Tally::Of::special_operands, false, 5, 36, 1, 0}};
  exec::Tallies tallies;
  EXPECT_EQ(tallies.words(), nullptr);
  tallies.know_distance(8, 64); // of nothing
  tallies.begin(list, 37);
  ASSERT_NE(tallies.words(), nullptr);
  EXPECT_EQ(tallies.words()[8], exec::kNoDistance);
  tallies.know_distance(8, 64);
  tallies.know_distance(8, 32); // the first one counts
  tallies.words()[8 + 1 + 2] = 10;
  tallies.words()[33] = 11;
  tallies.words()[35] = 12;
  tallies.words()[36] = 13;
  std::ostringstream told;
  const auto tell = [&](const Tally& tally, std::uint64_t place, std::uint64_t half, std::uint64_t count) {
    told << tally.index << ' ' << place << ' ' << static_cast<std::int64_t>(half) << ' ' << count << '\n';
  };
  tallies.flush(tell);
  EXPECT_EQ(told.str(), "7 32 64 10\n3 128 -64 11\n2 1 0 12\n5 0 0 13\n");
  told.str({});
  tallies.flush(tell);
  EXPECT_EQ(told.str(), "");
  EXPECT_EQ(tallies.words()[8], 64u);
}

// In blocks of 16 columns, the halves of a warp lie apart by a distance that may differ from warp to warp.
TEST(CompiledCounts, HalvesAtManyDistances) {
  for (const char* const row : {"mov.u32 %r21, %r20", "mul.lo.u32 %r21, %r20, %r20", "sub.u32 %r21, 20, %r20"}) {
    Subject s = words(".shared .align 16 .b8 tile[16384];\n"
                      "ld.param.u64 %rd1, [out]; mov.u32 %r20, %tid.y; mov.u32 %r10, 0; mov.u32 %r30, tile;\n" +
                      std::string(row) +
                      ";\nmad.lo.u32 %r22, %r21, 16, %r1; mul.wide.u32 %rd10, %r22, 4; add.u64 %rd11, %rd1, %rd10;\n"
                      "mad.lo.u32 %r23, %r22, 4, %r30; mad.lo.u32 %r24, %r21, 64, %r30;\n"
                      "LOOP: ld.global.u32 %r11, [%rd11]; add.u32 %r11, %r11, %r10; st.shared.u32 [%r23], %r11;\n"
                      "ld.shared.u32 %r12, [%r24+8]; add.u32 %r12, %r12, %r11; st.global.u32 [%rd11], %r12;\n"
                      "add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 5; @%p1 bra LOOP; ret;");
    s.grid = {1, 1, 1};
    s.block = {16, 12, 1};
    s.expect_same();
  }
}

// Sequences that begin anywhere in the period of alignment, forwards and backwards, of all widths.
TEST(CompiledCounts, SequencesAtEachAlignment) {
  struct Width {
    const char *type, *registers, *bytes;
  };
  for (const Width& width : {Width{"u8", "%r12", "1"},
                             {"u16", "%r12", "2"},
                             {"u32", "%r12", "4"},
                             {"v2.u32", "{%r12, %r13}", "8"},
                             {"v4.u32", "{%r12, %r13, %r14, %r15}", "16"}})
    for (const char* const stride : {"0", "1", "-1", "3"}) {
      const std::string body =
          ".shared .align 16 .b8 tile[8192];\n"
          "ld.param.u64 %rd1, [out]; mov.u32 %r10, 0; mov.u32 %r30, tile; mov.u32 %r12, 1; mov.u32 %r13, 2;\n"
          "mov.u32 %r14, 3; mov.u32 %r15, 4; mul.lo.s32 %r20, %r1, " +
          std::string(stride) + ";\nadd.s32 %r20, %r20, 80; mul.lo.s32 %r20, %r20, " + width.bytes +
          "; cvt.s64.s32 %rd10, %r20; add.s64 %rd11, %rd1, %rd10; add.s32 %r21, %r20, %r30;\n"
          "LOOP: ld.global." +
          width.type + " " + width.registers +
          ", [%rd11+16];\n"
          "ld.shared." +
          width.type + " " + width.registers +
          ", [%r21+16];\n"
          "st.shared." +
          width.type + " [%r21], " + width.registers +
          "; st.global.u32 [%rd2], %r12;\n"
          "add.s64 %rd11, %rd11, " +
          width.bytes + "; add.s32 %r21, %r21, " + width.bytes +
          "; add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 70; @%p1 bra LOOP; ret;";
      words(body, 70).expect_same();
    }
}

// Branches of full and other warps, and of some lanes.
TEST(CompiledCounts, Branches) {
  words("mov.u32 %r10, 0; mov.u32 %r11, 0; shr.u32 %r12, %r1, 5;\n"
        "LOOP: add.u32 %r11, %r11, %r10; mad.lo.u32 %r11, %r11, 3, %r1; setp.eq.u32 %p2, %r10, %r12; @%p2 bra ON;\n"
        "xor.b32 %r11, %r11, 77; ON: setp.lt.u32 %p3, %r1, 40; @%p3 bra FEW; add.u32 %r11, %r11, 5;\n"
        "FEW: add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 9; @%p1 bra LOOP; st.global.u32 [%rd2], %r11; ret;",
        150)
      .expect_same();
}

// The sectors of global memory that a launch touches.
TEST(CompiledCounts, Footprints) {
  const auto context = *api::Context::create();
  const std::string ptx = kernel_of(
      "ld.param.u64 %rd1, [out]; mov.u32 %r20, %tid.y; mad.lo.u32 %r21, %r20, 50, %r1; mul.wide.u32 %rd10, %r21, 4;\n"
      "add.u64 %rd11, %rd1, %rd10; mov.u32 %r10, 0; mul.wide.u32 %rd13, %r1, 48; add.u64 %rd14, %rd1, %rd13;\n"
      "LOOP: ld.global.u32 %r11, [%rd11]; st.global.u32 [%rd11+8192], %r11; st.global.u32 [%rd14+16384], %r10;\n"
      "ld.global.u32 %r12, [%rd1+28000]; st.global.u32 [%rd2+4096], %r12;\n"
      "add.u64 %rd11, %rd11, 64; add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 20; @%p1 bra LOOP; ret;");
  for (const std::array<std::uint32_t, 3> block : {std::array<std::uint32_t, 3>{16, 8, 1}, {64, 1, 1}}) {
    std::vector<std::array<double, 2>> found;
    for (const exec::CompileMode mode : {exec::CompileMode::off, exec::CompileMode::always}) {
      exec::set_compile_mode(mode);
      const auto module = *api::Module::load(context, ptx, "k.ptx");
      const auto buffer = *api::Buffer::allocate(context, 32768, "x");
      api::LaunchRequest request;
      request.kernel = *module->kernel("k");
      request.grid = {2, 1, 1};
      request.block = {block[0], block[1], block[2]};
      request.arguments = {api::Argument::buffer(*buffer)};
      request.device = *api::load_device("h200");
      request.options.footprint = true;
      request.options.workers = 1;
      const auto report = api::launch(request);
      exec::set_compile_mode(exec::CompileMode::off);
      ASSERT_TRUE(report);
      EXPECT_FALSE(report->trap);
      ASSERT_TRUE(report->statistics.written_sectors && report->statistics.only_loaded_sectors);
      found.push_back({*report->statistics.written_sectors, *report->statistics.only_loaded_sectors});
    }
    EXPECT_EQ(found[0], found[1]);
    EXPECT_GT(found[0][0], 32);
    EXPECT_GT(found[0][1], 32);
  }
}

} // namespace compiled_counts_test
} // namespace warplens::tests
