// SPDX-License-Identifier: Apache-2.0
#include "analyzers/instruction_mix.hpp"
#include "tests/analyzers/spelled.hpp"

#include <gtest/gtest.h>

namespace warplens::analyzers {
namespace instruction_mix_test {

using enum isa::InstructionClass;
using tests::spelled;

std::string_view counted_as(std::string_view opcode) {
  EXPECT_TRUE(isa::lookup(opcode, 1000, isa::kEveryTarget)) << opcode;
  return isa::info(isa::info(spelled(opcode).instruction_class).counted_as).name;
}

TEST(InstructionMix, Classes) {
  const std::pair<std::string_view, isa::InstructionClass> expected[] = {
      {"add.s32", integer},
      {"add.f32", f32},
      {"fma.rn.f64", f64},
      {"fma.rn.f16x2", f16},
      {"mul.lo.s32", integer_multiply},
      {"mul.wide.u32", integer_multiply},
      {"mad.lo.s32", integer_multiply},
      {"mad.rn.f32", f32},
      {"mul24.lo.s32", integer},
      {"mul.f32", f32},
      {"div.rn.f32", f32_divide},
      {"div.s32", integer_divide},
      {"rem.u64", integer_divide},
      {"div.rn.f64", f64_divide},
      {"sqrt.rn.f32", square_root},
      {"sqrt.rn.f64", f64},
      {"rsqrt.approx.f32", reciprocal_root},
      {"rcp.approx.ftz.f32", reciprocal},
      {"sin.approx.f32", sine},
      {"cos.approx.f32", sine},
      {"ex2.approx.f32", exponential},
      {"cvt.rn.f32.s32", conversion},
      {"cvta.to.global.u64", move},
      {"mov.u32", move},
      {"setp.ge.s32", compare},
      {"and.b32", logic},
      {"shl.b64", logic},
      {"ld.global.v4.f32", global},
      {"st.shared.f32", shared},
      {"ld.param.u64", param},
      {"ld.const.f32", constant},
      {"ld.f32", generic},
      {"ld.local.u32", local},
      {"ld.shared::cta.u32", shared},
      {"atom.shared.add.u32", atomic},
      {"red.global.add.f32", atomic},
      {"bra.uni", control},
      {"ret", control},
      {"bar.sync", barrier},
      {"barrier.cta.sync", barrier},
      {"membar.gl", fence},
      {"shfl.sync.bfly.b32", isa::InstructionClass::warp},
      {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", matrix},
      {"tex.2d.v4.f32.f32", texture},
      {"min.s32", integer},
      {"mul.lo.u16", integer_multiply},
      {"add.f32x2", f32},
      {"lg2.approx.f32", exponential},
      {"vadd.u32.s32.u32.sat", integer},
      {"vset2.u32.u32.lt", compare},
      {"vshl.u32.u32.u32.clamp", logic},
      {"vmad.u32.u32.u32", integer_multiply},
      {"clmad.lo.u64", integer_multiply},
      {"alloca.u64", move},
      {"createpolicy.cvt.L2.b64", move},
      {"setmaxnreg.inc.sync.aligned.u32", control},
      {"cp.async.ca.shared.global", shared},
      {"cp.async.bulk.global.shared::cta.bulk_group", global},
      {"cp.async.wait_all", fence},
      {"cp.async.mbarrier.arrive.b64", barrier},
      {"ldmatrix.sync.aligned.m8n8.x4.b16", shared},
      {"wmma.store.d.sync.aligned.row.m16n16k16.global.f32", global},
      {"suld.b.2d.b32.trap", texture},
  };
  for (const auto& [opcode, which] : expected) EXPECT_EQ(counted_as(opcode), isa::info(which).name) << opcode;
}

TEST(InstructionMix, CountsAndRatios) {
  ir::Function function;
  for (std::string_view opcode : {"add.f32", "bar.sync", "add.f32", "ret"})
    function.instructions.push_back(spelled(opcode));
  InstructionMix mix(function, {.grid = {2, 1, 1}, .block = {64, 1, 1}});
  mix.finish({}, {{4, 128, 64}, {4, 128, 128}, {0, 0, 0}, {2, 64, 64}});
  Metrics launch;
  std::vector<InstructionRow> rows(4);
  mix.report(launch, rows);
  EXPECT_EQ(launch.integer("smsp__inst_executed.sum"), 10u);
  EXPECT_EQ(launch.integer("smsp__thread_inst_executed.sum"), 320u);
  EXPECT_EQ(launch.integer("smsp__thread_inst_executed_pred_on.sum"), 256u);
  EXPECT_DOUBLE_EQ(launch.find("smsp__thread_inst_executed_per_inst_executed.ratio")->number(), 32);
  EXPECT_DOUBLE_EQ(launch.find("smsp__thread_inst_executed_pred_on_per_inst_executed.ratio")->number(), 25.6);
  EXPECT_EQ(launch.integer("inst_executed_f32"), 4u);
  EXPECT_EQ(launch.integer("inst_executed_barrier"), 4u);
  EXPECT_DOUBLE_EQ(launch.find("barrier_per_warp")->number(), 1);
  EXPECT_EQ(launch.integer("cta_launched"), 2u);
  EXPECT_TRUE(rows[2].metrics.list().empty());
}

} // namespace instruction_mix_test
} // namespace warplens::analyzers
