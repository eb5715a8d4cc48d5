// SPDX-License-Identifier: Apache-2.0
// Operands of asynchronous copies, mbarriers, policies and .bf16: spaces, bounds, types and braces. ptxas 13 determined
// which are legal.
#include "tests/ir/ptx_text.hpp"

#include "emulator/ir/check.hpp"

namespace warplens::ir {
namespace check_operands_test {

// The first message for a statement; empty if there is none.
std::string complaint(const std::string& statement) {
  const bool scaled = statement.find(".block_scale") != statement.npos;
  const std::string target = statement.starts_with("tcgen05") ? "sm_100a" : scaled ? "sm_120a" : "sm_90a";
  auto module =
      parse(".version 9.0\n.target " + target +
                "\n.address_size 64\n.global .align 16 .b8 g[64]; .const .b8 c[64]; .shared .align 16 .b8 s[64];\n"
                ".func f() { ret; }\n.entry k(.param .u64 p)\n{\n.reg .pred %p<4>; .reg .b16 %h<4>; "
                ".reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .f32 %f<9>; .reg .f64 %fd<9>; .reg .f16x2 %x<4>; .reg .u32 "
                "%u<4>; .reg .s32 %s<4>;\n" +
                statement + "\n}\n",
            "test.ptx");
  if (!module) return module.error().list()[0].message;
  const Checked checked = check(*module);
  if (checked.errors.has_errors()) return checked.errors.list()[0].message;
  return checked.unsupported.empty() ? "" : checked.unsupported[0].why.message;
}

const std::string kLoad = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes ";

TEST(Operands, PoliciesBelongToTheirWord) {
  EXPECT_EQ(complaint("ld.global.L2::cache_hint.b32 %r0, [%rd1], %rd2;"), "");
  EXPECT_NE(complaint("ld.global.L2::cache_hint.b32 %r0, [%rd1];"), "");
  EXPECT_NE(complaint("ld.global.b32 %r0, [%rd1], %rd2;"), "");
  EXPECT_NE(complaint("red.global.add.f32 [%rd1], %f1, %rd2;"), "");
  EXPECT_NE(complaint("atom.global.cas.b32 %r0, [%rd1], %r1, %r2, %rd2;"), "");
  EXPECT_NE(complaint("st.global.L2::cache_hint.b32 [%rd1], %r1, %fd2;"), "");
}

TEST(Operands, AddressesOfACopyHaveASpaceEach) {
  EXPECT_EQ(complaint(kLoad + "[s], [g], 16, [s];"), "");
  EXPECT_NE(complaint(kLoad + "[g], [g], 16, [s];"), "");
  EXPECT_NE(complaint(kLoad + "[s], [s], 16, [s];"), "");
  EXPECT_NE(complaint(kLoad + "[s], [g], 16, [g];"), "");
  EXPECT_EQ(complaint("cp.async.ca.shared.global [s], [g], 4;"), "");
  EXPECT_NE(complaint("cp.async.ca.shared.global [s], [s], 4;"), "");
  EXPECT_EQ(complaint("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [g, {%r1}], [s];"), "");
  EXPECT_NE(complaint("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [s, {%r1}], [s];"), "");
}

TEST(Operands, GenericAddressesAreWhereTheInstructionReaches) {
  EXPECT_EQ(complaint("atom.add.u32 %r0, [g], %r1;"), "");
  EXPECT_NE(complaint("atom.add.u32 %r0, [c], %r1;"), "");
  EXPECT_EQ(complaint("ld.b32 %r0, [c];"), "");
  EXPECT_EQ(complaint("mbarrier.init.b64 [s], 1;"), "");
  EXPECT_NE(complaint("mbarrier.init.b64 [g], 1;"), "");
  EXPECT_EQ(complaint("prefetchu.L1 [g];"), "");
  EXPECT_NE(complaint("prefetchu.L1 [s];"), "");
  EXPECT_EQ(complaint("mapa.u64 %rd0, s, %r1;"), "");
  EXPECT_NE(complaint("mapa.u64 %rd0, g, %r1;"), "");
}

TEST(Operands, NumbersHaveLimits) {
  EXPECT_EQ(complaint("mbarrier.try_wait.parity.b64 %p0, [s], 1;"), "");
  EXPECT_EQ(complaint("mbarrier.try_wait.parity.b64 %p0, [s], 2;"), "expected 0 to 1, got 2");
  EXPECT_EQ(complaint("mbarrier.arrive.b64 %rd0, [s], 100000;"), "");
  EXPECT_EQ(complaint("mbarrier.arrive.b64 %rd0, [s], 0;"), "expected 1 on, got 0");
  EXPECT_EQ(complaint(kLoad + "[s], [g], 1000000, [s];"), "");
  EXPECT_EQ(complaint(kLoad + "[s], [g], 24, [s];"), "expected a multiple of 16 from 0 on, got 24");
  EXPECT_EQ(complaint("cp.async.cg.shared.global [s], [g], 16, 16;"), "");
  EXPECT_NE(complaint("cp.async.cg.shared.global [s], [g], 16, 17;"), "");
  EXPECT_NE(complaint("createpolicy.range.L2::evict_last.b64 %rd0, [%rd1], 9, 8;"), "");
  EXPECT_NE(complaint("wgmma.wait_group.sync.aligned -1;"), "");
}

// Types that are no word of the spelling.
TEST(Operands, FixedTypesTakeNoFloatsAndFunctions) {
  EXPECT_EQ(complaint("bfe.u32 %x0, %x1, %r1, %r2;"), "");
  EXPECT_NE(complaint("bfe.u32 %r0, %r1, %x1, %r2;"), "");
  EXPECT_NE(complaint("shl.b32 %r0, %r1, f;"), "");
  EXPECT_NE(complaint("createpolicy.cvt.L2.b64 %fd0, %rd1;"), "");
  EXPECT_NE(complaint("mbarrier.test_wait.b64 %p0, [s], 1.5;"), "");
  EXPECT_NE(complaint("movmatrix.sync.aligned.m8n8.trans.b16 %r0, 7;"), "");
  EXPECT_EQ(complaint("add.u16x2 %r0, %r1, %x2;"), "");
  EXPECT_NE(complaint("add.u16x2 %r0, %r1, 5;"), "");
}

// CUTLASS writes them for the scales of mma.
TEST(Operands, BracesAroundScalesAndMetadata) {
  const std::string scaled =
      "mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32."
      "ue4m3 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r0, %r1}, {%f0, %f1, %f2, %f3}, ";
  const std::string sparse = "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                             "{%f0, %f1, %f2, %f3}, {%r0, %r1}, {%r2, %r3}, {%f0, %f1, %f2, %f3}, ";
  for (const char* rest : {"%r1, {0, 0}, %r2, {0, 0};", "{%r1}, {0, 0}, {%r2}, {0, 0};", "{%r1}, {0, 0}, %r2, {0, 0};"})
    EXPECT_EQ(complaint(scaled + rest), "") << rest;
  EXPECT_NE(complaint(scaled + "{%r1, %r2}, {0, 0}, %r2, {0, 0};"), "");
  EXPECT_EQ(complaint(sparse + "%r1, 0;"), "");
  EXPECT_EQ(complaint(sparse + "{%r1}, 0;"), "");
}

// Of one width, and of any type but where the instruction's is a number of 32 or 64 bits. An untyped register makes the
// vector untyped.
TEST(Operands, ElementsOfVectors) {
  const std::string mma = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, ",
                    b_and_c = ", {%r3}, {%f4, %f5, %f6, %f7};";
  for (const char* const a : {"%r1, %r2", "%r1, %f2", "%r1, %x2", "%r1, 7", "%r1, %laneid"})
    EXPECT_EQ(complaint(mma + "{" + a + "}" + b_and_c), "") << a;
  for (const char* const a : {"%r1, %rd2", "%r1, %h2", "%r1, %fd2", "%r1, _", "%r1, f"})
    EXPECT_NE(complaint(mma + "{" + a + "}" + b_and_c), "") << a;
  EXPECT_NE(complaint(mma + "{%r1, %r2}, {%r3}, {%f4, %f5, %f6, 7};"), "");
  EXPECT_NE(complaint(mma + "{%r1, %r2}, {%r3}, {%f4, %f5, %f6, %x1};"), "");
  EXPECT_EQ(complaint("st.global.v2.f32 [%rd1], {%f1, %tid.x};"), "");
  EXPECT_NE(complaint("st.global.v2.f32 [%rd1], {%f1, 7};"), "");
  EXPECT_NE(complaint("st.global.v2.f32 [%rd1], {%f1, _};"), "");
  EXPECT_NE(complaint("st.global.v2.b32 [%rd1], {%r1, %tid};"), "") << "all of it";
  EXPECT_NE(complaint("st.global.v2.b32 [%rd1], {%r1, %clock64};"), "");
  EXPECT_EQ(complaint("ld.global.v2.b32 {%rd1, %fd1}, [%rd1];"), "");
  EXPECT_NE(complaint("ld.global.v2.b32 {%rd1, %r1}, [%rd1];"), "") << "of two widths";
  for (const char* const fits :
       {"u32 {%rd1, %fd1}", "u32 {%fd1, %rd1}", "b16 {%r1, %f1}", "u16 {%f1, %r1}", "s32 {%f1, %r1}", "f32 {%u1, %u2}",
        "b32 {%fd1, %fd2}", "b16 {%f1, %f2}", "f32 {%rd1, %rd2}", "f32 {%u1, %r2}", "b32 {%f1, %f2}", "u32 {%u1, %s1}"})
    EXPECT_EQ(complaint("ld.global.v2." + std::string(fits) + ", [%rd1];"), "") << fits;
  for (const char* const bad : {"s32 {%f1, %f2}", "s16 {%f1, %f2}", "u16 {%u1, %f1}", "b32 {%u1, %f1}",
                                "f32 {%fd1, %fd2}", "u64 {%fd1, %fd2}", "f32 {%x1, %x2}", "b32 {%x1, %f1}"})
    EXPECT_NE(complaint("ld.global.v2." + std::string(bad) + ", [%rd1];"), "") << bad;
  // Each element is compared with the one before it.
  EXPECT_EQ(complaint("ld.global.v4.f32 {%u1, %s1, %r1, %f1}, [%rd1];"), "");
  EXPECT_NE(complaint("ld.global.v4.f32 {%r1, %u1, %s1, %f1}, [%rd1];"), "");
  EXPECT_EQ(complaint("wmma.load.c.sync.aligned.row.m8n8k32.s32 {%f1, %r1}, [%rd1];"), "");
  EXPECT_NE(complaint("wmma.load.c.sync.aligned.row.m8n8k32.s32 {%f1, %f2}, [%rd1];"), "");
  EXPECT_NE(complaint("red.global.add.noftz.v2.f16x2 [%rd1], {%f1, %f2};"), "");
  EXPECT_EQ(complaint("red.global.add.noftz.v2.f16x2 [%rd1], {%f1, %r2};"), "");
  EXPECT_NE(complaint("red.global.add.noftz.v2.f16x2 [%rd1], {%u1, %u2};"), "");
  EXPECT_EQ(complaint("ld.global.v2.b16 {%h1, _}, [%rd1];"), "");
  EXPECT_EQ(complaint("red.global.add.noftz.v2.f16x2 [%rd1], {%r1, 7};"), "");
}

TEST(Operands, ElementsOfMovesAreOfOneKind) {
  for (const char* const fits : {"{%r1, %f1}, %rd1", "{%s1, %r1}, %rd1", "{%f1, %f2}, %rd1", "{%f1, _}, %rd1",
                                 "%rd1, {%s1, 5}", "%rd1, {%f1, %r1}"})
    EXPECT_EQ(complaint("mov.b64 " + std::string(fits) + ";"), "") << fits;
  for (const char* const bad : {"{%s1, %f1}, %rd1", "%rd1, {%f1, %s1}", "%rd1, {%f1, 5}"})
    EXPECT_NE(complaint("mov.b64 " + std::string(bad) + ";"), "") << bad;
  EXPECT_NE(complaint("ld.global.v4.f32 {%f1, _, %s1, %s2}, [%rd1];"), "") << "before and after '_'";
}

TEST(Operands, ValuesInWiderRegisters) {
  EXPECT_EQ(complaint("ld.global.b32 %fd1, [%rd1];"), "");
  EXPECT_EQ(complaint("st.global.b16 [%rd1], %f1;"), "");
  EXPECT_NE(complaint("ld.global.u32 %fd1, [%rd1];"), "");
  EXPECT_NE(complaint("ld.global.b32 _, [%rd1];"), "");
}

TEST(Operands, WordsThatMayBeLeftOut) {
  for (const char* statement : {"wgmma.fence.sync;", "wgmma.commit_group.sync;", "wgmma.wait_group.sync 1;",
                                "tcgen05.ld.sync.32x32b.x1.b32 {%r0}, [%r1];", "red.add.v2.f32 [%rd1], {%f1, %f2};",
                                "atom.add.v2.f32 {%f0, %f3}, [%rd1], {%f1, %f2};", "prefetch.L2::evict_last [%rd1];"})
    EXPECT_EQ(complaint(statement), "") << statement;
}

TEST(Operands, BracesAroundOneValue) {
  EXPECT_EQ(complaint("max.bf16 {%h0}, %h1, %h2;"), "");
  EXPECT_EQ(complaint("fma.rn.bf16x2 %r0, %r1, {%r2}, %r3;"), "");
  EXPECT_NE(complaint("max.f16 {%h0}, %h1, %h2;"), "");
  EXPECT_NE(complaint("max.bf16 {%h0, %h3}, %h1, %h2;"), "");
  EXPECT_EQ(complaint("mbarrier.arrive.b64 %rd0, [s], {%r1};"), "");
  EXPECT_NE(complaint("mbarrier.arrive.expect_tx.b64 %rd0, [s], {%r1};"), "");
  EXPECT_NE(complaint("movmatrix.sync.aligned.m8n8.trans.b16 %r0, {%r1};"), "");
  EXPECT_EQ(
      complaint("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, {%r1}, 0, "
                "1, 1, 1, 0, 0;"),
      "");
  EXPECT_NE(complaint("stmatrix.sync.aligned.m8n8.x1.shared.b16 [s], {5};"), "");
}

// The lanes to leave out come before the predicate, which is not optional.
TEST(Operands, AfterOneThatMayBeLeftOutAreNotOptional) {
  EXPECT_EQ(complaint("tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, {%r3, %r4, %r5, %r6}, %p1;"), "");
  EXPECT_NE(complaint("tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, {%r3, %r4, %r5, %r6};"), "");
}

} // namespace check_operands_test
} // namespace warplens::ir
