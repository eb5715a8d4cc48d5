// SPDX-License-Identifier: Apache-2.0
// Instructions are counted in the code that ptxas 13.0 makes for sm_90 of one more such instruction, without the part
// for special operands. The work of the units for double precision follows from the rates in
// tests/data/hardware/calibration_h200.csv: a division takes as long as 13 additions.
#include "analyzers/machine_work.hpp"

#include "emulator/ir/opcode_parts.hpp"

#include <cctype>

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
  const std::string_view head = i.head();
  if (head == "mad" && ir::has_part(i, "wide")) return 3;
  if (!of_wide_integers(i)) return 1;
  if (head == "mul") return ir::has_part(i, "wide") ? 1 : ir::has_part(i, "hi") ? 7 : 4;
  if (head == "mad") return ir::has_part(i, "hi") ? 8 : 5;
  if (head == "min" || head == "max") return 4;
  return 2; // halves
}

/// The types of a conversion: to, from.
struct Conversion {
  char to_kind = 0, from_kind = 0; ///< s, u, f, b (bfloat16) …
  int to_bits = 0, from_bits = 0;
};

Conversion conversion(const ir::Instruction& i) {
  const std::size_t from = i.opcode.rfind('.'), to = i.opcode.rfind('.', from - 1);
  const auto kind = [&](std::size_t dot) { return i.opcode[dot + 1]; };
  const auto bits = [&](std::size_t dot) {
    int value = 0;
    for (std::size_t at = i.opcode.find_first_of("0123456789", dot); at < i.opcode.size() && std::isdigit(i.opcode[at]);
         ++at)
      value = 10 * value + (i.opcode[at] - '0');
    return value;
  };
  return {kind(to), kind(from), bits(to), bits(from)};
}

bool is_integer(char kind) { return kind == 's' || kind == 'u'; }

/// To an integer of at most 32 bits.
bool truncates(const ir::Instruction& i) {
  const Conversion c = conversion(i);
  return is_integer(c.to_kind) && c.to_bits <= 32 && c.from_kind == 'f' && c.from_bits <= 32;
}

bool runs_on_special_units(const ir::Instruction& i) {
  const Conversion c = conversion(i);
  const bool integers = is_integer(c.to_kind) && is_integer(c.from_kind);
  return !integers && (of_doubles(i) || of_wide_integers(i) || truncates(i));
}

/// Narrower integers are the lower part of a register, and a longer unsigned number needs a zero in another register.
double of_conversion(const ir::Instruction& i) {
  const Conversion c = conversion(i);
  if (!is_integer(c.to_kind) || !is_integer(c.from_kind)) return 1;
  constexpr int kWord = 32;
  if (ir::has_part(i, "sat")) return 1;
  if (c.to_bits <= c.from_bits && c.to_bits >= 16) return 0;
  return c.from_bits == kWord && c.from_kind == 'u' ? 0 : 1;
}

double issued(const ir::Instruction& i) {
  if (i.head() == "cvta") return 0; // generic addresses of global memory are its addresses
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
  case InstructionClass::conversion: return of_conversion(i);
  case InstructionClass::param: return 0;                                       // an operand
  case InstructionClass::move: return i.head() == "mov" ? 0.3 : of_integers(i); // mostly an operand
  case InstructionClass::control: return i.head() == "bra" && i.guard == ir::kNone ? 0.5 : 1;
  default: break;
  }
  const std::string_view head = i.head();
  const bool floats = ir::has_any_part(i, {"f16", "bf16", "f32", "f64", "f16x2", "bf16x2"});
  if ((head == "neg" || head == "abs") && floats) return 0; // a part of the operand
  if (head == "bfe" || head == "bfi" || head == "clz" || head == "bfind") return 2;
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

/// Comparisons, minima, logic, shifts, selections and conversions. Additions of two words and shifts of a word by a
/// constant run where products do, too; of additions of 64 bits, that is so of one half.
double alu_instructions(const ir::Instruction& i, double all) {
  const std::string_view head = i.head();
  const bool wide = of_wide_integers(i);
  switch (machine_class(i)) {
  case InstructionClass::logic: return head != "shl" ? all : wide ? 1 : 0;
  case InstructionClass::compare: return of_doubles(i) ? 0 : all;
  case InstructionClass::conversion: return runs_on_special_units(i) ? 0 : all;
  case InstructionClass::integer_divide: return wide ? 0 : all / 3;
  default: break;
  }
  if (of_doubles(i)) return 0;
  if (head == "add" || head == "sub" || head == "mul" || head == "mad") return wide && !ir::has_part(i, "wide") ? 1 : 0;
  for (const std::string_view one : {"min", "max", "prmt", "bfe", "selp", "slct", "lop3", "shf", "abs"})
    if (head == one) return all;
  return head == "bfi" || head == "clz" || head == "bfind" ? all / 2 : 0;
}

double other_special_functions(const ir::Instruction& i) {
  const std::string_view head = i.head();
  if (head == "popc" || head == "clz" || head == "bfind" || head == "brev") return of_wide_integers(i) ? 2 : 1;
  return i.instruction_class == InstructionClass::conversion && truncates(i) ? 1 : 0;
}

} // namespace

void MachineWork::add(const MachineWork& other, double times) {
  instructions += times * other.instructions;
  doubles += times * other.doubles;
  alu += times * other.alu;
  special += times * other.special;
}

bool converts_wide(const ir::Instruction& i) {
  if (i.head() != "cvt") return false;
  return of_doubles(i) || (ir::has_any_part(i, {"s64", "u64"}) && ir::has_any_part(i, {"f32", "f16"}));
}

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
  const double all = issued(instruction);
  return {all, double_operations(instruction), alu_instructions(instruction, all),
          other_special_functions(instruction)};
}

} // namespace warplens::analyzers
