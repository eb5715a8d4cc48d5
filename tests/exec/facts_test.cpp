// SPDX-License-Identifier: Apache-2.0
// Behaviour that the manual leaves open or describes differently: measured on an H200 with operands in registers.
#include "tests/exec/kernel_test.hpp"

namespace warplens::tests {
namespace facts_test {

std::string hexadecimal(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

// Runs a statement whose operands %r1 to %r4 (and %l, %h, %f, %d of the same numbers) hold a, b, c, d; returns the
// destination, which is number 0 of its kind.
std::uint64_t one(const std::string& statement, std::uint64_t a, std::uint64_t b, std::uint64_t c = 0,
                  std::uint64_t d = 0) {
  const std::uint64_t values[] = {a, b, c, d};
  std::string ptx = ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
                    ".reg .b16 %h<5>; .reg .b32 %r<10>; .reg .b64 %l<5>; .reg .f32 %f<5>; .reg .f64 %d<5>;\n"
                    ".reg .b64 %o<3>; .reg .pred %p<5>;\nld.param.u64 %o1, [out];\n";
  for (int i = 1; i <= 4; ++i) {
    const std::string n = std::to_string(i);
    ptx += "mov.b64 %l" + n + ", " + hexadecimal(values[i - 1]) + "; cvt.u32.u64 %r" + n + ", %l" + n +
           "; cvt.u16.u64 %h" + n + ", %l" + n + "; mov.b32 %f" + n + ", %r" + n + "; mov.b64 %d" + n + ", %l" + n +
           ";\n";
  }
  const std::size_t last =
      statement.rfind(';') == std::string::npos ? 0 : statement.rfind(';'); // of several statements
  const char kind = statement[statement.find('%', last) + 1];
  const std::string result = std::string("%") + kind + "0";
  const std::string store = kind == 'h'                  ? "st.global.u16"
                            : kind == 'r' || kind == 'f' ? "st.global.b32"
                                                         : "st.global.b64";
  const Ran ran = run_kernel(ptx + statement + ";\n" + store + " [%o1], " + result + ";\nret;\n}\n", {1, 1, 2});
  EXPECT_EQ(ran.trap, "") << statement;
  return std::uint64_t{ran.words[1]} << 32 | ran.words[0];
}

TEST(Facts, MeasuredWithRegisters) {
  // Division by zero: all ones, the remainder too.
  EXPECT_EQ(one("div.u32 %r0, %r1, %r2", 5, 0), 0xffffffffu);
  EXPECT_EQ(one("rem.u32 %r0, %r1, %r2", 5, 0), 0xffffffffu);
  EXPECT_EQ(one("rem.s16 %h0, %h1, %h2", 5, 0), 0xffffu);
  EXPECT_EQ(one("rem.u64 %l0, %l1, %l2", 5, 0), ~std::uint64_t{0});
  EXPECT_EQ(one("div.s32 %r0, %r1, %r2", 0x80000000, 0xffffffff), 0x80000000u);
  // Bit fields that reach beyond the word.
  EXPECT_EQ(one("bfe.s32 %r0, %r1, %r2, %r3", 0x21, 255, 255), 0u);
  EXPECT_EQ(one("bfe.s32 %r0, %r1, %r2, %r3", 0x80000021, 40, 9), 0xffffffffu);
  EXPECT_EQ(one("bfi.b32 %r0, %r1, %r2, %r3, %r4", 0x21, 0x10000, 7, 32), 0x1080u);
  // The flag of sub.cc is the carry: addc after 3 - 1 adds one, after 1 - 3 none.
  EXPECT_EQ(one("sub.cc.u32 %r9, %r1, %r2;addc.u32 %r0, %r1, %r2", 3, 1), 5u);
  EXPECT_EQ(one("sub.cc.u32 %r9, %r1, %r2;addc.u32 %r0, %r1, %r2", 1, 3), 4u);
  // .ftz is judged as if the exponent had no bound.
  EXPECT_EQ(one("mul.ftz.f32 %f0, %f1, %f2", 0x3f7fffff, 0x00800000), 0u);
  EXPECT_EQ(one("cvt.rn.ftz.f32.f64 %f0, %d1", 0x380fffffe0000000, 0), 0u);
  EXPECT_EQ(one("cvt.rn.ftz.f32.f64 %f0, %d1", 0x380ffffff0000000, 0), 0x00800000u);
  // Payloads of NaN.
  EXPECT_EQ(one("cvt.f64.f32 %d0, %f1", 0x7f9d23bf, 0), 0x7ffba477e0000000u);
  EXPECT_EQ(one("cvt.f64.f16 %d0, %h1", 0x7c01, 0), 0x7ff8040000000000u);
  EXPECT_EQ(one("cvt.rn.bf16.f64 %h0, %d1", 0xfff9abcdef012345, 0), 0xffcdu);
  EXPECT_EQ(one("cvt.rn.f16.f64 %h0, %d1", 0x7ff4567890123456, 0), 0x7f15u);
}

} // namespace facts_test
} // namespace warplens::tests
