// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/check_addresses.hpp"

#include "emulator/ir/check_values.hpp"
#include "emulator/ir/check_vectors.hpp"

#include <fmt/format.h>

#include <algorithm>

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

// cvta converts the address of a variable, which is an address in its space, to a generic address; mapa and getctarank
// take one of shared memory.
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
                        ? register_fits_fixed(have, Type::u32, false) || register_fits_fixed(have, Type::u64, false)
                        : immediate_fits(o, Type::u64) || (o.kind == OperandKind::variable && o.value != 0);
  if (!fits) error(&o, fmt::format("'{}' expects an address, got {}", instruction_->opcode, described(*function_, o)));
}

void AddressChecker::address(const Operand& o, const isa::Spelling& spelling) {
  if (o.kind != OperandKind::address) {
    error(&o,
          fmt::format("'{}' expects an address in brackets, got {}", instruction_->opcode, described(*function_, o)));
    return;
  }
  const auto given = function_->operands(*instruction_);
  place_ = static_cast<std::size_t>(
      std::count_if(given.data(), &o, [](const Operand& other) { return other.kind == OperandKind::address; }));
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
  if (parts[0].kind == OperandKind::variable && module_.variable(*function_, parts[0].index).space != Space::global)
    error(&parts[0], fmt::format("a tensor map must be in .global memory, or its address in a register: '{}'",
                                 module_.variable(*function_, parts[0].index).name));
  if (parts[0].kind != OperandKind::reg && parts[0].kind != OperandKind::variable)
    error(&parts[0],
          fmt::format("a tensor map must be a register or a variable, got {}", described(*function_, parts[0])));
  const auto wanted = static_cast<std::size_t>(isa::tensor_coordinates(spelling.form));
  const auto coordinates = function_->elements(parts[1]);
  if (coordinates.size() != wanted)
    error(&parts[1],
          fmt::format("'{}' expects {} coordinates, got {}", instruction_->opcode, wanted, coordinates.size()));
  const Type type = kinds_of(*function_, coordinates).untyped ? Type::b32 : Type::s32; // check_vectors.hpp
  for (const Operand& c : coordinates) {
    const bool fits = c.kind == OperandKind::reg ? register_fits(function_->registers[c.index].type, type, false)
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
  const std::vector<Space> wants = reachable(spelling);
  if (wants.empty() || std::find(wants.begin(), wants.end(), has) != wants.end()) return;
  const std::string_view name = module_.variable(*function_, base.index).name;
  if (spelling.form.space() == Space::generic)
    error(&base, fmt::format("'{}' without a state space cannot reach '{}', which is in .{}", instruction_->opcode,
                             name, isa::name(has)));
  else
    error(&base, fmt::format("'{}' accesses .{} memory, but '{}' is in .{}", instruction_->opcode,
                             isa::name(wants.front()), name, isa::name(has)));
}

// The spaces in which a variable may be: of a copy, its operands have one space each, and mbarriers are shared.
std::vector<Space> AddressChecker::reachable(const isa::Spelling& spelling) const {
  const isa::Family family = spelling.entry->family;
  if (family == isa::Family::mbarrier || family == isa::Family::map_address || family == isa::Family::cta_rank)
    return {Space::shared};
  std::vector<Space> spaces;
  for (int i = 0; i < spelling.form.count; ++i)
    if (const Space space = isa::space_of(spelling.form.words[i]); space != Space::none) spaces.push_back(space);
  if (spaces.size() > 1) return {place_ < spaces.size() ? spaces[place_] : Space::shared};
  if (!spaces.empty()) return spaces;
  if (family == isa::Family::load) return {Space::global, Space::local, Space::shared, Space::constant};
  if (spelling.entry->instruction_class == isa::InstructionClass::global) return {Space::global};
  return {Space::global, Space::local, Space::shared};
}

} // namespace warplens::ir
