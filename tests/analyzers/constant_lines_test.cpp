// SPDX-License-Identifier: Apache-2.0
// Lines of constants and parameters that a block reads.
#include "analyzers/analyzers.hpp"
#include "tests/exec/kernel_test.hpp"

namespace warplens::analyzers {
namespace constant_lines_test {

/// Of a launch of `blocks` blocks of 32 threads.
Profile profile_of(const std::string& ptx, std::uint32_t blocks) {
  tests::Emulated machine(ptx, "k.ptx");
  const ir::Function& kernel = *machine.module().find("k");
  Analysis analysis(machine.module(), kernel, {.grid = {blocks, 1, 1}, .block = {32, 1, 1}}, {});
  tests::How run;
  run.blocks = blocks;
  run.workers = 2;
  run.words = 4096; // constants are read from there
  run.watcher = &analysis;
  EXPECT_EQ(tests::run_on(machine, run).trap, "");
  return analysis.profile();
}

TEST(ConstantLines, OfTheBlockThatReadsMore) {
  // Block b reads the first word of 4 (b + 1) lines, 64 bytes apart.
  const std::string body = "mov.u64 %rd10, %rd1; add.u32 %r10, %r3, 1; shl.b32 %r10, %r10, 2;\n"
                           "LOOP: ld.const.u32 %r11, [%rd10]; add.u64 %rd10, %rd10, 64; sub.u32 %r10, %r10, 1;\n"
                           "setp.ne.u32 %p1, %r10, 0; @%p1 bra LOOP; ret;";
  const Profile one = profile_of(tests::kernel_of(body), 1), five = profile_of(tests::kernel_of(body), 5);
  EXPECT_EQ(one.integer("constant_lines"), 4u);
  EXPECT_EQ(one.integer("constant_segments"), 1u);
  EXPECT_EQ(one.integer("parameter_lines"), 0u);
  EXPECT_EQ(five.integer("constant_lines"), 20u); // as the last block does
  EXPECT_EQ(five.integer("constant_segments"), 5u);
}

TEST(ConstantLines, OfWordsInTwoLines) {
  const Profile wide =
      profile_of(tests::kernel_of("ld.const.u32 %r10, [%rd1+60]; ld.const.v2.u32 {%r11, %r12}, [%rd1+1016]; ret;"), 3);
  EXPECT_EQ(wide.integer("constant_lines"), 2u);
  EXPECT_EQ(wide.integer("constant_segments"), 2u);
}

TEST(ConstantLines, ParametersBeyondTheFirst) {
  std::string ptx =
      tests::kernel_of("ld.param.u32 %r10, [more+60]; ld.param.u32 %r10, [more+512]; ld.param.u32 %r10, [more+516];\n"
                       "mov.u64 %rd10, more; ld.param.u32 %r11, [%rd10+1024];\n"
                       "setp.eq.u32 %p1, %r1, 99; @%p1 ld.param.u32 %r11, [more+2048]; ret;");
  const std::string out = "k(.param .u64 out";
  ptx.insert(ptx.find(out) + out.size(), ", .param .align 8 .b8 more[4000]");
  tests::Emulated machine(ptx, "k.ptx");
  const ir::Function& kernel = *machine.module().find("k");
  Analysis analysis(machine.module(), kernel, {.grid = {1, 1, 1}, .block = {32, 1, 1}}, {});
  tests::Emulated::Request request;
  request.kernel = "k";
  request.shape.block[0] = 32;
  request.watcher = &analysis;
  request.arguments.push_back({machine.buffer({0}), 8});
  const std::vector<std::byte> more(4000);
  request.arguments.push_back({0, more.size(), more.data()});
  EXPECT_EQ(machine.run(request), "");
  const Profile profile = analysis.profile();
  EXPECT_EQ(profile.integer("parameter_lines"),
            3u); // also where the guard is false, as the machine code has an operand
}

TEST(SpecialOperands, CountWarps) {
  const auto body = [](const char* numerator) {
    return std::string("and.b32 %r10, %r3, 1; cvt.rn.f32.u32 %f1, %r10; ") + "div.rn.f32 %f2, " + numerator +
           ", 0f40400000; ret;";
  };
  EXPECT_EQ(profile_of(tests::kernel_of(body("%f1")), 10).integer("special_operands"), 5u); // 0 / 3 in five blocks
  EXPECT_EQ(profile_of(tests::kernel_of(body("0f3f800000")), 10).integer("special_operands"), 0u);
}

} // namespace constant_lines_test
} // namespace warplens::analyzers
