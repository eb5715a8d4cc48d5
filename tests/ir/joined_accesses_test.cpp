// SPDX-License-Identifier: Apache-2.0
// Each kernel was compiled with ptxas 13 for sm_90. The expected result is the widths, in bits, of the shared loads and
// stores in the machine code.
#include "emulator/ir/joined_accesses.hpp"
#include "emulator/ir/parse.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace warplens::ir {
namespace joined_accesses_test {

constexpr const char* kEight = "shl.b32 %r10, %r1, 3; add.u32 %r11, %r2, %r10;\n";
constexpr const char* kSixteen = "shl.b32 %r10, %r1, 4; add.u32 %r11, %r2, %r10;\n";

// The widths when joined accesses count as one, in ascending order.
std::multiset<int> widths(const std::string& body) {
  const auto module = parse(
      ".version 8.3\n.target sm_90\n.address_size 64\n.shared .align 4 .b8 s[8192];\n"
      ".visible .entry k(.param .u64 out) {\n"
      ".reg .b32 %r<60>; .reg .b64 %rd<20>; .reg .pred %p<10>; .reg .f32 %f<10>; .reg .f64 %d<9>; .reg .b16 %h<9>;\n"
      "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r2, s;\n" +
          body + "\nret;\n}\n",
      "joined.ptx");
  if (!module) {
    ADD_FAILURE() << render(module.error(), "");
    return {};
  }
  const Function& f = module->functions[0];
  std::map<std::uint32_t, int> bits;
  for (std::uint32_t i = 0; i < f.instructions.size(); ++i) {
    const std::string op(f.instructions[i].opcode);
    if (op.find("shared") == std::string::npos || op.starts_with("atom")) continue;
    const Type type = *isa::type_named(op.substr(op.rfind('.') + 1));
    bits[i] = isa::bits(type) * (op.find(".v2") != std::string::npos ? 2 : 1);
  }
  for (const JoinedAccess& j :
       joined_accesses(f, control_flow(f), [](const Operand& o) { return static_cast<std::uint64_t>(o.value); })) {
    bits[j.first] = static_cast<int>(8 * j.bytes);
    for (const std::uint32_t other : j.others) bits.erase(other);
  }
  std::multiset<int> result;
  for (const auto& [i, b] : bits) result.insert(b);
  return result;
}

std::string load(int d, int offset, const char* base = "%r11") {
  return "ld.shared.u32 %r" + std::to_string(d) + ", [" + base + "+" + std::to_string(offset) + "];\n";
}
std::string store(int offset, const char* base = "%r11") {
  return std::string("st.shared.u32 [") + base + "+" + std::to_string(offset) + "], %r3;\n";
}

using Widths = std::multiset<int>;
const std::string k8 = kEight, k16 = kSixteen;

TEST(JoinedLoads, PairsInAnAlignedWindow) {
  EXPECT_EQ(widths(k8 + load(20, 0) + load(21, 4)), Widths({64}));
  EXPECT_EQ(widths(k8 + load(20, 4) + load(21, 0)), Widths({64}));
  EXPECT_EQ(widths(k8 + load(20, 8) + load(21, 12)), Widths({64}));
  EXPECT_EQ(widths(k8 + load(20, 4) + load(21, 8)), Widths({32, 32}));
  EXPECT_EQ(widths(k16 + load(20, 0) + load(21, 8)), Widths({32, 32}));
  EXPECT_EQ(widths("ld.shared.u32 %r20, [s+8]; ld.shared.f32 %f1, [s+12];"), Widths({64}));
}

TEST(JoinedLoads, TheAlignmentHasToBeProved) {
  const auto pair = load(20, 0) + load(21, 4);
  EXPECT_EQ(widths("shl.b32 %r10, %r1, 2; add.u32 %r11, %r2, %r10;" + pair), Widths({32, 32}));
  EXPECT_EQ(widths("mul.lo.u32 %r10, %r1, 24; add.u32 %r11, %r2, %r10;" + pair), Widths({64}));
  EXPECT_EQ(widths("mad.lo.u32 %r11, %r1, 8, %r2;" + pair), Widths({64}));
  EXPECT_EQ(widths("and.b32 %r10, %r1, 248; add.u32 %r11, %r2, %r10;" + pair), Widths({64}));
  EXPECT_EQ(widths("shl.b32 %r10, %r1, %r3; shl.b32 %r10, %r10, 3; add.u32 %r11, %r2, %r10;" + pair), Widths({64}));
  EXPECT_EQ(widths("mul.wide.u32 %rd5, %r1, 8; mov.u64 %rd6, s; add.u64 %rd5, %rd5, %rd6;"
                   "ld.shared.u32 %r20, [%rd5]; ld.shared.u32 %r21, [%rd5+4];"),
            Widths({64}));
}

TEST(JoinedLoads, QuadsAndTriples) {
  const auto quad = load(20, 0) + load(21, 4) + load(22, 8) + load(23, 12);
  EXPECT_EQ(widths(k16 + quad), Widths({128}));
  EXPECT_EQ(widths(k16 + load(20, 8) + load(21, 0) + load(22, 12) + load(23, 4)), Widths({128}));
  EXPECT_EQ(widths(k8 + quad), Widths({64, 64}));
  EXPECT_EQ(widths(k16 + load(20, 0) + load(21, 4) + load(22, 8)), Widths({128}));
  EXPECT_EQ(widths(k16 + load(20, 0) + load(21, 4) + load(22, 12)), Widths({128}));
  EXPECT_EQ(widths(k16 + "ld.shared.f64 %d1, [%r11]; ld.shared.f64 %d2, [%r11+8];"), Widths({128}));
  EXPECT_EQ(widths(k16 + "ld.shared.v2.u32 {%r20, %r21}, [%r11]; ld.shared.v2.u32 {%r22, %r23}, [%r11+8];"),
            Widths({128}));
}

TEST(JoinedLoads, WhatStandsBetween) {
  EXPECT_EQ(widths(k8 + load(20, 0) + "add.u32 %r22, %r20, 7;" + load(21, 4)), Widths({64}));
  EXPECT_EQ(widths(k8 + load(20, 0) + store(4000, "%r2") + load(21, 4)), Widths({32, 32, 32}));
  EXPECT_EQ(widths(k8 + load(20, 0) + "st.global.u32 [%rd1], %r3;" + load(21, 4)), Widths({64}));
  EXPECT_EQ(widths(k8 + load(20, 0) + "bar.sync 0;" + load(21, 4)), Widths({32, 32}));
  EXPECT_EQ(widths(k8 + load(20, 0) + "membar.cta;" + load(21, 4)), Widths({32, 32}));
  EXPECT_EQ(widths(k8 + load(20, 0) + "bar.warp.sync -1;" + load(21, 4)), Widths({32, 32}));
  EXPECT_EQ(widths(k8 + load(20, 0) + "atom.shared.add.u32 %r30, [%r2+4000], 1;" + load(21, 4)), Widths({32, 32}));
  EXPECT_EQ(widths(k8 + load(20, 0) + "atom.global.add.u32 %r30, [%rd1], 1;" + load(21, 4)), Widths({64}));
  EXPECT_EQ(widths(k8 + load(20, 0) + load(25, 64) + load(21, 4)), Widths({32, 64}));
  EXPECT_EQ(widths(k8 + load(20, 0) + "setp.gt.u32 %p1, %r20, 7; @%p1 bra X; bar.sync 0; X:" + load(21, 4)),
            Widths({32, 32}));
  EXPECT_EQ(widths(k8 + "setp.gt.u32 %p1, %r3, 7; @%p1 " + load(20, 0) + "@%p1 " + load(21, 4)), Widths({32, 32}));
  EXPECT_EQ(widths(k8 + "ld.volatile.shared.u32 %r20, [%r11]; ld.volatile.shared.u32 %r21, [%r11+4];"),
            Widths({32, 32}));
  EXPECT_EQ(widths(k8 + "ld.shared.u16 %h1, [%r11]; ld.shared.u16 %h2, [%r11+2];"), Widths({16, 16}));
}

TEST(JoinedLoads, AddressesThatAreTheSameNumber) {
  EXPECT_EQ(widths(k8 + "add.u32 %r12, %r2, %r10;" + load(20, 0) + load(21, 4, "%r12")), Widths({64}));
  EXPECT_EQ(widths(k8 + "add.u32 %r12, %r11, 4;" + load(20, 0) + load(21, 0, "%r12")), Widths({64}));
  EXPECT_EQ(widths(k8 + load(20, 0) + "add.u32 %r11, %r11, %r3;" + load(21, 4)), Widths({32, 32}));
}

TEST(JoinedStores, OnlyFullWindows) {
  EXPECT_EQ(widths(k8 + store(0) + store(4)), Widths({64}));
  EXPECT_EQ(widths(k8 + store(4) + store(0)), Widths({64}));
  EXPECT_EQ(widths(k16 + store(0) + store(8) + store(4) + store(12)), Widths({128}));
  EXPECT_EQ(widths(k16 + store(0) + store(4) + store(8)), Widths({32, 64}));
  EXPECT_EQ(widths(k8 + store(0) + store(4000, "%r2") + store(4)), Widths({32, 32, 32}));
  EXPECT_EQ(widths(k8 + store(0) + load(20, 4000, "%r2") + store(4)), Widths({32, 32, 32}));
}

} // namespace joined_accesses_test
} // namespace warplens::ir
