// SPDX-License-Identifier: Apache-2.0
// Compare-and-swaps that repeat until no other was faster, and those that may give up.
#include "emulator/ir/swap_updates.hpp"

#include "emulator/ir/check.hpp"
#include "emulator/ir/parse.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace warplens::ir {
namespace swap_updates_test {

/// The number of compare-and-swaps that update, in a loop with this body: %r1 is what the swap found, and %r3 a number
/// of the thread's own.
long updates(const std::string& body) {
  const std::string text = ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
                           ".reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %a<9>; .reg .pred %q<9>;\n"
                           "ld.param.u64 %a1, [p]; mov.u32 %r3, %tid.x; ld.global.u32 %r1, [%a1];\nL:\n"
                           "mov.u32 %r2, %r1;\n" +
                           body + "\nsetp.ne.u32 %q1, %r1, %r2;\n@%q1 bra L;\nret;\n}\n";
  auto module = parse(text, "swaps.ptx");
  if (!module || check(*module).errors.has_errors()) {
    ADD_FAILURE() << (module ? body : render(module.error(), text));
    return -1;
  }
  const std::vector<bool> found = swap_updates(*module, module->functions[0]);
  EXPECT_EQ(found.size(), module->functions[0].instructions.size());
  return std::count(found.begin(), found.end(), true);
}

constexpr const char* kSwap = "atom.global.cas.b32 %r1, [%a1], %r2, %r4;";

TEST(SwapUpdates, WriteWhatWasComputedFromTheValueTheyFound) {
  EXPECT_EQ(updates(std::string("add.u32 %r4, %r2, %r3; ") + kSwap), 1);
  EXPECT_EQ(
      updates(std::string("mov.b32 %f1, %r2; cvt.rn.f32.u32 %f2, %r3; mul.f32 %f1, %f1, %f2; mov.b32 %r4, %f1; ") +
              kSwap),
      1);
  EXPECT_EQ(updates(std::string("shl.b32 %r5, %r2, 16; prmt.b32 %r4, %r5, %r3, 0x7610; ") + kSwap), 1);
}

TEST(SwapUpdates, LocksWriteAValueOfTheirOwn) {
  EXPECT_EQ(updates("atom.global.cas.b32 %r1, [%a1], %r2, 1;"), 0);
  EXPECT_EQ(updates(std::string("mov.u32 %r4, %r3; ") + kSwap), 0);
  EXPECT_EQ(updates(std::string("ld.global.u32 %r4, [%a1]; ") + kSwap), 0);
  EXPECT_EQ(updates("atom.global.exch.b32 %r1, [%a1], %r2;"), 0);
}

TEST(SwapUpdates, MinimaAndMaximaMayGiveUp) {
  EXPECT_EQ(updates(std::string("max.u32 %r4, %r2, %r3; ") + kSwap), 0);
  EXPECT_EQ(updates(std::string("setp.lt.u32 %q2, %r2, %r3; selp.b32 %r4, %r2, %r3, %q2; ") + kSwap), 0);
  EXPECT_EQ(updates(std::string("setp.lt.u32 %q2, %r2, %r3; mov.u32 %r4, %r3; @%q2 add.u32 %r4, %r2, 1; ") + kSwap), 0);
}

} // namespace swap_updates_test
} // namespace warplens::ir
