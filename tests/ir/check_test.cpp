// SPDX-License-Identifier: Apache-2.0
// Diagnostics for selectors and signs of operands, which only video instructions have. ptxas 13 determined which are
// legal.
#include "tests/ir/ptx_text.hpp"

#include "emulator/ir/check.hpp"

#include <ostream>

namespace warplens::ir {
namespace check_test {

// The first diagnostic for a statement, "column: message"; empty if there is none.
std::string complaint(const std::string& statement) {
  auto module = parse(body(statement), "test.ptx");
  const Diagnostics parse_errors = module ? Diagnostics{} : module.error();
  const Checked checked = module ? check(*module) : Checked{};
  for (const Diagnostics* d : {&parse_errors, &checked.errors})
    if (d->has_errors()) return std::to_string(d->list()[0].where.column) + ": " + d->list()[0].message;
  return checked.unsupported.empty() ? "" : checked.unsupported[0].why.message;
}

class Legal : public testing::TestWithParam<const char*> {};
TEST_P(Legal, Statement) { EXPECT_EQ(complaint(GetParam()), ""); }

INSTANTIATE_TEST_SUITE_P(
    Video, Legal,
    testing::Values("vadd.u32.u32.u32 %r0, %r1.b0, %r2.h1;", "vadd.u32.u32.u32 %r0.h1, %r1, %r2, %r3;",
                    "vadd.u32.u32.u32 %r0, %r1, %r2, %r3;", "vadd.sat.u32.u32.s32.max %r0, 5, -6, 0x123456789;",
                    "vshl.u32.s32.u32.wrap.sat.add %r0, %r1.h1, %r2.b3, %r3;",
                    "vset.lt.s32.u32.min %r0, %r1, %r2, %r3;", "vmad.u32.u32.s32 %r0, -%r1, %r2.b1, %r3;",
                    "vmad.u32.u32.s32 %r0, -%r1.h0, -%r2, -%r3;", "vmad.s32.s32.s32 %r0, -%r1, %r2, -5;",
                    "vmad.s32.s32.s32.shr15.po.sat %r0, %r1, %r2, %r3;",
                    "vadd2.u32.u32.u32 %r0.h10, %r1.h33, %r2.h02, %r3;", "vset2.u32.u32.lt.add %r0.h1, %r1, %r2, %r3;",
                    "vadd4.u32.u32.u32.add %r0.b31, %r1.b7654, %r2.b0000, %r3;",
                    "vadd4.s32.u32.u32.sat %r0.b320, %r1, %r2, %r3;", "vadd4.u32.u32.u32 %r0.b3, %r1, %r2, %r3;"));

struct Refusal {
  const char* statement;
  const char* why; ///< how the first complaint begins
  friend std::ostream& operator<<(std::ostream& out, const Refusal& r) { return out << r.statement; }
};
class Refused : public testing::TestWithParam<Refusal> {};
TEST_P(Refused, Statement) {
  const std::string why = complaint(GetParam().statement);
  EXPECT_TRUE(why.starts_with(GetParam().why)) << why;
}

INSTANTIATE_TEST_SUITE_P(
    Video, Refused,
    testing::Values(
        // Selectors where there are none.
        Refusal{"add.u32 %r0, %r1.b0, %r2;", "14: 'add.u32' takes no such selector of register '%r1'"},
        Refusal{"add.u32 %r0.h1, %r1, %r2;", "9: 'add.u32' takes no such selector of register '%r0'"},
        Refusal{"add.u32 %r0, %r1.x, %r2;", "14: 'add.u32' takes no such selector of register '%r1'"},
        Refusal{"mov.u32 %r0, %r1.h10;", "14: 'mov.u32' takes no such selector"},
        Refusal{"setp.eq.u32 %p1.b0, %r1, 0;", "13: 'setp.eq.u32' takes no such selector of register '%p1'"},
        Refusal{"st.u32 [%rd1.b0], %r1;", "9: 'st.u32' takes no such selector of register '%rd1'"},
        Refusal{"vadd.u32.u32.u32.add %r0, %r1, %r2, %r3.b0;", "37: 'vadd.u32.u32.u32.add' takes no such selector"},
        Refusal{"vmad.s32.s32.s32 %r0.b0, %r1, %r2, %r3;", "18: 'vmad.s32.s32.s32' takes no such selector"},
        Refusal{"vadd.u32.u32.u32.add %r0.b1, %r1, %r2, %r3;", "22: 'vadd.u32.u32.u32.add' takes no such selector"},
        // Selectors of the other kind, or out of range.
        Refusal{"vadd.u32.u32.u32 %r0, %r1.h10, %r2;", "23: 'vadd.u32.u32.u32' takes no such selector"},
        Refusal{"vadd.u32.u32.u32 %r0, %r1.b4, %r2;", "23: unknown component '.b4'"},
        Refusal{"vadd.u32.u32.u32 %r0, %r1.h2, %r2;", "23: unknown component '.h2'"},
        Refusal{"vadd2.u32.u32.u32 %r0, %r1.h0, %r2, %r3;", "24: 'vadd2.u32.u32.u32' takes no such selector"},
        Refusal{"vadd2.u32.u32.u32 %r0, %r1.b3210, %r2, %r3;", "24: 'vadd2.u32.u32.u32' takes no such selector"},
        Refusal{"vadd2.u32.u32.u32 %r0, %r1.h40, %r2, %r3;", "24: unknown component '.h40'"},
        Refusal{"vadd4.u32.u32.u32 %r0, %r1.b8000, %r2, %r3;", "24: unknown component '.b8000'"},
        Refusal{"vadd4.u32.u32.u32 %r0, %r1.b321, %r2, %r3;", "24: 'vadd4.u32.u32.u32' takes no such selector"},
        // Masks that are none.
        Refusal{"vadd2.u32.u32.u32 %r0.h01, %r1, %r2, %r3;", "19: 'vadd2.u32.u32.u32' takes no such selector"},
        Refusal{"vadd2.u32.u32.u32 %r0.b0, %r1, %r2, %r3;", "19: 'vadd2.u32.u32.u32' takes no such selector"},
        Refusal{"vadd4.u32.u32.u32 %r0.b0123, %r1, %r2, %r3;", "19: 'vadd4.u32.u32.u32' takes no such selector"},
        Refusal{"vadd4.u32.u32.u32 %r0.b01, %r1, %r2, %r3;", "19: unknown component '.b01'"},
        Refusal{"vadd4.u32.u32.u32 %r0.b010, %r1, %r2, %r3;", "19: unknown component '.b010'"},
        Refusal{"vadd4.u32.u32.u32 %r0.b43, %r1, %r2, %r3;", "19: unknown component '.b43'"},
        // Operands.
        Refusal{"vadd.u32.u32.u32 %r0.h1, %r1, %r2;",
                "18: 'vadd.u32.u32.u32' with a selector on its destination takes 4 operands, got 3"},
        Refusal{"vadd.u32.u32.u32.add %r0, %r1, %r2;", "1: 'vadd.u32.u32.u32.add' takes 4 operands, got 3"},
        Refusal{"vadd2.u32.u32.u32 %r0, %r1, %r2;", "1: 'vadd2.u32.u32.u32' takes 4 operands, got 3"},
        Refusal{"vadd2.u32.u32.u32 %r0, %r1, 5, %r3;", "29: 'vadd2.u32.u32.u32' expects a register of type .u32"},
        Refusal{"vset4.u32.u32.lt %r0, %r1, %r2, 5;", "33: 'vset4.u32.u32.lt' expects a register of type .u32"},
        Refusal{"vadd.u32.u32.u32 %r0, %rd1, %r2;", "23: 'vadd.u32.u32.u32' expects a value of type .u32"},
        Refusal{"vadd.u32.u32.u32 %r0, %r1, 1.0;", "28: 'vadd.u32.u32.u32' expects a value of type .u32"},
        // Signs.
        Refusal{"add.u32 %r0, -%r1, %r2;", "14: 'add.u32' cannot negate operands"},
        Refusal{"vadd.u32.u32.u32 %r0, -%r1, %r2;", "23: 'vadd.u32.u32.u32' cannot negate operands"},
        Refusal{"vmad.s32.s32.s32.po %r0, -%r1, %r2, %r3;", "26: 'vmad.s32.s32.s32.po' cannot negate operands"},
        Refusal{"vmad.s32.s32.s32 %r0, -%r1, %r2, -%r3;",
                "34: 'vmad.s32.s32.s32' can negate the product or the addend"},
        Refusal{"vmad.s32.s32.s32 %r0, !%r1, %r2, %r3;", "23: '!' cannot be applied to '%r1'"},
        Refusal{"selp.b32 %r0, %r1, %r2, -%p1;", "25: '-' cannot be applied to '%p1'"},
        // Words.
        Refusal{"vadd2.u32.u32.u32.sat.add %r0, %r1, %r2, %r3;", "'.add' does not fit"},
        Refusal{"vadd4.u32.u32.u32.min %r0, %r1, %r2, %r3;", "'.min' does not fit"},
        Refusal{"vshl.s32.s32.s32.wrap %r0, %r1, %r2;", "'.s32' does not fit"},
        Refusal{"vshl.u32.u32.u32 %r0, %r1, %r2;", "'vshl.u32.u32.u32' lacks a modifier"},
        Refusal{"vset.u32.u32.lo %r0, %r1, %r2;", "'.lo' does not fit"}));

} // namespace check_test
} // namespace warplens::ir
