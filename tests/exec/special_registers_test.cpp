// SPDX-License-Identifier: Apache-2.0
// Special registers: the value of each, and which types and targets may read it (checked with ptxas 13).
#include "tests/exec/kernel_test.hpp"

#include "emulator/ir/check.hpp"
#include "emulator/ir/parse.hpp"

#include <algorithm>
#include <functional>

namespace warplens::tests {
namespace special_registers_test {

/// The value in every thread of the first row of blocks; the low half of 64-bit values.
std::vector<std::uint32_t> values(const std::string& name, const exec::LaunchShape& shape, int sm = 90,
                                  const std::string& declarations = "") {
  const isa::Special special = *isa::special_register_named(name.substr(0, name.find('.')));
  const bool wide = isa::info(special).type == isa::Type::u64;
  const std::string text =
      ".version 8.3\n.target sm_" + std::to_string(sm) + "\n.address_size 64\n" + declarations +
      ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<9>; .reg .b64 %rd<9>;\nld.param.u64 %rd1, [out];\n"
      "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r2, %r3, %r1;\n"
      "mov.u32 %r2, %ntid.y; mul.lo.u32 %r3, %r3, %r2; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, %r3, %r1;\n"
      "mul.wide.u32 %rd2, %r1, 8; add.u64 %rd1, %rd1, %rd2;\n" +
      (wide ? "mov.u64 %rd3, " + name + "; st.global.u64 [%rd1], %rd3;\n"
            : "mov.b32 %r4, " + name + "; st.global.u32 [%rd1], %r4;\n") +
      (declarations.empty() ? "" : "st.shared.u32 [s], %r1;\n") + "ret;\n}\n";
  Emulated machine(text, "test.ptx");
  Emulated::Request request;
  request.kernel = "k";
  request.shape = shape;
  const std::uint64_t threads = std::uint64_t{shape.grid[0]} * shape.threads();
  const std::uint64_t buffer = machine.buffer(std::vector<std::uint32_t>(2 * threads, 0));
  request.arguments.push_back({buffer, 8});
  EXPECT_EQ(machine.run(request), "") << name;
  const auto* const p = reinterpret_cast<const std::uint32_t*>(buffer);
  std::vector<std::uint32_t> result;
  for (std::uint64_t i = 0; i < threads; ++i) result.push_back(p[2 * i]);
  EXPECT_EQ(wide ? p[1] : 0, 0u) << name;
  return result;
}

// Memory that the kernel uses, or it would take none.
const std::string kShared = ".shared .align 4 .b8 s[100];\n";

TEST(SpecialRegisters, OfTheThread) {
  const exec::LaunchShape shape{{2, 3, 1}, {10, 5, 1}};
  const std::function<std::uint32_t(std::uint32_t)> lane = [](std::uint32_t t) { return t % 50 % 32; };
  const std::pair<const char*, std::function<std::uint32_t(std::uint32_t)>> expected[] = {
      {"%tid.x", [](std::uint32_t t) { return t % 10; }},
      {"%tid.y", [](std::uint32_t t) { return t / 10 % 5; }},
      {"%tid.z", [](std::uint32_t) { return 0u; }},
      {"%tid.w", [](std::uint32_t) { return 0u; }},
      {"%ctaid.x", [](std::uint32_t t) { return t / 50; }},
      {"%laneid", lane},
      {"%warpid", [](std::uint32_t t) { return t % 50 / 32; }},
      {"%lanemask_eq", [&](std::uint32_t t) { return 1u << lane(t); }},
      {"%lanemask_lt", [&](std::uint32_t t) { return (1u << lane(t)) - 1; }},
      {"%lanemask_le", [&](std::uint32_t t) { return (2u << lane(t)) - 1; }},
      {"%lanemask_ge", [&](std::uint32_t t) { return ~((1u << lane(t)) - 1); }},
      {"%lanemask_gt", [&](std::uint32_t t) { return ~((2u << lane(t)) - 1); }},
  };
  for (const auto& [name, of] : expected) {
    const auto got = values(name, shape);
    for (std::uint32_t t = 0; t < 100; ++t) EXPECT_EQ(got[t], of(t)) << name << " thread " << t;
  }
}

// The same in all threads of a launch of 7 x 2 blocks of 33 threads, with 100 and 40 bytes of shared memory.
TEST(SpecialRegisters, OfTheLaunch) {
  exec::LaunchShape shape{{7, 2, 1}, {33, 1, 1}};
  shape.shared_dynamic = 40;
  const std::pair<const char*, std::uint32_t> expected[] = {
      {"%ntid.x", 33},
      {"%ntid.y", 1},
      {"%ntid.z", 1},
      {"%ntid.w", 0},
      {"%nctaid.x", 7},
      {"%nctaid.y", 2},
      {"%nctaid.z", 1},
      {"%nctaid.w", 0},
      {"%ctaid.w", 0},
      {"%nsmid", 132},
      {"%nwarpid", 64},
      {"%gridid", 0},
      {"%nclusterid.x", 7},
      {"%nclusterid.y", 2},
      {"%nclusterid.w", 0},
      {"%cluster_nctaid.x", 1},
      {"%cluster_nctaid.z", 1},
      {"%cluster_nctaid.w", 0},
      {"%cluster_ctaid.x", 0},
      {"%cluster_ctarank", 0},
      {"%cluster_nctarank", 1},
      {"%dynamic_smem_size", 40}, // as asked for
      {"%total_smem_size", 256},  // 112 and 40, in pieces of 128
      {"%aggr_smem_size", 256},
      {"%envreg0", 0},
      {"%envreg31", 0},
      {"%pm0", 0},
      {"%pm7", 0},
      {"%pm0_64", 0},
      {"%current_graph_exec", 0},
      {"%reserved_smem_offset_begin", 0},
      {"%reserved_smem_offset_end", 0},
      {"%reserved_smem_offset_cap", 0},
      {"%reserved_smem_offset_0", 0},
      {"%reserved_smem_offset_1", 0},
  };
  for (const auto& [name, value] : expected)
    for (const std::uint32_t got : values(name, shape, 90, kShared)) ASSERT_EQ(got, value) << name;
  EXPECT_EQ(values("%total_smem_size", shape, 70, kShared)[0], 256u);
  shape.shared_dynamic = 200;
  EXPECT_EQ(values("%total_smem_size", shape, 80, kShared)[0], 384u);
  EXPECT_EQ(values("%total_smem_size", shape, 70, kShared)[0], 512u);
}

TEST(SpecialRegisters, OfTheBlock) {
  const exec::LaunchShape shape{{200, 1, 1}, {1, 1, 1}};
  const auto sm = values("%smid", shape), cluster = values("%clusterid.x", shape);
  for (std::uint32_t i = 0; i < 200; ++i) {
    EXPECT_LT(sm[i], 132u);
    EXPECT_EQ(cluster[i], i);
  }
}

// Clocks go on, and the halves of a timer are those of the whole.
TEST(SpecialRegisters, Clocks) {
  const Ran ran = run_kernel(kernel_of(R"(
    mov.u64 %rd10, %clock64; mov.u32 %r10, %clock; mov.u64 %rd11, %clock64; mov.u32 %r11, %clock_hi;
    sub.u64 %rd12, %rd11, %rd10; cvt.u32.u64 %r12, %rd12; cvt.u32.u64 %r13, %rd10; sub.u32 %r13, %r10, %r13;
    mov.u64 %rd13, %globaltimer; mov.u32 %r14, %globaltimer_hi; mov.u32 %r15, %globaltimer_lo;
    cvt.u64.u32 %rd14, %r14; shl.b64 %rd14, %rd14, 32; cvt.u64.u32 %rd15, %r15; or.b64 %rd14, %rd14, %rd15;
    sub.u64 %rd14, %rd14, %rd13; shr.u64 %rd14, %rd14, 32; cvt.u32.u64 %r14, %rd14;
    cvt.u32.u16 %r15, %clock64;
    st.global.u32 [%rd1], %r12; st.global.u32 [%rd1+4], %r13; st.global.u32 [%rd1+8], %r11;
    st.global.u32 [%rd1+12], %r14; st.global.u32 [%rd1+16], %r15;
    ret;)"));
  ASSERT_EQ(ran.trap, "");
  EXPECT_GT(ran.words[0], ran.words[1]);
  EXPECT_GT(ran.words[1], 0u);
  EXPECT_EQ(ran.words[2], 0u);
  EXPECT_EQ(ran.words[3], 0u); // less than four seconds from one reading to the next
  EXPECT_LT(ran.words[4], 65536u);
}

// PTX 1.x read thread and block numbers as 16 bits, and as whole vectors.
TEST(SpecialRegisters, AsOldModulesReadThem) {
  const Ran ran =
      run_kernel(".version 1.4\n.target sm_10\n.entry k(.param .u64 out)\n{\n"
                 ".reg .u16 %rh<9>; .reg .u32 %r<9>; .reg .u64 %rd<9>; .reg .v4 .u32 %v; .reg .v4 .u16 %w;\n"
                 R"(
    mov.u16 %rh1, %ctaid.x; mov.u16 %rh2, %ntid.x; mul.wide.u16 %r1, %rh1, %rh2; cvt.u32.u16 %r2, %tid.x;
    add.u32 %r1, %r1, %r2; cvt.u64.u32 %rd1, %r1; mul.lo.u64 %rd1, %rd1, 4; ld.param.u64 %rd2, [out];
    add.u64 %rd2, %rd2, %rd1;
    mov.v4.u32 %v, %tid; mov.v4.u16 %w, %ctaid; mov.v4.u32 {%r3, %r4, %r5, _}, %ntid;
    cvt.u32.u16 %r6, %w.x; mul.lo.u32 %r6, %r6, %r3; add.u32 %r6, %r6, %v.x; add.u32 %r6, %r6, %r4;
    cvt.u32.u8 %r7, %tid.x; mul.lo.u32 %r7, %r7, 1000; add.u32 %r6, %r6, %r7;
    st.global.u32 [%rd2], %r6;
    exit;
}
)",
                 {2, 40});
  ASSERT_EQ(ran.trap, "");
  for (std::uint32_t i = 0; i < 80; ++i) EXPECT_EQ(ran.words[i], i + 1 + 1000 * (i % 40));
}

TEST(SpecialRegisters, PredicatesAndVectors) {
  const Ran ran = run_kernel(kernel_of(R"(
    mov.pred %p1, %is_explicit_cluster; mov.pred %p2, !%is_explicit_cluster;
    selp.u32 %r10, 1, 0, %p1; selp.u32 %r11, 2, 0, %p2; add.u32 %r10, %r10, %r11;
    mov.b64 %rd10, {%tid.x, %ntid.x}; mov.b64 {%r11, %r12}, %rd10; mad.lo.u32 %r10, %r12, 100, %r10;
    mov.v2.u32 {%r11, %r12}, {%r12, %r11}; mad.lo.u32 %r10, %r11, 10000, %r10; sub.u32 %r10, %r10, %r12;
    mov.b32 {%h1, %h2}, %tid.x; cvt.u32.u16 %r13, %h1; add.u32 %r10, %r10, %r13;
    st.global.u32 [%rd2], %r10; ret;)"));
  ASSERT_EQ(ran.trap, "");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.words[i], 2u + 3200 + 320000) << i;
}

std::string complaint(const std::string& statement, int version, int sm) {
  const std::string text =
      ".version " + std::to_string(version / 10) + "." + std::to_string(version % 10) + "\n.target sm_" +
      std::to_string(sm) +
      "\n.entry k\n{\n.reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %l<9>; .reg .pred %p<9>;\n"
      ".reg .f32 %f<9>; .reg .f64 %d<9>; .reg .v4 .u32 %v; .reg .v4 .u16 %vh; .reg .v2 .u32 %w;\n" +
      statement + "\nexit;\n}\n";
  auto module = ir::parse(text, "test.ptx");
  if (!module) return module.error().list().front().message;
  const ir::Checked checked = ir::check(*module);
  if (checked.errors.has_errors()) return checked.errors.list().front().message;
  return checked.unsupported.empty() ? std::string() : checked.unsupported.front().why.message;
}

// Which types mov may read each register as. What needs 64 bits or a predicate needs a register of that kind.
TEST(SpecialRegisters, TypesAreThoseOfTheAssembler) {
  const std::string words = " b32 u32 s32 ", halves = " b16 u16 s16 ", longs = " b64 u64 s64 ";
  for (const isa::SpecialRegisterInfo& has : isa::kSpecialRegisters) {
    const std::string name(has.name), full = name + (has.components == 4 ? ".x" : "");
    std::string allowed = has.type == isa::Type::pred ? " pred " : has.type == isa::Type::u64 ? longs : words;
    if (name == "%tid" || name == "%ntid" || name == "%ctaid" || name == "%nctaid") allowed += halves;
    if (name == "%gridid") allowed += halves + words;
    for (const std::string type :
         {"pred", "b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64", "f32", "f64"}) {
      const std::string d = type == "pred"         ? "%p1"
                            : type == "f32"        ? "%f1"
                            : type == "f64"        ? "%d1"
                            : type.ends_with("16") ? "%h1"
                            : type.ends_with("32") ? "%r1"
                                                   : "%l1";
      EXPECT_EQ(complaint("mov." + type + " " + d + ", " + full + ";", 90, 90).empty(),
                allowed.find(" " + type + " ") != std::string::npos)
          << type << " " << full << ": " << complaint("mov." + type + " " + d + ", " + full + ";", 90, 90);
    }
  }
}

// The version of PTX before: not every number is one.
int version_before(int version) {
  constexpr int kVersions[] = {10, 12, 13, 15, 20, 23, 30, 31, 32, 40, 41, 43, 50, 75, 76, 77, 78, 80, 81};
  return *(std::find(std::begin(kVersions), std::end(kVersions), version) - 1);
}

TEST(SpecialRegisters, VersionsAndTargets) {
  struct Requirement {
    const char* statement;
    int version, sm;
  };
  for (const auto& [statement, version, sm] : {
           Requirement{"mov.u32 %r1, %laneid;", 13, 10},
           {"mov.u32 %r1, %warpid;", 13, 10},
           {"mov.u32 %r1, %smid;", 13, 10},
           {"mov.u32 %r1, %pm0;", 13, 10},
           {"mov.u32 %r1, %nwarpid;", 20, 20},
           {"mov.u32 %r1, %nsmid;", 20, 20},
           {"mov.u32 %r1, %lanemask_eq;", 20, 20},
           {"mov.u64 %l1, %clock64;", 20, 20},
           {"mov.u32 %r1, %clock_hi;", 50, 20},
           {"mov.u32 %r1, %pm4;", 30, 20},
           {"mov.u64 %l1, %pm0_64;", 40, 50},
           {"mov.u64 %l1, %globaltimer;", 31, 30},
           {"mov.u32 %r1, %globaltimer_hi;", 31, 30},
           {"mov.u32 %r1, %total_smem_size;", 41, 20},
           {"mov.u32 %r1, %dynamic_smem_size;", 41, 20},
           {"mov.u32 %r1, %aggr_smem_size;", 81, 90},
           {"mov.pred %p1, %is_explicit_cluster;", 78, 90},
           {"mov.u32 %r1, %cluster_ctarank;", 78, 90},
           {"mov.u32 %r1, %nclusterid.y;", 78, 90},
           {"mov.u32 %r1, %reserved_smem_offset_cap;", 76, 80},
           {"mov.u64 %l1, %current_graph_exec;", 80, 50},
       }) {
    EXPECT_EQ(complaint(statement, version, sm), "") << statement;
    EXPECT_NE(complaint(statement, version_before(version), 120).find("requires PTX ISA .version"), std::string::npos)
        << statement;
    if (sm > 10) {
      EXPECT_NE(complaint(statement, 90, sm - 1).find("requires .target sm_" + std::to_string(sm)), std::string::npos)
          << statement;
    }
  }
  for (const char* always :
       {"mov.u32 %r1, %tid.x;", "mov.u32 %r1, %clock;", "mov.u32 %r1, %envreg5;", "mov.u32 %r1, %gridid;"})
    EXPECT_EQ(complaint(always, 10, 10), "") << always;
}

TEST(SpecialRegisters, WhereTheyMayStand) {
  for (const char* good : {"cvt.u32.u16 %r1, %tid.x;",
                           "cvt.u64.u32 %l1, %tid.x;",
                           "cvt.s64.s32 %l1, %ctaid.y;",
                           "cvt.u16.u32 %h1, %laneid;",
                           "cvt.u32.u32 %r1, %clock64;",
                           "cvt.u32.u8 %r1, %tid.x;",
                           "cvt.u64.u64 %l1, %gridid;",
                           "mov.b64 %l1, {%tid.x, %tid.y};",
                           "mov.b32 {%h1, %h2}, %tid.x;",
                           "mov.b64 {%r1, %r2}, %clock64;",
                           "mov.v4.u32 %v, %tid;",
                           "mov.v4.u32 {%r1, _, %r3, _}, %nctaid;",
                           "mov.v4.u16 %vh, %ctaid;",
                           "mov.v4.s32 %v, %cluster_nctaid;",
                           "mov.b32 %f1, %clock;",
                           "mov.b64 %d1, %clock64;",
                           "mov.u32 %r1, %tid.r;",
                           "mov.v2.u32 %w, {%tid.x, %r1};",
                           "mov.v4.f32 {%f1, %f2, %f3, %f4}, {%f4, 1.0, %f2, %f1};",
                           "mov.b64 %l1, %w;",
                           "mov.v2.f64 {%d1, %d2}, {%d2, %d1};"})
    EXPECT_EQ(complaint(good, 90, 90), "") << good;
  for (const char* bad : {"add.u32 %r1, %r2, %tid.x;",
                          "mul24.lo.u32 %r1, %ctaid.x, %ntid.x;",
                          "setp.eq.u32 %p1, %tid.x, 0;",
                          "st.global.u32 [%l1], %tid.x;",
                          "selp.b32 %r1, 1, 0, %is_explicit_cluster;",
                          "bar.sync %tid.x;",
                          "and.pred %p1, %is_explicit_cluster, %p2;",
                          "cvt.rn.f32.u32 %f1, %tid.x;",
                          "cvt.u64.u64 %l1, %tid.x;",
                          "cvt.pack.sat.u16.s32 %r1, %tid.x, %tid.y;",
                          "mov.u32 %tid.x, %r1;",
                          "mov.u32 %r1, %tid;",
                          "mov.u32 %v, %tid;",
                          "mov.v2.u32 %w, %tid;",
                          "mov.v4.f32 %v, %tid;",
                          "mov.v4.u16 %vh, %clusterid;",
                          "mov.u32 %r1, %laneid.x;",
                          "mov.u32 %r1, %pm8;",
                          "mov.u32 %r1, %envreg32;",
                          "mov.u32 %r1, -%tid.x;",
                          "add.u32 %v, %v, %v;",
                          "mov.u64 %l1, %tid.x;",
                          "mov.v4.u64 {%l1, %l2, %l3, %l4}, {%l5, %l6, %l7, %l8};"})
    EXPECT_NE(complaint(bad, 90, 90), "") << bad;
}

} // namespace special_registers_test
} // namespace warplens::tests
