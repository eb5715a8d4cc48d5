// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/check_addresses.hpp"

#include "emulator/ir/check_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace warplens::ir {

using isa::Class;

namespace {
constexpr int kFirstGeneric = 20; // target

} // namespace

bool AddressChecker::wrong_index(const Operand& o) {
  if (o.kind == OperandKind::indexed) {
    const auto both = function_->elements(o);
    const Operand& index = both[1];
    const bool is_register = index.kind == OperandKind::reg && index.component == 0 && !index.negated;
    const Type type = is_register ? function_->registers[index.index].type : Type::none;
    if (both[0].kind == OperandKind::variable && isa::is_address(type)) return false;
    if (both[0].kind != OperandKind::variable)
      error(&both[0],
            fmt::format("a register can only be added to a variable, not to {}", described(*function_, both[0])));
    else
      error(index.column != 0 ? &index : &both[0],
            fmt::format("an index must be a 32- or 64-bit integer register, got {}", described(*function_, index)));
    return true;
  }
  if (o.kind == OperandKind::reg || o.kind == OperandKind::special || o.count == 0) return false;
  const auto parts = function_->elements(o);
  return std::any_of(parts.begin(), parts.end(), [this](const Operand& part) { return wrong_index(part); });
}

// cvta converts the address of a variable, which is an address in its space, to a generic address.
void AddressChecker::converted(const Operand& o, const isa::Spelling& spelling) {
  if (spelling.has(isa::Word::w_to))
    error(&o, fmt::format("'{}' expects a generic address, got {}", instruction_->opcode, described(*function_, o)));
  else
    space(o, spelling);
}

// isspacep: 32 or 64 bits.
void AddressChecker::any_address(const Operand& o) {
  const Type have = o.kind == OperandKind::reg ? function_->registers[o.index].type : Type::none;
  const bool fits = o.kind == OperandKind::reg
                        ? register_fits(have, Type::u32, false) || register_fits(have, Type::u64, false)
                        : immediate_fits(o, Type::u64) || (o.kind == OperandKind::variable && o.value != 0);
  if (!fits) error(&o, fmt::format("'{}' expects an address, got {}", instruction_->opcode, described(*function_, o)));
}

void AddressChecker::address(const Operand& o, const isa::Spelling& spelling) {
  if (o.kind != OperandKind::address) {
    error(&o,
          fmt::format("'{}' expects an address in brackets, got {}", instruction_->opcode, described(*function_, o)));
    return;
  }
  const isa::Family family = spelling.entry->family;
  const bool accesses = family == isa::Family::load || family == isa::Family::store;
  if (accesses && spelling.form.space() == Space::generic && module_.sm < kFirstGeneric)
    return error(&o, fmt::format("'{}' without a state space requires .target sm_20 or higher", instruction_->opcode));
  if (accesses && family == isa::Family::store && spelling.has(isa::Word::w_param) && module_.version < 20)
    return error(&o, "'st.param' requires PTX ISA .version 2.0 or later");
  if (o.count == 0) {
    if (!spelling.has(isa::Word::w_local))
      error(&o, fmt::format("'{}' cannot use a number as the address", instruction_->opcode),
            "only .local memory has known addresses; move the number into a register");
    return;
  }
  if (o.count > 1) return error(&function_->elements(o)[1], "expected ']': an address has only one element");
  base(function_->elements(o)[0], spelling);
}

void AddressChecker::tensor(const Operand& o, const isa::Spelling& spelling) {
  const auto parts = o.kind == OperandKind::address ? function_->elements(o) : std::span<const Operand>{};
  if (parts.size() != 2 || parts[1].kind != OperandKind::vector)
    return error(&o, fmt::format("'{}' expects a tensor map and its coordinates as [map, {{x, …}}], got {}",
                                 instruction_->opcode, described(*function_, o)));
  if (o.value != 0) error(&o, "the address of a tensor map takes no offset");
  if (parts[0].kind == OperandKind::reg) base(parts[0], spelling);
  if (parts[0].kind != OperandKind::reg && parts[0].kind != OperandKind::variable)
    error(&parts[0],
          fmt::format("a tensor map must be a register or a variable, got {}", described(*function_, parts[0])));
  const auto wanted = static_cast<std::size_t>(isa::tensor_coordinates(spelling.form));
  const auto coordinates = function_->elements(parts[1]);
  if (coordinates.size() != wanted)
    error(&parts[1],
          fmt::format("'{}' expects {} coordinates, got {}", instruction_->opcode, wanted, coordinates.size()));
  for (const Operand& c : coordinates) {
    const bool fits = c.kind == OperandKind::reg ? register_fits(function_->registers[c.index].type, Type::s32, false)
                                                 : immediate_fits(c, Type::s32);
    if (!fits) error(&c, fmt::format("a coordinate must be of type .s32, got {}", described(*function_, c)));
  }
}

void AddressChecker::tensor_memory(const Operand& o) {
  const auto parts = o.kind == OperandKind::address ? function_->elements(o) : std::span<const Operand>{};
  const bool is_register = parts.size() == 1 && parts[0].kind == OperandKind::reg && parts[0].component == 0;
  const Type type = is_register ? function_->registers[parts[0].index].type : Type::none;
  if (!isa::is_address(type) || isa::bits(type) != 32)
    error(&o, fmt::format("'{}' expects an address of tensor memory in a 32-bit register, as [%r1], got {}",
                          instruction_->opcode, described(*function_, parts.size() == 1 ? parts[0] : o)));
}

void AddressChecker::base(const Operand& base, const isa::Spelling& spelling) {
  if (base.kind == OperandKind::reg) {
    if (base.component != 0 || function_->registers[base.index].components != 1)
      return error(&base, fmt::format("an address cannot be a vector or an element of a vector: '{}'",
                                      function_->registers[base.index].name));
    if (!isa::is_address(function_->registers[base.index].type))
      error(&base, fmt::format("an address must be a 32- or 64-bit integer, got {}", described(*function_, base)));
    return;
  }
  if (base.kind == OperandKind::variable) return space(base, spelling);
  if (base.kind == OperandKind::indexed) {
    return space(function_->elements(base)[0], spelling); // wrong_index() has checked the rest
  }
  if (base.kind != OperandKind::integer)
    error(&base, fmt::format("an address must be a register or a variable, got {}", described(*function_, base)));
}

void AddressChecker::space(const Operand& base, const isa::Spelling& spelling) {
  check_param_variable(module_, *function_, *instruction_, base, complain_);
  const Space has = module_.variable(*function_, base.index).space;
  // Copies have two spaces.
  std::set<Space> wants;
  for (int i = 0; i < spelling.form.count; ++i) wants.insert(isa::space_of(spelling.form.words[i]));
  wants.erase(Space::none);
  const isa::Family family = spelling.entry->family;
  const bool unreachable = has == Space::param || (has == Space::constant && family == isa::Family::store);
  if (wants.empty() && unreachable && (family == isa::Family::load || family == isa::Family::store))
    error(&base, fmt::format("'{}' without a state space cannot reach '{}', which is in .{}", instruction_->opcode,
                             module_.variable(*function_, base.index).name, isa::name(has)));
  if (!wants.empty() && !wants.contains(has))
    error(&base, fmt::format("'{}' accesses .{} memory, but '{}' is in .{}", instruction_->opcode,
                             isa::name(*wants.begin()), module_.variable(*function_, base.index).name, isa::name(has)));
}

} // namespace warplens::ir
