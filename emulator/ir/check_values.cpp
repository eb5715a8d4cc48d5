// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/check_values.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::ir {

using isa::Class;
using isa::Word;

// PTX manual, 9.4 "Operand type and size":
// same size, and the same class unless one of the two is untyped; with `relaxed`, wider registers too. The assembler
// treats registers of type .f16x2 as integers; pairs of 16-bit integers are in untyped registers.
bool register_fits(Type have, Type want, bool relaxed) {
  if ((have == Type::pred) != (want == Type::pred)) return false;
  if (want == Type::u16x2 || want == Type::s16x2) return have == Type::b32 || have == Type::f16x2;
  if (have == Type::f16x2 && want != Type::f16x2) have = Type::u32;
  const Class a = isa::info(have).kind, b = isa::info(want).kind;
  const bool wider = isa::bits(have) > isa::bits(want);
  if (wider && !relaxed) return false;
  if (isa::bits(have) < isa::bits(want)) return false;
  if (a == Class::untyped || b == Class::untyped) return true;
  if (a == Class::floating || b == Class::floating) return have == want;
  return true;
}

bool register_fits_fixed(Type have, Type want, bool relaxed) {
  if (have == Type::f16x2 && isa::is_integer(want) && !relaxed) return false;
  if (have == Type::f64 && want == Type::b64) return false;
  return register_fits(have, want, relaxed);
}

bool immediate_fits(const Operand& operand, Type want) {
  const bool floating = isa::is_float(want);
  if (want == Type::u16x2 || want == Type::s16x2) return false;
  switch (operand.kind) {
  case OperandKind::integer: return !floating;
  case OperandKind::warp_size: return !floating && want != Type::pred;
  case OperandKind::real64: return want == Type::f32 || want == Type::f64 || want == Type::b64;
  case OperandKind::real32: return want == Type::f32 || want == Type::f64 || want == Type::b32;
  default: return false;
  }
}

bool number_is_predicate(const isa::Form& form) {
  return !form.has(isa::word_of(Type::bf16)) && !form.has(isa::word_of(Type::bf16x2));
}

void remove_braces(Function& function, const Instruction& instruction, const isa::Spelling& spelling) {
  const isa::OperandList& specs = spelling.entry->operands;
  const isa::Family family = spelling.entry->family;
  const bool computes = family == isa::Family::lane || family == isa::Family::set;
  const std::size_t given = instruction.operand_count;
  for (std::size_t i = 0; i < std::min(given, static_cast<std::size_t>(specs.count)); ++i) {
    Operand& operand = function.operand_pool[instruction.first_operand + i];
    if (operand.kind != OperandKind::vector || operand.count != 1) continue;
    const Type type = spelling.types[i];
    const bool is_value =
        specs.items[i].kind == isa::OperandClass::value && !specs.items[i].braces && !specs.items[i].vector;
    if (specs.items[i].or_braces || (computes && is_value && (type == Type::bf16 || type == Type::bf16x2)))
      operand = Operand(function.operand_pool[operand.index]);
  }
}

std::string types_that_fit(Type type, bool relaxed) {
  if (!relaxed) return fmt::format("of type .{}", isa::name(type));
  if (isa::is_float(type)) return fmt::format("of type .{}, or untyped and as wide or wider", isa::name(type));
  return fmt::format("of type .{} or a wider one", isa::name(type));
}

std::string described(const Function& f, const Operand& o) {
  switch (o.kind) {
  case OperandKind::reg:
    return fmt::format("register '{}' of type .{}", f.registers[o.index].name, isa::name(f.registers[o.index].type));
  case OperandKind::variable: return "the address of a variable";
  case OperandKind::function: return "a function";
  case OperandKind::label: return "a label";
  case OperandKind::special:
    return fmt::format("special register '{}'", isa::info(static_cast<isa::Special>(o.index)).name);
  case OperandKind::integer: return "an integer";
  case OperandKind::real32:
  case OperandKind::real64: return "a floating-point number";
  case OperandKind::warp_size: return "WARP_SZ";
  case OperandKind::sink: return "'_'";
  case OperandKind::vector: return "a vector";
  case OperandKind::pair: return "a pair of predicates";
  case OperandKind::address: return "an address";
  case OperandKind::list: return "a list";
  case OperandKind::indexed: return "an indexed operand";
  case OperandKind::table: return "a table of labels";
  }
  return "something else";
}

} // namespace warplens::ir
