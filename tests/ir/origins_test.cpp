// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/origins.hpp"

#include "emulator/ir/check.hpp"
#include "emulator/ir/opcode_parts.hpp"
#include "emulator/ir/parse.hpp"

#include <gtest/gtest.h>

#include <string>

namespace warplens::ir {
namespace origins_test {

TEST(OpcodeParts, ModifiersMayHaveAQualifier) {
  Instruction i;
  i.opcode = "st.weak.shared::cta.f32";
  EXPECT_TRUE(has_part(i, "shared"));
  EXPECT_TRUE(has_part(i, "f32"));
  EXPECT_FALSE(has_part(i, "st"));
  EXPECT_FALSE(has_part(i, "share"));
  EXPECT_FALSE(has_part(i, "cta"));
}

/// Of the address of the last instruction before `ret`.
Origins of_last_address(const std::string& body) {
  auto module = parse(".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
                      ".reg .b32 %r<9>; .reg .b64 %a<9>; .reg .pred %q;\n.local .align 4 .b8 own[64];\n"
                      ".shared .align 4 .b8 s[1024];\nld.param.u64 %a1, [p];\n" +
                          body + "\nret;\n}\n",
                      "origins.ptx");
  if (!module || check(*module).errors.has_errors()) {
    ADD_FAILURE() << (module ? body : render(module.error(), ""));
    return {};
  }
  const Function& function = module->functions[0];
  return OriginFinder(*module, function).of_address(function.instructions[function.instructions.size() - 2]);
}

std::string text(const Origins& o) {
  return std::string(o.lane ? "lane " : "") + (o.memory ? "memory " : "") + (o.own_value ? "own " : "") +
         (o.uniform() ? "uniform" : "");
}

TEST(Origins, OfParametersAndBlocksAreUniform) {
  EXPECT_EQ(text(of_last_address("st.global.u32 [%a1], 0;")), "uniform");
  EXPECT_EQ(text(of_last_address("mov.u32 %r1, %ctaid.x; mul.wide.u32 %a2, %r1, 4; add.u64 %a3, %a1, %a2;"
                                 "st.global.u32 [%a3], 0;")),
            "uniform");
}

TEST(Origins, FollowAllWriters) {
  EXPECT_EQ(text(of_last_address("mov.u32 %r1, s; mov.u32 %r2, %tid.x; shl.b32 %r3, %r2, 2; setp.eq.u32 %q, %r2, 0;"
                                 "@%q add.u32 %r1, %r1, %r3; st.shared.u32 [%r1], 0;")),
            "lane ");
  // The guard alone decides which of the lanes change it.
  EXPECT_EQ(text(of_last_address("mov.u32 %r1, s; mov.u32 %r2, %laneid; setp.eq.u32 %q, %r2, 0;"
                                 "@%q mov.u32 %r1, 16; st.shared.u32 [%r1], 0;")),
            "lane ");
  // A loop: each register is visited once.
  EXPECT_EQ(text(of_last_address("mov.u32 %r1, s; L: add.u32 %r1, %r1, %r1; setp.lt.u32 %q, %r1, 9; @%q bra L;"
                                 "st.shared.u32 [%r1], 0;")),
            "uniform");
}

TEST(Origins, LoadsHaveThoseOfTheirAddress) {
  EXPECT_EQ(text(of_last_address("ld.global.u32 %r1, [%a1]; st.shared.u32 [%r1], 0;")), "memory uniform");
  EXPECT_EQ(text(of_last_address("mov.u32 %r2, %tid.x; ld.shared.u32 %r1, [%r2]; st.shared.u32 [%r1], 0;")),
            "lane memory ");
  EXPECT_EQ(text(of_last_address("ld.local.u32 %r1, [own]; st.shared.u32 [%r1], 0;")), "memory own ");
}

TEST(Origins, SomeInstructionsGiveEachLaneAValueOfItsOwn) {
  EXPECT_EQ(text(of_last_address("atom.global.add.u32 %r1, [%a1], 4; st.shared.u32 [%r1], 0;")), "memory own ");
  EXPECT_EQ(text(of_last_address("shfl.sync.idx.b32 %r1, %r2, 0, 31, -1; st.shared.u32 [%r1], 0;")), "own ");
  EXPECT_EQ(text(of_last_address("match.any.sync.b32 %r1, %r2, -1; st.shared.u32 [%r1], 0;")), "own ");
}

} // namespace origins_test
} // namespace warplens::ir
