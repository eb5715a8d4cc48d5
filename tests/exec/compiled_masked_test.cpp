// SPDX-License-Identifier: Apache-2.0
// Loads and stores of compiled kernels by some of the lanes, at sequences of addresses, at one address, and in local
// memory.
#include "tests/exec/compiled_subject.hpp"

#include <fmt/format.h>

#include <span>

namespace warplens::tests {
namespace compiled_masked_test {

using compiled_test::last_explanation;
using compiled_test::Outcome;
using compiled_test::Subject;
using compiled_test::words;

struct Element {
  const char *type, *registers; ///< of the instruction; operand
  unsigned bytes;               ///< of a lane
};
constexpr Element kElements[] = {
    {"u8", "%vh1", 1},
    {"s8", "%r5", 1},
    {"u8", "%vd1", 1},
    {"u16", "%vh1", 2},
    {"s16", "%r5", 2},
    {"u32", "%r5", 4},
    {"s32", "%vd1", 4},
    {"f32", "%f1", 4},
    {"u64", "%vd1", 8},
    {"f64", "%ve1", 8},
    {"v2.u8", "{%vh1, %vh2}", 2},
    {"v4.u8", "{%vh1, %vh2, %vh3, %vh4}", 4},
    {"v2.u32", "{%r5, %r6}", 8},
    {"v4.f32", "{%f1, %f2, %f3, %f4}", 16},
    {"v2.u64", "{%vd1, %vd2}", 16},
};
constexpr const char* kTruths[] = {
    "setp.lt.u32 %p1, %r4, 20;", "setp.eq.u32 %p1, %r4, 13;",
    "setp.gt.u32 %p1, %r4, 99;", "and.b32 %r9, %r4, 5; setp.eq.u32 %p1, %r9, 1;",
    "setp.ge.u32 %p1, %r4, 16;",
};

std::string operator*(const std::string& text, const Element& e) {
  std::string made;
  for (const char c : text)
    made += c == '#' ? e.type : c == '$' ? e.registers : c == '~' ? std::to_string(e.bytes) : std::string(1, c);
  return made;
}

// %r4: the number of the thread in its block; %p1: whether it acts. Each element moves 64 bytes a thread ahead.
std::string begin(const std::string& index, const std::string& space) {
  return ".reg .b16 %vh<5>; .reg .b64 %vd<3>; .reg .f64 %ve<2>; .shared .align 16 .b8 s[8192]; .local .align 16 .b8 "
         "l[64];\n"
         "mov.u32 %r7, %tid.y; mov.u32 %r8, %ntid.x; mad.lo.u32 %r4, %r7, %r8, %r1;\n" +
         index + (space == "shared" ? "mov.u64 %rd9, s;\n" : "mov.u64 %rd9, %rd1;\n") +
         "mov.b16 %vh1, 1; mov.b16 %vh2, 2; mov.b16 %vh3, 3; mov.b16 %vh4, 4; mov.b32 %r5, %r4; mov.b32 %r6, 7;\n"
         "cvt.u64.u32 %vd1, %r4; mov.b64 %vd2, 9; mov.b32 %f1, %r4; mov.b32 %f2, 2; mov.b32 %f3, 3; mov.b32 %f4, 4;\n"
         "cvt.rn.f64.u32 %ve1, %r4;\n";
}

// Each kind of access, by the lanes of a guard or, of a side of a branch, by those that do not jump.
Subject accesses(const std::string& index, const std::string& space, const char* truth, bool side,
                 std::array<std::uint32_t, 3> block, std::span<const Element> elements) {
  std::string body = begin(index, space) + truth + "\n";
  int label = 0;
  for (const Element& e : elements) {
    const std::string guard = side ? "" : "@%p1 ", end = "M" + std::to_string(label++);
    if (side) body += "@!%p1 bra " + end + ";\n";
    body += ("mad.wide.u32 %rd4, %r3, ~, %rd9;\n" + guard + "ld." + space + ".# $, [%rd4];\n" + guard + "st." + space +
             ".# [%rd4+2048], $;\n") *
            e;
    if (side) body += end + ":\n";
    body += "st.global.# [%rd1+8192], $;\n" * e; // by all lanes, to one place
  }
  Subject s = words(body + "ret;");
  s.grid = {1, 1, 1};
  s.block = block;
  return s;
}

const std::string kWhole = "mov.u32 %r3, %r4;\n", kHalves = "mad.lo.u32 %r3, %r7, 40, %r1;\n";
// In code with few accesses, each has all of its code.
const std::span<const Element> kAll(kElements), kFew[] = {kAll.first(8), kAll.subspan(8)};

TEST(CompiledMasked, Sequences) {
  bool side = false;
  for (const char* const truth : kTruths) {
    for (const std::span<const Element> few : kFew) {
      accesses(kWhole, "global", truth, side, {32, 1, 1}, few).expect_same();
      accesses(kWhole, "shared", truth, !side, {32, 1, 1}, few).expect_same();
    }
    side = !side;
  }
}

TEST(CompiledMasked, TwoSequences) {
  for (const char* const space : {"global", "shared"})
    for (const char* const truth : {kTruths[0], kTruths[3]})
      for (const std::span<const Element> few : kFew)
        accesses(kHalves, space, truth, false, {16, 2, 1}, few).expect_same();
}

TEST(CompiledMasked, WarpsWithoutAllLanes) {
  for (const std::span<const Element> few : kFew)
    accesses(kWhole, "global", kTruths[3], true, {21, 1, 1}, few).expect_same();
}

// Many accesses, or rows in memory: what is rare is in functions that accesses share.
TEST(CompiledMasked, SharedFunctions) {
  const auto expect_same = [] {
    for (const char* const space : {"global", "shared"}) {
      accesses(kWhole, space, kTruths[0], false, {32, 1, 1}, kAll).expect_same();
      accesses(kWhole, space, kTruths[3], true, {21, 1, 1}, kAll).expect_same();
      accesses(kHalves, space, kTruths[3], false, {16, 2, 1}, kAll).expect_same();
    }
  };
  expect_same();
  exec::set_divided_anyhow(true);
  expect_same();
  exec::set_divided_anyhow(false);
}

// The time to compile a loop does not grow with the square of the number of its accesses: LLVM gets 60 seconds.
TEST(CompiledMasked, VeryManyAccesses) {
  if (!WARPLENS_HAS_COMPILER) GTEST_SKIP();
  std::string body = begin(kWhole, "shared") + "mad.wide.u32 %rd4, %r3, 4, %rd9; mov.u32 %r10, 0;\nLOOP:\n";
  for (int i = 0; i < 2500; ++i)
    body += fmt::format("ld.shared.f32 %f{}, [%rd4+{}]; fma.rn.f32 %f{}, %f{}, %f{}, %f1;\n", 1 + i % 7, i % 60 * 128,
                        1 + i % 5, 1 + i % 3, 1 + i % 4);
  const Subject s =
      words(body + "add.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, 2; @%p2 bra LOOP; st.global.f32 [%rd2], %f1; ret;");
  const Outcome wanted = s.run(exec::CompileMode::off, false, nullptr);
  EXPECT_TRUE(s.run(exec::CompileMode::always, false, nullptr).buffers == wanted.buffers);
  EXPECT_EQ(last_explanation("k").find("LLVM crashed"), std::string::npos) << last_explanation("k");
}

// The other lanes would be beyond the end of the memory; or one of those that act is.
void expect_same_at_the_end_of_memory(const Element& e) {
  for (const unsigned lanes : {20u, 19u}) {
    const std::string body =
        begin(kWhole, "global") + kTruths[0] + "add.u64 %rd9, %rd9, 16384; sub.u64 %rd9, %rd9, " +
        std::to_string(lanes * e.bytes) + ";\n" +
        "mad.wide.u32 %rd4, %r3, ~, %rd9; @%p1 ld.global.# $, [%rd4]; @%p1 st.global.# [%rd4], $;\n"
        "st.global.# [%rd1], $; ret;" *
            e;
    Subject s = words(body, 32);
    s.grid = {1, 1, 1};
    s.expect_same();
  }
}

TEST(CompiledMasked, TheEndOfMemory) {
  for (const Element& e : kElements) expect_same_at_the_end_of_memory(e);
  exec::set_divided_anyhow(true);
  for (const std::size_t e : {0, 5, 13}) expect_same_at_the_end_of_memory(kElements[e]);
  exec::set_divided_anyhow(false);
}

// Which lane stores last, and whether one lane loads what another one has not.
TEST(CompiledMasked, OneAddress) {
  for (const char* const truth : kTruths) {
    std::string body = begin("mov.u32 %r3, 0;\n", "global") + truth + "\n";
    for (const Element& e : kElements)
      body += "@%p1 st.global.# [%rd1+512], $; @%p1 ld.global.# $, [%rd1+512]; @!%p1 st.global.# [%rd1+528], $;\n"
              "st.global.# [%rd1+544], $;\n" *
              e;
    Subject s = words(body + "st.global.u32 [%rd2+1024], %r5; ret;", 32);
    s.grid = {1, 1, 1};
    s.expect_same();
  }
}

TEST(CompiledMasked, LocalMemory) {
  for (const char* const truth : kTruths) {
    std::string body = begin(kWhole, "global") + truth +
                       "\nmov.u64 %rd4, l; and.b32 %r9, %r4, 3;\n"
                       "mad.wide.u32 %rd5, %r9, 16, %rd4;\n";
    for (const Element& e : kElements)
      body += "st.local.# [%rd4], $; @%p1 st.local.# [%rd5], $; ld.local.# $, [%rd5]; @%p1 ld.local.# $, [%rd4+16];\n"
              "mad.wide.u32 %rd6, %r3, ~, %rd1; st.global.# [%rd6+4096], $;\n" *
              e;
    Subject s = words(body + "ret;", 32);
    s.grid = {1, 1, 1};
    s.expect_same();
  }
  words(begin(kWhole, "global") +
            "mov.u64 %rd4, l; mul.wide.u32 %rd5, %r4, 4; add.u64 %rd4, %rd4, %rd5;\n"
            "add.u32 %r5, %r4, 3; mad.lo.u32 %r6, %r5, 7, %r4; xor.b32 %r5, %r5, %r6; st.global.u32 [%rd2], %r5;\n"
            "st.local.u32 [%rd4], %r5; st.global.u32 [%rd2], %r6; ret;",
        32) // beyond the end of the local memory
      .expect_same();
}

} // namespace compiled_masked_test
} // namespace warplens::tests
