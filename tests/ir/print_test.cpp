// SPDX-License-Identifier: Apache-2.0
// parse() reads the output of print() as the same module.
#include "emulator/ir/print.hpp"

#include "emulator/ir/check.hpp"
#include "tests/ir/ptx_text.hpp"

namespace warplens::ir {
namespace print_test {

// Names may differ because scopes are flattened, so only externally visible names are compared.

void expect_same(const Variable& a, const Variable& b) {
  EXPECT_EQ(a.space, b.space);
  EXPECT_EQ(a.type, b.type);
  EXPECT_EQ(a.vector, b.vector);
  EXPECT_EQ(a.linkage, b.linkage);
  EXPECT_EQ(a.alignment, b.alignment);
  EXPECT_EQ(a.size, b.size);
  EXPECT_EQ(a.extents, b.extents);
  EXPECT_EQ(a.initial, b.initial) << a.name;
  EXPECT_EQ(a.constant_bank, b.constant_bank);
  EXPECT_EQ(a.managed, b.managed);
  EXPECT_EQ(a.pointee, b.pointee);
  EXPECT_EQ(a.pointee_alignment, b.pointee_alignment);
  ASSERT_EQ(a.relocations.size(), b.relocations.size());
  for (std::size_t i = 0; i < a.relocations.size(); ++i) {
    const Relocation &x = a.relocations[i], &y = b.relocations[i];
    EXPECT_TRUE(x.offset == y.offset && x.bytes == y.bytes && x.symbol == y.symbol && x.addend == y.addend &&
                x.generic == y.generic && x.shift == y.shift)
        << a.name;
  }
  ASSERT_EQ(a.options.size(), b.options.size());
  for (std::size_t i = 0; i < a.options.size(); ++i)
    EXPECT_TRUE(a.options[i].name == b.options[i].name && a.options[i].value == b.options[i].value);
}

void expect_same(const std::vector<Variable>& a, const std::vector<Variable>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) expect_same(a[i], b[i]);
}

void expect_same(const Function& f, const Operand& a, const Function& g, const Operand& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.negated, b.negated);
  EXPECT_EQ(a.component, b.component);
  EXPECT_EQ(a.unified, b.unified);
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.value, b.value);
  switch (a.kind) {
  case OperandKind::vector:
  case OperandKind::pair:
  case OperandKind::address:
  case OperandKind::list:
  case OperandKind::indexed:
    ASSERT_EQ(a.count, b.count);
    for (std::uint32_t i = 0; i < a.count; ++i) expect_same(f, f.elements(a)[i], g, g.elements(b)[i]);
    break;
  default: EXPECT_EQ(a.index, b.index);
  }
}

void expect_same(const Function& a, const Instruction& x, const Function& b, const Instruction& y) {
  EXPECT_EQ(x.opcode, y.opcode);
  EXPECT_EQ(x.guard, y.guard);
  EXPECT_EQ(x.guard_negated, y.guard_negated);
  EXPECT_EQ(x.source.file, y.source.file);
  EXPECT_EQ(x.source.line, y.source.line);
  EXPECT_EQ(x.source.inlined_at == kNone, y.source.inlined_at == kNone);
  ASSERT_EQ(x.operand_count, y.operand_count);
  for (std::uint32_t i = 0; i < x.operand_count; ++i) expect_same(a, a.operands(x)[i], b, b.operands(y)[i]);
}

void expect_same(const Function& a, const Function& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.is_entry, b.is_entry);
  EXPECT_EQ(a.has_body, b.has_body);
  EXPECT_EQ(a.no_return, b.no_return);
  EXPECT_EQ(a.linkage, b.linkage);
  EXPECT_EQ(a.alias_of, b.alias_of);
  EXPECT_EQ(a.pragmas, b.pragmas);
  EXPECT_EQ(a.bounds.max_threads, b.bounds.max_threads);
  EXPECT_EQ(a.bounds.required_threads, b.bounds.required_threads);
  EXPECT_EQ(a.bounds.min_ctas_per_sm, b.bounds.min_ctas_per_sm);
  EXPECT_EQ(a.bounds.max_registers, b.bounds.max_registers);
  EXPECT_EQ(a.bounds.required_cluster, b.bounds.required_cluster);
  EXPECT_EQ(a.bounds.explicit_cluster, b.bounds.explicit_cluster);
  expect_same(a.params, b.params);
  expect_same(a.results, b.results);
  expect_same(a.variables, b.variables);
  ASSERT_EQ(a.registers.size(), b.registers.size());
  for (std::size_t i = 0; i < a.registers.size(); ++i)
    EXPECT_TRUE(a.registers[i].type == b.registers[i].type && a.registers[i].components == b.registers[i].components)
        << i;
  ASSERT_EQ(a.labels.size(), b.labels.size());
  for (std::size_t i = 0; i < a.labels.size(); ++i) EXPECT_EQ(a.labels[i].instruction, b.labels[i].instruction);
  ASSERT_EQ(a.tables.size(), b.tables.size());
  for (std::size_t i = 0; i < a.tables.size(); ++i) {
    EXPECT_EQ(a.tables[i].kind, b.tables[i].kind);
    EXPECT_EQ(a.tables[i].labels, b.tables[i].labels);
    EXPECT_EQ(a.tables[i].functions, b.tables[i].functions);
    EXPECT_EQ(a.tables[i].no_return, b.tables[i].no_return);
    expect_same(a.tables[i].params, b.tables[i].params);
    expect_same(a.tables[i].results, b.tables[i].results);
  }
  ASSERT_EQ(a.instructions.size(), b.instructions.size());
  for (std::size_t i = 0; i < a.instructions.size(); ++i) expect_same(a, a.instructions[i], b, b.instructions[i]);
}

