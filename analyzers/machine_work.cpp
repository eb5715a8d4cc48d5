// SPDX-License-Identifier: Apache-2.0
// Instructions are counted in the code that ptxas 13.0 makes for sm_90 of one more such instruction, without the part
// for special operands. The work of the units for double precision follows from the rates in
// tests/data/hardware/calibration_h200.csv: a division takes as long as 13 additions.
#include "analyzers/machine_work.hpp"

#include "emulator/ir/opcode_parts.hpp"

namespace warplens::analyzers {

namespace {

using ir::of_doubles, ir::of_wide_integers, ir::rounds;
using isa::InstructionClass;

/// Sine, logarithm and so on: one instruction if subnormal numbers become zeros, else their arguments are scaled.
double of_special_function(const ir::Instruction& i) {
  const bool as_it_is =
      ir::has_part(i, "ftz") || i.head() == "ex2" || i.head() == "tanh" || ir::has_any_part(i, {"f16", "f16x2"});
  return as_it_is ? 1 : 4;
}

double of_integers(const ir::Instruction& i) {
  if (!of_wide_integers(i)) return 1;
  const std::string_view head = i.head();
  if (head == "mul" || head == "mad") return ir::has_part(i, "wide") ? 1 : ir::has_part(i, "hi") ? 16 : 4;
  if (head == "min" || head == "max") return 4;
  return 2; // halves
}

double issued(const ir::Instruction& i) {
  switch (machine_class(i)) {
  case InstructionClass::f32_divide: return 9;
  case InstructionClass::f32_fast_divide: return ir::has_part(i, "ftz") ? 2 : 3;
  case InstructionClass::f64_divide: return 16;
  case InstructionClass::square_root:
    if (of_doubles(i)) return 20;
    return rounds(i) ? 8 : of_special_function(i);
  case InstructionClass::reciprocal:
    if (rounds(i)) return of_doubles(i) ? 12 : 8;
    return ir::has_part(i, "ftz") ? 1 : 3; // a part of the scaling is seldom needed
  case InstructionClass::reciprocal_root: return of_doubles(i) ? 1 : of_special_function(i);
  case InstructionClass::exponential:
  case InstructionClass::logarithm: return of_special_function(i);
  case InstructionClass::sine: return 2;
  case InstructionClass::integer_divide:
    if (of_wide_integers(i)) return 128; // a call; by its rate
    return ir::has_part(i, "u32") || ir::has_part(i, "u16") ? 17 : 20;
  case InstructionClass::conversion:
    return ir::has_any_part(i, {"f16", "bf16", "tf32", "f32", "f64", "f16x2", "bf16x2"}) ? 1 : 0.5;
  case InstructionClass::param: return 0;                                       // an operand
  case InstructionClass::move: return i.head() == "mov" ? 0.3 : of_integers(i); // mostly an operand
  case InstructionClass::control: return i.head() == "bra" && i.guard == ir::kNone ? 0.5 : 1;
  default: break;
  }
  const std::string_view head = i.head();
  if (head == "cvta") return 0;
  if (head == "mov" || head == "neg" || head == "abs") return 0.3; // mostly a part of the operand
  if (of_doubles(i)) return (head == "min" || head == "max") ? 8 : 1;
  const bool registers_only = head == "add" || head == "sub" || head == "and" || head == "or" || head == "xor" ||
                              head == "not" || head == "selp" || head == "setp" || head == "shl" || head == "shr" ||
                              head == "mul" || head == "mad" || head == "min" || head == "max";
  return registers_only ? of_integers(i) : 1;
}

double double_operations(const ir::Instruction& i) {
  switch (machine_class(i)) {
  case InstructionClass::f64_divide: return 13;
  case InstructionClass::square_root: return of_doubles(i) ? 14 : 0;
  case InstructionClass::reciprocal: return of_doubles(i) && rounds(i) ? 8 : 0;
  case InstructionClass::f64:
  case InstructionClass::f64_add:
  case InstructionClass::f64_multiply:
  case InstructionClass::f64_multiply_add: return i.head() == "neg" || i.head() == "abs" ? 0 : 1;
  case InstructionClass::compare: return of_doubles(i) && i.head() == "setp" ? 1 : 0;
  default: return 0;
  }
}

} // namespace

double instructions_of_special(const ir::Instruction& i) {
  if (i.head() == "div") return of_doubles(i) ? 69 : 48;
  if (i.head() == "sqrt") return of_doubles(i) ? 23 : 29;
  return of_doubles(i) ? 19 : 24;
}

InstructionClass machine_class(const ir::Instruction& i) {
  if (i.instruction_class == InstructionClass::f64) {
    const std::string_view head = i.head();
    if (head == "sqrt") return InstructionClass::square_root;
    if (head == "rcp") return InstructionClass::reciprocal;
    if (head == "rsqrt") return InstructionClass::reciprocal_root;
  }
  return i.instruction_class;
}

MachineWork machine_work(const ir::Instruction& instruction) {
  return {issued(instruction), double_operations(instruction)};
}

} // namespace warplens::analyzers
