// SPDX-License-Identifier: Apache-2.0
// The PTX that replaces machine instructions: for every known opcode, the PTX can be loaded.
#include "api/session/session.hpp"
#include "api/trace/accelsim_opcodes.hpp"

#include <gtest/gtest.h>

namespace warplens::api {
namespace accelsim_test {

std::string errors_of(const std::string& statement) {
  const std::string text = ".version 8.7\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n"
                           ".reg .b32 %r<5>; .reg .b64 %rd<4>; .reg .f32 %f<5>; .reg .f64 %fd<5>; .reg .pred %p<2>;\n" +
                           statement + "\nEND:\nret;\n}\n";
  static const std::shared_ptr<Context> context = *Context::create();
  const auto module = Module::load(context, text, "stand_in.ptx");
  if (!module) return render(module.error(), text);
  return (*module)->blockers(*(*module)->kernels().at(0)).empty() ? "" : "cannot be run";
}

TEST(StandIn, MemoryInstructionsKeepSpaceKindAndWidth) {
  using exec::AccessKind;
  using isa::Space;
  const std::tuple<const char*, Space, AccessKind> table[] = {
      {"LD.E", Space::generic, AccessKind::load},
      {"LDG.E.128.CONSTANT.SYS", Space::global, AccessKind::load},
      {"LDS.U", Space::shared, AccessKind::load},
      {"LDL", Space::local, AccessKind::load},
      {"LDC", Space::constant, AccessKind::load},
      {"ST.E", Space::generic, AccessKind::store},
      {"STG.E", Space::global, AccessKind::store},
      {"STS.64", Space::shared, AccessKind::store},
      {"STL", Space::local, AccessKind::store},
      {"ATOM.E.ADD", Space::generic, AccessKind::atomic},
      {"ATOMG.E.ADD", Space::global, AccessKind::atomic},
      {"ATOMS.ADD", Space::shared, AccessKind::atomic},
      {"RED.E.ADD", Space::generic, AccessKind::reduction}};
  for (const auto& [opcode, space, kind] : table)
    for (const std::uint32_t width : {1u, 2u, 4u, 8u, 16u}) {
      const std::optional<StandIn> s = stand_in(opcode, width);
      ASSERT_TRUE(s) << opcode << " " << width;
      EXPECT_EQ(s->space, space) << opcode;
      EXPECT_EQ(s->kind, kind) << opcode;
      EXPECT_EQ(errors_of(s->text), "") << opcode << " " << width;
    }
}

TEST(StandIn, OthersCanBeLoaded) {
  for (const char* opcode :
       {"FADD",    "FMUL.FTZ",  "FFMA",     "MUFU.RSQ",     "DADD", "DMUL",    "DFMA", "ISETP.GE.AND", "HFMA2.MMA",
        "IADD3",   "IMAD.WIDE", "LOP3.LUT", "SHF.R.U32.HI", "POPC", "FLO.U32", "PRMT", "MOV",          "S2R",
        "I2F.U32", "SHFL.IDX",  "VOTE.ANY", "BAR.SYNC",     "BRA",  "EXIT",    "NOP",  "MEMBAR.SC.GPU"}) {
    const std::optional<StandIn> s = stand_in(opcode, 0);
    ASSERT_TRUE(s) << opcode;
    EXPECT_EQ(errors_of(s->text), "") << opcode;
    EXPECT_EQ(s->space, isa::Space::none) << opcode;
  }
  EXPECT_TRUE(stand_in("BAR.SYNC", 0)->barrier);
  EXPECT_TRUE(stand_in("BRA", 0)->branch);
}

TEST(StandIn, WhatIsNotKnownHasNone) {
  EXPECT_FALSE(stand_in("FROBNICATE.X", 0));
  EXPECT_FALSE(stand_in("HMMA.1688.F32", 0));
  EXPECT_FALSE(stand_in("LDG.E", 3));
  EXPECT_FALSE(stand_in("", 0));
}

} // namespace accelsim_test
} // namespace warplens::api
