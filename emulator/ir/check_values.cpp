// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/check_values.hpp"

#include <fmt/format.h>

namespace warplens::ir {

using isa::Class;

// PTX manual, 9.4 "Operand type and size":
// same size, and the same class unless one of the two is untyped; with `relaxed`, wider registers too. The assembler
// treats registers of type .f16x2 as integers.
bool register_fits(Type have, Type want, bool relaxed) {
  if ((have == Type::pred) != (want == Type::pred)) return false;
  if (have == Type::f16x2 && want != Type::f16x2) have = Type::u32;
  const Class a = isa::info(have).kind, b = isa::info(want).kind;
  const bool wider = isa::bits(have) > isa::bits(want);
  if (wider && !relaxed) return false;
  if (isa::bits(have) < isa::bits(want)) return false;
  if (a == Class::untyped || b == Class::untyped) return !wider || a != Class::floating;
  if (a == Class::floating || b == Class::floating) return have == want;
  return true;
}

bool immediate_fits(const Operand& operand, Type want) {
  const bool floating = isa::is_float(want);
  switch (operand.kind) {
  case OperandKind::integer: return !floating;
  case OperandKind::warp_size: return !floating && want != Type::pred;
  case OperandKind::real64: return want == Type::f32 || want == Type::f64 || want == Type::b64;
  case OperandKind::real32: return want == Type::f32 || want == Type::f64 || want == Type::b32;
  default: return false;
  }
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
