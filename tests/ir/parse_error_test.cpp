// SPDX-License-Identifier: Apache-2.0
// Diagnostics for invalid PTX: one for each error, and never a crash.
#include "tests/ir/ptx_text.hpp"

#include <ostream>
#include <random>

namespace warplens::ir {
namespace parse_error_test {

struct Mistake {
  const char* statement; ///< of a body, which begins in line 8
  const char* errors;    ///< all diagnostics
  friend std::ostream& operator<<(std::ostream& out, const Mistake& m) { return out << m.statement; }
};

class ParseMistake : public testing::TestWithParam<Mistake> {};

TEST_P(ParseMistake, IsReportedOnceInPlainWords) {
  EXPECT_EQ(errors_of(body(GetParam().statement)), GetParam().errors);
}

INSTANTIATE_TEST_SUITE_P(
    Statements, ParseMistake,
    testing::Values(
        Mistake{"add.s32 %r1, %r2, 5\nret;", "8:20: expected ';' but the line ends\n"},
        Mistake{"add.s32 %r1 %r2;", "8:13: expected ';' but found '%r2'\n"},
        Mistake{"add.s32 %r1, ;\nret;", "8:14: expected an operand but found ';'\n"},
        Mistake{"add.s32 , %r1;", "8:9: expected an operand or ';' but found ','\n"},
        Mistake{"ld.u32 %r1, [%rd1;", "8:18: expected ']' but found ';'\n"},
        Mistake{"ld.u32 %r1, [%rd1-8];",
                "8:19: expected '+' or ']' after the base of an address (write a negative offset as [base+-4])\n"},
        Mistake{"mov.u32 {%r1, %r2, %rd1;", "8:24: expected '}' but found ';'\n"},
        Mistake{"mov.b64 {%r1, %r2 %r3}, %rd1;\nret; bad(;",
                "8:19: expected '}' but found '%r3'\n9:10: expected an operand but found ';'\n"},
        Mistake{"mov.b64 %rd1 {%r1, %r2}, 5; ret;", "8:14: expected ';' but found '{'\n"},
        Mistake{"mov.b64 {%r1, %r2\nret;", "8:18: expected '}' but the line ends\n"},
        Mistake{"mov.b64 {}, %rd1;", "8:9: a vector must have at least one element\n"},
        Mistake{"mov.b64 %rd1, {};", "8:15: a vector must have at least one element\n"},
        Mistake{"st.global.v2.u32 [%rd1], {};", "8:26: a vector must have at least one element\n"},
        Mistake{"@ ret;", "8:6: expected a name but found ';'\n"},
        Mistake{"@%p9 ret;", "8:2: undeclared predicate '%p9' (the registers are %p0 to %p3)\n"},
        Mistake{"mov.b32 %r1, %r11;", "8:14: undeclared register '%r11' (the registers are %r0 to %r9)\n"},
        Mistake{"mov.b32 %r1, %tidd.x;", "8:14: undeclared register '%tidd'\n"},
        Mistake{"bra LOOP; LOOPS: ret;", "8:5: undeclared label 'LOOP' (did you mean 'LOOPS'?)\n"},
        Mistake{"{ in: ret; } bra in;",
                "8:18: undeclared label 'in' (a label is visible only inside the braces that contain it)\n"},
        Mistake{"mov.u64 %rd1, nowhere;", "8:15: undeclared name 'nowhere'\n"},
        Mistake{"L: ret; L: ret;", "8:9: label 'L' is declared twice\n"},
        Mistake{".reg .b32 %r1;", "8:11: '%r1' is declared twice\n"},
        Mistake{".reg .b32 x, x;", "8:14: 'x' is declared twice\n"},
        Mistake{".reg .b32 y2; .reg .b32 y<3>;", "8:25: a register of 'y<3>' is declared twice\n"},
        Mistake{".reg .f31 x;", "8:6: unknown type '.f31' (did you mean '.f32'?)\n"},
        Mistake{".reg x;", "8:6: expected a type but found 'x'\n"},
        Mistake{".reg .b32 %q<9999999>;",
                "8:11: '%q' needs 10000041 registers in one module: the limit registers is 8388608 (to raise it, use "
                "warplens --limit registers=NUMBER … or the environment variable WARPLENS_LIMITS)\n"},
        Mistake{"mov.b32 %r1, 99999999999999999999;", "8:14: integer '99999999999999999999' does not fit in 64 bits\n"},
        Mistake{"mov.b32 %r1, 0x;", "8:14: malformed number '0x'\n"},
        Mistake{"mov.b32 %r1, 089;", "8:14: malformed number '089'\n"},
        Mistake{"mov.b32 %r1, 0f12;", "8:14: malformed number '0f12'\n"},
        Mistake{"mov.b32 %r1, -0f3F800000;",
                "8:14: expected a number after '-' but found '0f3F800000' (encode the sign in the bits)\n"},
        Mistake{"mov.b32 %r1, 5 / (3 - 3);", "8:18: division by zero in a constant expression\n"},
        Mistake{"mov.b32 %r1, 1 ? 2;", "8:18: expected ':' after '?'\n"},
        Mistake{"mov.b32 %r1, 1 : 2;", "8:18: expected '?' before ':'\n"},
        Mistake{"mov.b32 %r1, %r2 + 1;",
                "8:20: expected ',' or ';': '%r2' is not a constant (a register can be added only in an address)\n"},
        Mistake{"mov.b32 %r1, \"text\";", "8:14: expected an operand but found '\"text\"'\n"},
        Mistake{"mov.b32 %r1, \"text;", "8:14: string is not closed (add '\"')\n"},
        Mistake{"mov.b32 %r1, #;", "8:14: unexpected character '#'\n"},
        Mistake{"mov.f32 %f1, %f2.q;", "8:14: unknown component '.q' of '%f2' (components are .x .y .z .w; operands of "
                                       "video instructions also have .b0 to .b3, .h0 and .h1)\n"},
        Mistake{".branchtargets a;", "8:1: expected a label before this directive\n"},
        Mistake{".shared .u32 s = 5;",
                "8:16: expected ';' but found '=': only .global and .const variables can be initialised\n"},
        Mistake{"ret;\n.visible .entry next() { ret;", "9:1: expected '}' but found '.visible'\n"},
        Mistake{".version 8.0\nret;", "8:1: expected a statement but found '.version'\n"},
        Mistake{"ret; // caf\xc3\xa9\nmov.b32 %r1, \xc3\xa9;",
                "9:14: expected ASCII but found the byte 0xc3 (PTX allows other characters only in comments and "
                "strings)\n"},
        Mistake{"mov.u32 %r1, %r2 x\n;", "8:18: expected ';' but found 'x'\n"},
        Mistake{"mov.u32 %r1, sym.x;", "8:14: 'sym' is not a register and has no components\n"},
        Mistake{"mov.u32 %r1, sym-4;",
                "8:18: expected '+' after a name in an expression (write a negative offset as name+-4)\n"},
        Mistake{"mov.u32 %r1, sym[1.0];", "8:18: expected an integer as index\n"},
        Mistake{".visible .shared .u32 s;", "8:1: '.visible' is allowed only outside functions\n"},
        Mistake{".shared .u32 s[];", "8:14: array 's' has no size (declare dynamic shared memory as .extern)\n"},
        Mistake{".reg .u32 s = 1;",
                "8:13: expected ';' but found '=': only .global and .const variables can be initialised\n"},
        Mistake{"mov.b32 %r1, zz1; mov.b32 %r1 %r2; mov.b32 %r1, zz2;",
                "8:14: undeclared name 'zz1'\n8:31: expected ';' but found '%r2'\n8:49: undeclared name 'zz2'\n"}));

class ModuleMistake : public testing::TestWithParam<Mistake> {};

TEST_P(ModuleMistake, IsReportedOnceInPlainWords) {
  EXPECT_EQ(errors_of(with_header(GetParam().statement)), GetParam().errors);
}

INSTANTIATE_TEST_SUITE_P(
    Declarations, ModuleMistake,
    testing::Values(
        Mistake{".global .u32 x; .global .u32 x;", "4:30: 'x' is declared twice\n"},
        Mistake{".global .u32 x[2] = {1, 2, 3};", "4:28: too many initial values for 'x'\n"},
        Mistake{".global .u32 x[2][2] = {{1, 2, 3}, {4}};",
                "4:33: too many initial values for 'x': expected at most 2\n"},
        Mistake{".global .u32 x[2][2] = {1, 2};", "4:25: expected '{' but found a value: 'x' has 2 dimensions\n"},
        Mistake{".global .u32 x = {1};", "4:18: expected a value but found '{': 'x' has 0 dimensions\n"},
        Mistake{".global .u32 x[2] = {1, };", "4:25: expected an operand but found '}'\n"},
        Mistake{".global .u32 x[2] = {1 2};", "4:24: expected ',' or '}' but found '2'\n"},
        Mistake{".global .f32 x = 1;", "4:18: expected a floating-point number for 'x', which is a .f32\n"},
        Mistake{".global .u32 x = 1.0;", "4:18: expected an integer number for 'x', which is a .u32\n"},
        Mistake{".global .u16 x = x;", "4:18: the address of 'x' does not fit in a .u16\n"},
        Mistake{".global .align 3 .u32 x;", "4:23: expected a power of two as alignment but found 3\n"},
        Mistake{".global .u32 x[1099511627776][1099511627776];",
                "4:14: 'x' needs more than 2^64 - 1 bytes for one variable: the limit variable-bytes is 1099511627776 "
                "(to raise it, use warplens --limit variable-bytes=NUMBER … or the environment variable "
                "WARPLENS_LIMITS)\n"},
        Mistake{".global .u32 x[1+1];", "4:18: expected ']': the size of 'x' must be a single number\n"},
        Mistake{".global .u32 x[];", "4:14: array 'x' has no size\n"},
        Mistake{".reg .u32 x;", "4:11: registers cannot be declared outside a function from PTX ISA .version 3.1 on\n"},
        Mistake{".global .u32 x<70000>;", "4:16: more than 65536 variables in a range\n"},
        Mistake{".func f(.param .v2 .b32 a) { ret; }",
                "4:25: 'a' cannot be a vector: parameters are scalars and arrays (pass an array, such as .b8 x[16])\n"},
        Mistake{".func f() .maxntid 4 { ret; }", "4:11: '.maxntid' is allowed only for kernels\n"},
        Mistake{".entry k() .maxntid 4;", "4:12: '.maxntid' is allowed only for a kernel with a body\n"},
        Mistake{".entry k() .maxntid 0 { ret; }", "4:12: '.maxntid' expects numbers greater than 0\n"},
        Mistake{".func g(); .entry k() { ret; } .alias g, k;", "4:42: 'k' is a kernel and cannot have an alias\n"},
        Mistake{".global .u64 x = nowhere;", "4:18: undeclared name 'nowhere'\n"},
        Mistake{".global .samplerref s;", "4:21: 's' is a sampler, which unified mode does not have (samplers "
                                          "require '.target texmode_independent')\n"},
        Mistake{".entry k(.param .u32 a, .param .u32 a) { ret; }", "4:37: 'a' is declared twice\n"},
        Mistake{".entry k() .maxntidd 5 { ret; }", "4:12: unknown directive '.maxntidd' (did you mean '.maxntid'?)\n"},
        Mistake{".entry k() .maxntid { ret; }", "4:12: expected 1 to 3 numbers after '.maxntid' but found 0\n"},
        Mistake{".entry k() { ret; } .entry k() { ret; }", "4:32: function 'k' is defined twice\n"},
        Mistake{".entry k() { ret;", "4:18: expected '}' but found end of file\n"},
        Mistake{
            ".entry k(.param .u32 a { ret; ret; }\n.globl .u32 y;\n.global .u32 ok;",
            "4:24: expected ')' but found '{'\n5:1: expected a directive, function or variable but found '.globl'\n"},
        Mistake{".visible foo;", "4:10: expected '.entry' or '.func' or a state space but found 'foo'\n"},
        Mistake{".entry k() ret; }\n.global .u32 ok;", "4:12: expected '{' or ';' but found 'ret'\n"},
        Mistake{"}", "4:1: expected a directive, function or variable but found '}'\n"},
        Mistake{".entri k() { }", "4:1: expected a directive, function or variable but found '.entri'\n"},
        Mistake{"/* no end", "4:1: comment is not closed (add '*/')\n"},
        Mistake{".target sm_80, debugg", "4:16: unknown target 'debugg' (did you mean 'debug'?)\n"},
        Mistake{".address_size 48", "4:15: expected 32 or 64 but found '48'\n"},
        Mistake{".alias f, g;", "4:8: undeclared function 'f'\n"},
        Mistake{".section .debug_info { .b8 1, \n }\n.global .u32 x;",
                "5:2: expected a number or a label but found '}'\n"}));

TEST(ParseErrors, EveryMistakeOfAFileIsReported) {
  EXPECT_EQ(errors_of(".version 8.0\n.target sm_80\n.entry a() { mov.b32 %r1; }\n.global .u31 x;\n.entry b() {\n add "
                      "%r1 %r2;\n sub ;\n mul , ;\n}\n"),
            "3:22: undeclared register '%r1'\n4:9: unknown type '.u31' (did you mean '.u32'?)\n6:10: expected ';' but "
            "found '%r2'\n8:6: expected an operand or ';' but found ','\n");
}

TEST(ParseErrors, AModuleNeedsVersionAndTarget) {
  EXPECT_EQ(errors_of(""), "1:1: expected '.version' at the start of the file\n");
  EXPECT_EQ(errors_of(".version 8.0\n"), "2:1: expected '.target' after '.version'\n");
  EXPECT_EQ(errors_of(".version 8\n.target sm_80"),
            "1:10: expected a version such as 9.0 but found '8'\n2:9: expected '.version' at the start of the file\n");
}

TEST(ParseErrors, DiagnosticsNameTheFile) {
  const auto module = parse("#", "dir/a.ptx");
  ASSERT_FALSE(module);
  EXPECT_EQ(render(module.error(), "#", 1).substr(0, 43), "dir/a.ptx:1:1: error: unexpected character ");
}

TEST(ParseErrors, AFileCutAnywhereIsReadOrRefused) {
  const std::string text = file_text("rich.ptx");
  std::size_t whole = 0;
  for (std::size_t length = 0; length < text.size(); ++length) {
    const auto module = parse(std::string_view(text).substr(0, length), "cut.ptx");
    whole += module ? 1 : 0;
    ASSERT_TRUE(module || !module.error().empty()) << length;
  }
  EXPECT_GT(whole, 50u);
  EXPECT_LT(whole, text.size() / 2); // inside a function there is always something missing
}

TEST(ParseErrors, DamagedFilesAreReadOrRefused) {
  const std::string text = file_text("rich.ptx");
  std::mt19937 random(1);
  for (int round = 0; round < 1000; ++round) {
    std::string damaged = text;
    for (int i = 0; i < 4; ++i) {
      const std::size_t at = random() % damaged.size();
      if (random() % 2 == 0)
        damaged[at] = static_cast<char>(random());
      else
        damaged.insert(at, damaged.substr(random() % damaged.size(), random() % 20));
    }
    const auto module = parse(damaged, "damaged.ptx");
    ASSERT_TRUE(module || !module.error().empty());
  }
}

std::string repeated(std::string_view text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

TEST(ParseErrors, DeepNestingIsRefusedNotOverflowed) {
  constexpr int kDeep = 10000;
  for (const char* open : {"(", "[", "{", "(.u64)", "x(", "x[", "1(", "[x, {"}) {
    const std::string errors = errors_of(body("mov.b32 %r1, " + repeated(open, kDeep)));
    EXPECT_NE(errors.find("nested deeper than 100"), std::string::npos) << open << errors.substr(0, 500);
    EXPECT_LT(errors.size(), 400u) << open;
  }
  EXPECT_NE(errors_of(body("mov.b32 %r1, " + repeated("1 ? ", kDeep) + "1;")).find("too long"), std::string::npos);
  EXPECT_EQ(errors_of(body("mov.b32 %r1, " + repeated("-", kDeep) + "1;")), "");
  EXPECT_EQ(errors_of(body("mov.b32 %r1, " + repeated("1+", kDeep) + "1;")), "");
  EXPECT_EQ(errors_of(body(repeated("{", kDeep) + repeated("}", kDeep))),
            "8:200: 'k' needs 201 levels of nested blocks: the limit block-depth is 200 (to raise it, use "
            "warplens --limit block-depth=NUMBER … or the environment variable WARPLENS_LIMITS)\n");
  EXPECT_EQ(errors_of(body(repeated("{", 199) + "bra L;" + repeated("}", 199) + "L:")), "");
  EXPECT_NE(errors_of(with_header(".global .u32 x = " + repeated("{", kDeep))), "");
}

TEST(ParseErrors, ErrorsHaveALimit) {
  const auto module = parse(body(repeated("bad bad bad;\n", 5000)), "bad.ptx");
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().error_count(), 1000u);
}

} // namespace parse_error_test
} // namespace warplens::ir
