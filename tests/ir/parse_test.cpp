// SPDX-License-Identifier: Apache-2.0
// The IR of each PTX construct.
#include "tests/ir/ptx_text.hpp"

#include <bit>
#include <cstring>
#include <thread>

namespace warplens::ir {
namespace parse_test {

const Function& kernel(const Module& module) { return module.functions.back(); }

/// The operand of `mov.b64 %rd1, <text>;`
Operand moved(const std::string& text) {
  const Module module = parsed(body("mov.b64 %rd1, " + text + ";"));
  if (module.functions.empty()) return {};
  return kernel(module).operands(kernel(module).instructions[0])[1];
}

std::int64_t integer(const std::string& text) {
  const Operand operand = moved(text);
  EXPECT_EQ(operand.kind, OperandKind::integer) << text;
  return operand.value;
}

TEST(Parse, ModuleHeader) {
  const Module m =
      parsed(".version 8.0\n.target sm_90a, debug\n.target texmode_independent\n.address_size 64\n.file 3 \"a b.cu\"");
  EXPECT_EQ(m.version, 80);
  EXPECT_EQ(m.sm, 90);
  EXPECT_EQ(m.target, "sm_90a");
  EXPECT_EQ(m.target_options, (std::vector<std::string_view>{"debug", "texmode_independent"}));
  EXPECT_EQ(m.address_size, 64);
  ASSERT_EQ(m.files.size(), 1u);
  EXPECT_EQ(m.files[0].number, 3u);
  EXPECT_EQ(m.files[0].name, "a b.cu");
  EXPECT_EQ(parsed(".version 1.4 .target compute_13").sm, 13);
  EXPECT_EQ(parsed(".version 1.4 .target sm_13").address_size, 32);
}

TEST(Parse, RegistersAndRanges) {
  const Module m = parsed(body(".reg .v2 .f32 %v; .reg.u16 a, b<2>; .reg .b32 %t1<2>; mov.u32 %r9, %t11; mov.u16 a, "
                               "b1; mov.f32 %f1, %v.y; mov.b32 %r1, %r07; mov.f32 %f1, %v .r;"));
  const Function& f = kernel(m);
  EXPECT_EQ(f.registers.size(), 4u + 10 + 10 + 9 + 9 + 1 + 3 + 2);
  const auto name_at = [&](std::size_t i, std::size_t o) {
    return f.registers[f.operands(f.instructions[i])[o].index].name;
  };
  EXPECT_EQ(name_at(0, 0), "%r9");
  EXPECT_EQ(name_at(0, 1), "%t11");
  EXPECT_EQ(name_at(1, 0), "a");
  EXPECT_EQ(name_at(1, 1), "b1");
  EXPECT_EQ(name_at(2, 1), "%v");
  EXPECT_EQ(f.operands(f.instructions[2])[1].component, 2);
  EXPECT_EQ(name_at(3, 1), "%r7");
  EXPECT_EQ(f.operands(f.instructions[4])[1].component, 1);
  EXPECT_EQ(f.registers[f.operands(f.instructions[2])[1].index].components, 2);
}

TEST(Parse, IntegerLiterals) {
  EXPECT_EQ(integer("42"), 42);
  EXPECT_EQ(integer("0x2A"), 42);
  EXPECT_EQ(integer("052"), 42);
  EXPECT_EQ(integer("0b101010U"), 42);
  EXPECT_EQ(integer("42U"), 42);
  EXPECT_EQ(integer("-42"), -42);
  EXPECT_EQ(integer("0xFFFFFFFFFFFFFFFF"), -1);
  EXPECT_EQ(integer("9223372036854775808"), std::numeric_limits<std::int64_t>::min());
}

TEST(Parse, FloatLiterals) {
  EXPECT_EQ(moved("0f3F800000").kind, OperandKind::real32);
  EXPECT_EQ(moved("0F3f800000").value, 0x3f800000);
  EXPECT_EQ(moved("0d4000000000000000").kind, OperandKind::real64);
  EXPECT_EQ(moved("0d4000000000000000").value, 0x4000000000000000);
  for (const auto& [text, value] :
       {std::pair{"1.5", 1.5}, {"-1.5e2", -150.0}, {".25", 0.25}, {"2.", 2.0}, {"1e3", 1000.0}}) {
    EXPECT_EQ(moved(text).kind, OperandKind::real64) << text;
    EXPECT_EQ(std::bit_cast<double>(moved(text).value), value) << text;
  }
}

TEST(Parse, ConstantExpressions) {
  EXPECT_EQ(integer("2 + 3 * 4"), 14);
  EXPECT_EQ(integer("(2 + 3) * 4"), 20);
  EXPECT_EQ(integer("10 - 3 - 2"), 5);
  EXPECT_EQ(integer("7 / 2 + 7 % 4 - -7 / 2"), 9);
  EXPECT_EQ(integer("1 << 4 | 3"), 19);
  EXPECT_EQ(integer("6 & 3 ^ 1"), 3);
  EXPECT_EQ(integer("~0 == -1 && !0"), 1);
  EXPECT_EQ(integer("1 > 2 ? 10 : 3 >= 3 ? 20 : 30"), 20);
  EXPECT_EQ(integer("1 ? 0 ? 1 : 2 : 3"), 2);
  EXPECT_EQ(integer("-1 < 0U"), 0);
  EXPECT_EQ(integer("-1 < 0"), 1);
  EXPECT_EQ(integer("-8 >> 1"), -4);
  EXPECT_EQ(integer("(.u64) -8 >> 1"), 0x7ffffffffffffffc);
  EXPECT_EQ(integer("(.s64) 2.9"), 2);
  EXPECT_EQ(integer("WARP_SZ * 2"), 64);
  EXPECT_EQ(integer("1 << 64"), 0);
  EXPECT_EQ(integer("- - ~5"), ~5);
  EXPECT_EQ(integer("0x8000000000000000 / -1"), 0);
  EXPECT_EQ(moved("WARP_SZ").kind, OperandKind::warp_size);
}

TEST(Parse, Addresses) {
  const Module m =
      parsed(body(".shared .u32 words[4][8];\n"
                  "ld.u32 %r1, [%rd1]; ld.u32 %r1, [%rd1+-8]; ld.u32 %r1, [sym+4*3+1]; ld.u32 %r1, [123];\n"
                  "ld.u32 %r1, words[2]; mov.u32 %r1, words[2]; ld.u32 %r1, words[%r2+1]; ld.u32 %r1, [sym+%r3];\n"
                  "tex.a.b {%f1, _}, [sym, p.unified, {%f2}], -1; ld.u32 %r1, [p];"));
  const Function& f = kernel(m);
  const auto address = [&](std::size_t i) {
    const Operand& o = f.operands(f.instructions[i])[1];
    EXPECT_EQ(o.kind, OperandKind::address) << i;
    return o;
  };
  EXPECT_EQ(address(0).value, 0);
  EXPECT_EQ(f.elements(address(0))[0].kind, OperandKind::reg);
  EXPECT_EQ(address(1).value, -8);
  EXPECT_EQ(address(2).value, 13);
  EXPECT_EQ(f.elements(address(2))[0].kind, OperandKind::variable);
  EXPECT_EQ(m.variable(f, f.elements(address(2))[0].index).name, "sym");
  EXPECT_EQ(address(3).count, 0u);
  EXPECT_EQ(address(3).value, 123);
  EXPECT_EQ(address(4).value, 2 * 8 * 4);
  EXPECT_EQ(f.operands(f.instructions[5])[1].kind, OperandKind::variable);
  EXPECT_EQ(f.operands(f.instructions[5])[1].value, 64);
  const Operand& element = f.elements(address(6))[0];
  ASSERT_EQ(element.kind, OperandKind::indexed);
  EXPECT_EQ(f.elements(element)[0].value, 32);
  EXPECT_EQ(f.elements(element)[1].value, 32);
  EXPECT_EQ(f.elements(f.elements(address(7))[0])[1].value, 1);
  const auto texture = f.elements(address(8));
  ASSERT_EQ(texture.size(), 3u);
  EXPECT_TRUE(texture[1].unified);
  EXPECT_EQ(texture[2].kind, OperandKind::vector);
  EXPECT_EQ(variable_owner(texture[1].index), VariableOwner::parameter);
  EXPECT_EQ(f.elements(f.operands(f.instructions[8])[0])[1].kind, OperandKind::sink);
}

TEST(Parse, GuardsPairsAndSpecialRegisters) {
  const Module m = parsed(body("@!%p1 setp.eq.s32 %p2|_, %r1, %r2; @ %p2 mov.u32 %r1, %tid.z; mov.v4.u32 %r1, %ntid; "
                               "selp.b32 %r1, %r2, %r3, !%p1; vadd4 %r1.b3210, -%r2.h10, %r3.b2;"));
  const Function& f = kernel(m);
  EXPECT_TRUE(f.instructions[0].guard_negated);
  EXPECT_EQ(f.registers[f.instructions[0].guard].name, "%p1");
  const Operand& pair = f.operands(f.instructions[0])[0];
  ASSERT_EQ(pair.kind, OperandKind::pair);
  EXPECT_EQ(f.elements(pair)[0].kind, OperandKind::reg);
  EXPECT_EQ(f.elements(pair)[1].kind, OperandKind::sink);
  const Operand& tid = f.operands(f.instructions[1])[1];
  EXPECT_EQ(tid.kind, OperandKind::special);
  EXPECT_EQ(tid.index, static_cast<std::uint32_t>(isa::Special::tid));
  EXPECT_EQ(tid.component, 3);
  EXPECT_EQ(f.operands(f.instructions[2])[1].component, 0);
  EXPECT_TRUE(f.operands(f.instructions[3])[3].negated);
  EXPECT_FALSE(f.operands(f.instructions[3])[2].negated);
  const auto video = f.operands(f.instructions[4]);
  EXPECT_EQ(video[0].component, kBytes);
  EXPECT_EQ(video[0].value, 0x3210);
  EXPECT_TRUE(video[1].negated);
  EXPECT_EQ(video[1].component, kHalves);
  EXPECT_EQ(video[2].component, kByte0 + 2);
}

TEST(Parse, OpcodesAreWholeWordsEvenWhenWrittenApart) {
  const Module m = parsed(body("ld.global.L2::128B.v2.f32 {%f1, %f2}, [%rd1]; add .s32 %r1, %r2, 1; ld .global .u32 "
                               "%r1, [%rd1]; ld.const[2].u32 %r1, [sym]; ret;"));
  const auto& list = kernel(m).instructions;
  EXPECT_EQ(list[0].opcode, "ld.global.L2::128B.v2.f32");
  EXPECT_EQ(list[1].opcode, "add.s32");
  EXPECT_EQ(list[2].opcode, "ld.global.u32");
  EXPECT_EQ(list[3].opcode, "ld.const[2].u32");
  EXPECT_EQ(list[4].operand_count, 0u);
}

TEST(Parse, ScopesShadowAndEnd) {
  const Module m = parsed(body("mov.b32 %r1, 0;\n{ .reg .b32 %r<2>; .reg .f32 sym; mov.b32 %r1, 1; mov.f32 sym, sym; "
                               "mov.b32 %r5, 2; }\nmov.b32 %r1, sym;"));
  const Function& f = kernel(m);
  const auto target = [&](std::size_t i) { return f.operands(f.instructions[i])[0].index; };
  EXPECT_NE(target(0), target(1));
  EXPECT_EQ(f.registers[target(1)].name, "%r1");
  EXPECT_EQ(f.registers[target(2)].name, "sym");
  EXPECT_EQ(target(3), target(0) + 4); // %r5 of the outer range is not hidden by %r<2>
  EXPECT_EQ(target(4), target(0));
  EXPECT_EQ(f.operands(f.instructions[4])[1].kind, OperandKind::variable);
}

TEST(Parse, LabelsBelongToTheirScope) {
  const Module m =
      parsed(body("bra END; L: { bra L; L: ret; } { bra L; } ts: .branchtargets L, END; brx.idx %r1, ts; END:"));
  const Function& f = kernel(m);
  const auto destination = [&](std::size_t i) { return f.labels[f.operands(f.instructions[i])[0].index].instruction; };
  EXPECT_EQ(destination(0), 5u);
  EXPECT_EQ(destination(1), 2u);
  EXPECT_EQ(destination(3), 1u);
  ASSERT_EQ(f.tables.size(), 1u);
  EXPECT_EQ(f.labels[f.tables[0].labels[0]].instruction, 1u);
  EXPECT_EQ(f.operands(f.instructions[4])[1].kind, OperandKind::table);
  EXPECT_EQ(f.labels.size(), 3u);
}

TEST(Parse, Calls) {
  const Module m = parsed(with_header(
      ".extern .func (.param .b32 r) f (.param .b32 a);\n.entry k() { .param .b32 x; .param .b32 y; .reg .b64 %rd<2>;\n"
      "call.uni (y), f, (x); call later; mov.u64 %rd1, f; pr: .callprototype (.param .b32 _) _ (.param .b32 _) "
      ".noreturn;\n"
      "call (y), %rd1, (x), pr; call (y), %rd1, (x, x), ct; ct: .calltargets f, later; }\n.func later() { ret; }"));
  const Function& f = m.functions[1];
  const auto call = f.operands(f.instructions[0]);
  EXPECT_EQ(call[0].kind, OperandKind::list);
  EXPECT_EQ(f.elements(call[0])[0].kind, OperandKind::variable);
  EXPECT_EQ(f.variables[variable_position(f.elements(call[0])[0].index)].space, Space::param);
  EXPECT_EQ(call[1].kind, OperandKind::function);
  EXPECT_EQ(call[1].index, 0u);
  EXPECT_EQ(f.operands(f.instructions[1])[0].kind, OperandKind::function);
  EXPECT_EQ(f.operands(f.instructions[1])[0].index, 2u);
  EXPECT_EQ(f.operands(f.instructions[3])[3].kind, OperandKind::table);
  EXPECT_EQ(f.tables[0].kind, Table::Kind::call_prototype);
  EXPECT_TRUE(f.tables[0].no_return);
  EXPECT_EQ(f.tables[0].results.size(), 1u);
  EXPECT_EQ(f.tables[1].functions, (std::vector<std::string_view>{"f", "later"}));
}

TEST(Parse, FunctionHeads) {
  const Module m = parsed(
      with_header(".func (.reg .u32 r) f (.reg .u32 a, .param .align 8 .b8 s[12]) .noreturn;\n.visible .func (.reg "
                  ".u32 r) f (.reg .u32 a, .param .align 8 .b8 s[12]) { mov.u32 r, a; ret; }\n"
                  ".visible .entry k (.param .u64 .ptr .global .align 16 p, .param .f32 x) .maxntid 64, 2 "
                  ".minnctapersm 3 .maxnreg 40 .reqnctapercluster 2 .explicitcluster .pragma \"nounroll\"; { ret; }"));
  ASSERT_EQ(m.functions.size(), 2u);
  const Function& f = m.functions[0];
  EXPECT_TRUE(f.has_body);
  EXPECT_EQ(f.linkage, Linkage::visible);
  EXPECT_EQ(f.params[1].size, 12u);
  EXPECT_EQ(f.params[1].alignment, 8u);
  ASSERT_EQ(f.registers.size(), 2u);
  EXPECT_EQ(f.registers[f.operands(f.instructions[0])[1].index].name, "a");
  const Function& k = m.functions[1];
  EXPECT_TRUE(k.is_entry);
  EXPECT_EQ(k.params[0].pointee, Space::global);
  EXPECT_EQ(k.params[0].pointee_alignment, 16u);
  EXPECT_EQ(k.params[0].alignment, 8u);
  EXPECT_EQ(k.bounds.max_threads, (std::array<std::uint32_t, 3>{64, 2, 1}));
  EXPECT_EQ(k.bounds.min_ctas_per_sm, 3u);
  EXPECT_EQ(k.bounds.max_registers, 40u);
  EXPECT_EQ(k.bounds.required_cluster[0], 2u);
  EXPECT_TRUE(k.bounds.explicit_cluster);
  EXPECT_EQ(k.pragmas, (std::vector<std::string_view>{"nounroll"}));
}

TEST(Parse, OldKernelsDeclareParametersInTheBody) {
  const Module m = parsed(file_text("old.ptx"));
  const Function& k = *m.find("_Z3oldPfi");
  ASSERT_EQ(k.params.size(), 2u);
  EXPECT_EQ(k.params[1].name, "__cudaparm_count");
  EXPECT_TRUE(k.variables.empty());
  EXPECT_EQ(m.variables[0].space, Space::texture);
  EXPECT_EQ(m.variables[2].constant_bank, 2u);
  EXPECT_EQ(k.labels.back().instruction, k.instructions.size());
}

std::vector<std::uint32_t> words(const Variable& variable) {
  std::vector<std::uint32_t> result(variable.initial.size() / 4);
  if (!result.empty()) std::memcpy(result.data(), variable.initial.data(), result.size() * 4);
  return result;
}

TEST(Parse, Initialisers) {
  const Module m = parsed(
      ".version 8.0\n.target sm_80, texmode_independent\n.address_size 64\n" +
      std::string(
          ".global .u32 a = 7, b[2][3] = {{1, 2}, {4 << 1}}, c[] = {1, 2, 3};\n.global .f32 d[2] = {1.0, "
          "0fC0000000};\n.const .f64 e = 0.5;\n"
          ".global .v2 .f32 v[] = {{1.0, 2.0}, {3.0, 4.0}};\n.global .u64 p[3] = {a, generic(b) + 4, c + 8 - "
          "4};\n.global "
          ".u8 m[2] = {0xFF(a), 0xFF00(a+1)};\n"
          ".global .samplerref s = { addr_mode_0 = wrap, filter_mode = nearest };\n.global .b8 neg[2] = {-1, 300};"));
  EXPECT_EQ(words(m.variables[0]), (std::vector<std::uint32_t>{7}));
  EXPECT_EQ(words(m.variables[1]), (std::vector<std::uint32_t>{1, 2, 0, 8}));
  EXPECT_EQ(m.variables[1].size, 24u);
  EXPECT_EQ(m.variables[2].extents, (std::vector<std::uint64_t>{3}));
  EXPECT_EQ(m.variables[2].size, 12u);
  EXPECT_EQ(words(m.variables[3]), (std::vector<std::uint32_t>{0x3f800000, 0xc0000000}));
  EXPECT_EQ(words(m.variables[4]), (std::vector<std::uint32_t>{0, 0x3fe00000}));
  EXPECT_EQ(m.variables[5].extents, (std::vector<std::uint64_t>{2}));
  EXPECT_EQ(words(m.variables[5])[3], 0x40800000u);
  const auto& pointers = m.variables[6].relocations;
  ASSERT_EQ(pointers.size(), 3u);
  EXPECT_EQ(pointers[1].offset, 8u);
  EXPECT_EQ(pointers[1].symbol, "b");
  EXPECT_TRUE(pointers[1].generic);
  EXPECT_EQ(pointers[1].addend, 4);
  EXPECT_EQ(pointers[2].addend, 4);
  EXPECT_EQ(m.variables[7].relocations[1].shift, 8);
  EXPECT_EQ(m.variables[7].relocations[1].bytes, 1u);
  EXPECT_EQ(m.variables[8].options[0].value, "wrap");
  EXPECT_EQ(m.variables[9].initial[0], std::byte{255});
  EXPECT_EQ(m.variables[9].initial[1], std::byte{44});
}

TEST(Parse, ExternVariablesMayBeDefinedLater) {
  const Module m = parsed(with_header(
      ".extern .global .u32 x; .visible .global .u32 x = 3; .extern .global .u32 x; .extern .shared .b8 dyn[];"));
  ASSERT_EQ(m.variables.size(), 2u);
  EXPECT_EQ(m.variables[0].linkage, Linkage::visible);
  EXPECT_EQ(words(m.variables[0]), (std::vector<std::uint32_t>{3}));
  EXPECT_EQ(m.variables[1].size, 0u);
}

TEST(Parse, SourcePositionsAndPlaces) {
  const Module m = parsed(body("ret;\n.loc 1 10 3\nmov.b32 %r1, 2;  @%p1 ret;\n.loc 2 20 0, function_name L+4, "
                               "inlined_at 1 10 3\n\tadd.s32 %r1,\n  %r2, 3;"));
  const auto& list = kernel(m).instructions;
  EXPECT_EQ(list[0].source.line, 0u);
  EXPECT_EQ(list[1].source.line, 10u);
  EXPECT_EQ(list[2].source.file, 1u);
  EXPECT_EQ(list[3].source.file, 2u);
  EXPECT_EQ(list[3].source.line, 20u);
  EXPECT_EQ(list[1].where, (SourceLocation{10, 1}));
  EXPECT_EQ(list[2].where, (SourceLocation{10, 19}));
  EXPECT_EQ(list[3].where, (SourceLocation{12, 2}));
  EXPECT_EQ(kernel(m).operands(list[1])[1].column, 14u);
  EXPECT_EQ(kernel(m).operands(list[3])[2].column, 0u);
}

// A call in a function that is itself inlined comes first, with its own inlined_at.
TEST(Parse, InlinedCallsAreChained) {
  const Module m = parsed(body(".loc 1 5 3\nmov.b32 %r1, 1;\n"
                               ".loc 1 7 3\n.loc 2 20 5, function_name L, inlined_at 1 7 3\nmov.b32 %r1, 2;\n"
                               ".loc 3 30 1, function_name M+4, inlined_at 2 20 5\nmov.b32 %r1, 3;\n"
                               ".loc 1 8 3\nmov.b32 %r1, 4;\n.loc 3 30 1, inlined_at 1 8 3\nmov.b32 %r1, 5;\n"
                               ".loc 3 30 1, inlined_at 1 7 3\nmov.b32 %r1, 6;"));
  const auto& list = kernel(m).instructions;
  const auto chain = [&](std::size_t i) {
    std::vector<std::uint32_t> lines = {list[i].source.line};
    for (std::uint32_t at = list[i].source.inlined_at; at != kNone; at = m.call_sites.at(at).where.inlined_at)
      lines.push_back(m.call_sites[at].where.line);
    return lines;
  };
  using Lines = std::vector<std::uint32_t>;
  EXPECT_EQ(chain(0), (Lines{5}));
  EXPECT_EQ(chain(1), (Lines{20, 7}));
  EXPECT_EQ(chain(2), (Lines{30, 20, 7}));
  EXPECT_EQ(chain(3), (Lines{8}));
  EXPECT_EQ(chain(4), (Lines{30, 8}));
  EXPECT_EQ(chain(5), (Lines{30, 7}));
}

TEST(Parse, CommentsAndSpacesMayStandAnywhere) {
  const Module m = parsed("// first\r\n.version/**/8.0/*\n*/.target sm_80\r\n.address_size 64\r\n.entry k(){.reg .b32 "
                          "%r<3>;/**/add.s32/* a */%r1,//b\r\n%r2\t,1;ret;}// no newline");
  EXPECT_EQ(kernel(m).instructions.size(), 2u);
  EXPECT_EQ(kernel(m).instructions[1].where.line, 6u);
}

TEST(Parse, ManySizesFoundInTheWild) {
  std::string text = with_header(".global .b8 big[200000] = {");
  for (int i = 0; i < 200000; ++i) text += i == 0 ? "1" : ",1";
  text += "};\n.entry " + std::string(2100, 'x') + "(.param .b8 p[32000]) { .reg .b32 %r<31266>; mov.b32 %r31265, 0; }";
  const Module m = parsed(text);
  ASSERT_EQ(m.variables.size(), 1u);
  EXPECT_EQ(m.variables[0].initial.size(), 200000u);
  EXPECT_EQ(kernel(m).registers[kernel(m).operands(kernel(m).instructions[0])[0].index].name, "%r31265");
  EXPECT_EQ(kernel(m).params[0].size, 32000u);
}

TEST(Parse, ManyThreadsMayParseAtOnce) {
  const std::string text = file_text("rich.ptx");
  std::vector<std::size_t> found(8, 0);
  std::vector<std::jthread> threads;
  for (std::size_t& count : found)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i)
        if (const auto module = parse(text, "rich.ptx")) count += module->find("rich")->instructions.size();
    });
  threads.clear();
  for (const std::size_t count : found) EXPECT_EQ(count, 20 * parsed(text).find("rich")->instructions.size());
}

} // namespace parse_test
} // namespace warplens::ir
