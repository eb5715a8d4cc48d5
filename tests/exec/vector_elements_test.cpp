// SPDX-License-Identifier: Apache-2.0
// Elements of vectors of other types than the instruction's: numbers, special registers, and registers as wide.
#include "tests/exec/kernel_test.hpp"

#include <bit>

namespace warplens::tests {
namespace vector_elements_test {

using Words = std::vector<std::uint32_t>;

Words words_of(const std::string& body, std::size_t words) {
  Emulated machine(kernel_of(".reg .u32 %u<4>; .reg .f64 %d<4>; .reg .f16x2 %x<4>;\n" + body + "ret;"), "elements.ptx");
  const Ran ran = run_on(machine, {.words = words});
  EXPECT_EQ(ran.trap, "") << body;
  return ran.words;
}

// Each thread stores 16 bytes.
const std::string kPlace = "mul.wide.u32 %rd3, %r2, 16; add.u64 %rd3, %rd1, %rd3;\n";

TEST(VectorElements, StoresOfNumbersAndSpecialRegisters) {
  const Words got = words_of(kPlace + "mov.b32 %r10, 0f3f800000; mov.b32 %u1, -5;\n"
                                      "st.global.v4.b32 [%rd3], {%laneid, 7, %u1, %r10};\n",
                             128);
  for (std::uint32_t t = 0; t < 32; ++t)
    EXPECT_EQ(Words(got.begin() + 4 * t, got.begin() + 4 * t + 4), (Words{t, 7, 0xfffffffb, 0x3f800000}));
  const Words wide = words_of(kPlace + "mov.u64 %rd4, 0x123456789; st.global.v2.u32 [%rd3], {%rd4, 9};\n", 128);
  EXPECT_EQ(Words(wide.begin(), wide.begin() + 2), (Words{0x23456789, 9}));
}

TEST(VectorElements, LoadsIntoWiderRegisters) {
  const Words got = words_of(kPlace + "mov.f64 %d1, 0d3ff0000000000000;\n"
                                      "st.global.v2.b32 [%rd3], {%r1, 0x87654321}; ld.global.v2.b32 {%d1, %rd4}, "
                                      "[%rd3]; st.global.v2.b64 [%rd3], {%d1, %rd4};\n",
                             128);
  EXPECT_EQ(Words(got.begin() + 4, got.begin() + 8), (Words{1, 0, 0x87654321, 0}));
  const Words one = words_of(kPlace + "mov.f64 %d1, 0d3ff0000000000000; st.global.b32 [%rd3], %d1; ld.global.b32 %d1, "
                                      "[%rd1+4]; st.global.b64 [%rd3+8], %d1;\n",
                             128);
  EXPECT_EQ(Words(one.begin(), one.begin() + 4), (Words{0, 0, 0, 0}));
}

TEST(VectorElements, FragmentsOfAnyTypeOfTheirWidth) {
  const auto product = [](const std::string& a) {
    return words_of(kPlace +
                        "mul.lo.u32 %r10, %r1, 0x00010003; add.u32 %r10, %r10, 0x3c003800; mov.b32 %u1, %r10;\n"
                        "mov.b32 %f1, %r10; mov.b32 %x1, %r10; mov.u32 %r11, 0; mov.u32 %r12, 0x3c003c00;\n"
                        "mov.f32 %f2, 0f00000000; mov.u32 %r13, %laneid;\n"
                        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f4, %f5, %f6, %f7}, {" +
                        a +
                        "}, {%r12}, {%f2, %f2, %f2, %f2};\n"
                        "st.global.v4.f32 [%rd3], {%f4, %f5, %f6, %f7};\n",
                    128);
  };
  const Words plain = product("%r10, %r11");
  EXPECT_NE(plain, Words(128));
  for (const char* const a : {"%u1, %r11", "%f1, %r11", "%x1, %r11", "%r10, 0", "%u1, 0"})
    EXPECT_EQ(product(a), plain) << a;
  EXPECT_EQ(product("%r10, %laneid"), product("%r10, %r13"));
  EXPECT_NE(product("%r10, %r13"), plain);
}

TEST(VectorElements, ReductionsOfPairs) {
  const Words got =
      words_of("mov.b32 %r10, 0x3c003c00;\nmov.b32 %r11, 0x40004000;\nsetp.ne.u32 %p1, %r1, 0; @%p1 ret;\n"
               "red.global.add.noftz.v2.f16x2 [%rd1], {%r10, %r11};\n",
               4);
  EXPECT_EQ(got, (Words{0x3c003c00, 0x40004000, 0, 0}));
}

} // namespace vector_elements_test
} // namespace warplens::tests
