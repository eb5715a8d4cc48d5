// SPDX-License-Identifier: Apache-2.0
// Scalar video instructions: as in the PTX manual (9.7.18.1) on targets that have them, and like the code that ptxas
// generates for them on later targets. tests/hardware/video_test.cpp has many more cases for later targets.
#include "tests/exec/kernel_test.hpp"

#include <array>

namespace warplens::tests {
namespace video_test {

struct Case {
  const char* statement; ///< with %r11 = 0x80ff7f01, %r12 = 0x00010002, %r13 = 0x11223344
  std::uint32_t by_manual, expanded;
};

constexpr std::array kCases = {
    Case{"vadd.u32.u32.u32.sat %r10, %r11, 0xffffffff", 0xffffffff, 0x80ff7f00}, // no upper limit
    Case{"vsub.u32.u32.u32.sat %r10, %r12, %r13", 0, 0},
    Case{"vadd.s32.s32.s32.sat %r10.b0, %r11.h1, %r12.h0, %r13", 0x11223380, 0x1122337f}, // -32511
    Case{"vadd.s32.u32.u32.sat %r10.b2, %r11.b3, %r12.h0, %r13", 0x117f3344, 0x117f3344}, // 130
    Case{"vadd.u32.u32.u32 %r10.h1, %r11.b0, %r12.h0, %r13", 0x00033344, 0x00003344},     // the upper half of 3
    Case{"vadd.u32.s32.s32 %r10.h0, %r11.b2, %r12.b0, %r13", 0x11220001, 0x11220001},     // -1 + 2
    Case{"vsub.u32.u32.u32.min %r10, %r12, %r13, %r11", 0xeedeccbe, 0x80ff7f01},          // the difference is negative
    Case{"vabsdiff.u32.s32.u32 %r10, %r11.b2, %r12.h0", 3, 3},
    Case{"vmin.u32.s32.s32 %r10, %r11.b3, %r12.h1", 0xffffff80, 0xffffff80},
    Case{"vmax.s32.u32.s32.max %r10, %r11.b3, %r12.h1, %r13", 0x11223344, 0x11223344},
    Case{"vset.s32.s32.lt.min %r10, %r11, %r12, %r11", 1, 0x80ff7f01}, // c is unsigned; expanded, as a is
    Case{"vset.u32.u32.lt.add %r10, %r11, %r12, %r13", 0x11223344, 0x11223344},
    Case{"vshl.u32.u32.u32.sat.clamp %r10.b1, %r11.b0, 9, %r13", 0x1122ff44, 0x11220044}, // 512
    Case{"vshl.u32.u32.u32.clamp %r10, %r11, 40", 0, 0},
    Case{"vshl.u32.u32.u32.wrap %r10, %r11, 40", 0xff7f0100, 0xff7f0100},
    Case{"vshr.s32.s32.u32.clamp.add %r10, %r11, 40, %r13", 0x11223343, 0x11223343},
    Case{"vmad.u32.u32.u32.sat %r10, %r11, 2, %r13", 0xffffffff, 0}, // the product of signed words is negative
    Case{"vmad.s32.s32.s32.shr7 %r10, -%r11.h0, %r12.b0, %r13", 0x0022426a, 0x0022426a},
    Case{"vmad.u32.u32.u32.po %r10, %r11.b0, %r12.h0, 5", 8, 8},
    Case{"vmad.s32.s32.s32 %r10, %r11.b2, %r12.b0, -%r13", 0xeeddccba, 0xeeddccba},
};

std::vector<std::uint32_t> results(int sm) {
  std::string body = "mov.b32 %r11, 0x80ff7f01; mov.b32 %r12, 0x00010002; mov.b32 %r13, 0x11223344;\n";
  for (std::size_t i = 0; i < kCases.size(); ++i)
    body += std::string(kCases[i].statement) + "; st.global.u32 [%rd1+" + std::to_string(4 * i) + "], %r10;\n";
  const Ran ran = run_kernel(kernel_of(body + "ret;", "", sm), {.threads = 1, .words = kCases.size()});
  EXPECT_EQ(ran.trap, "");
  return ran.words;
}

TEST(Video, AsTheManualSaysBeforeSm70) {
  const auto words = results(61);
  for (std::size_t i = 0; i < kCases.size(); ++i)
    EXPECT_EQ(words[i], kCases[i].by_manual) << kCases[i].statement << std::hex << ": " << words[i];
}

TEST(Video, AsTheAssemblerExpandsFromSm70On) {
  const auto words = results(70);
  for (std::size_t i = 0; i < kCases.size(); ++i)
    EXPECT_EQ(words[i], kCases[i].expanded) << kCases[i].statement << std::hex << ": " << words[i];
}

} // namespace video_test
} // namespace warplens::tests