void expect_same(const Module& a, const Module& b) {
  EXPECT_EQ(a.version, b.version);
  EXPECT_EQ(a.sm, b.sm);
  EXPECT_EQ(a.target, b.target);
  EXPECT_EQ(a.target_options, b.target_options);
  EXPECT_EQ(a.address_size, b.address_size);
  EXPECT_EQ(a.files.size(), b.files.size());
  expect_same(a.variables, b.variables);
  for (std::size_t i = 0; i < std::min(a.variables.size(), b.variables.size()); ++i)
    EXPECT_EQ(a.variables[i].name, b.variables[i].name);
  ASSERT_EQ(a.functions.size(), b.functions.size());
  for (std::size_t i = 0; i < a.functions.size(); ++i) expect_same(a.functions[i], b.functions[i]);
}

class PrintFile : public testing::TestWithParam<const char*> {};

TEST_P(PrintFile, ParsesToTheSameModule) {
  const Module module = parsed(file_text(GetParam()));
  const std::string text = print(module);
  const Module again = parsed(text);
  expect_same(module, again);
  EXPECT_EQ(print(again), text);
}

INSTANTIATE_TEST_SUITE_P(Files, PrintFile, testing::Values("rich.ptx", "old.ptx", "gcc.ptx"));

TEST(Print, FlattenedScopesKeepTheirNamesApart) {
  const Module module = parsed(
      body("{ .reg .b32 %r<3>, sym; mov.b32 %r1, sym; } { .reg .b32 %r<3>; L: mov.b32 %r1, %r9; bra L; } L: bra L;"));
  const Module again = parsed(print(module));
  expect_same(module, again);
  for (const Register& r : again.functions[0].registers)
    EXPECT_EQ(std::count_if(again.functions[0].registers.begin(), again.functions[0].registers.end(),
                            [&](const Register& s) { return s.name == r.name; }),
              1)
        << r.name;
}

TEST(Print, FunctionsCalledBeforeTheyAreDeclaredKeepTheirOrder) {
  const Module module =
      parsed(with_header(".entry a() { call b; ret; } .func b() { call c; ret; } .func c() { ret; }"));
  expect_same(module, parsed(print(module)));
}

TEST(Print, BodiesDeclareTheParametersOfKernelsBefore1_4) {
  const Module module =
      parsed(".version 1.3\n.target sm_10\n.entry k\n{\n.reg .u32 %r1; .param .u32 a; .param .align 8 .b8 "
             "b[16];\nld.param.u32 %r1, [b+4];\nexit;\n}\n");
  ASSERT_EQ(module.functions[0].params.size(), 2U);
  const std::string printed = print(module);
  Module again = parsed(printed);
  expect_same(module, again);
  EXPECT_FALSE(check(again).errors.has_errors()) << printed;
}

TEST(Print, TheLinesOfAFunction) {
  const Module m = parsed(body("@!%p1 ld.global.v2.f32 {%f1, _}, [%rd1+-8];\nsetp.lt.f32 %p1|%p2, %f1, "
                               "0f3F800000;\nadd.s32 %r1, %tid.x, -5;\nret;"));
  const Function& f = m.functions[0];
  EXPECT_EQ(print_lines(m, f),
            (std::vector<std::string>{"@!%p1 ld.global.v2.f32 {%f1, _}, [%rd1+-8];",
                                      "setp.lt.f32 %p1|%p2, %f1, 0f3F800000;", "add.s32 %r1, %tid.x, -5;", "ret;"}));
}

} // namespace print_test
} // namespace warplens::ir
