// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/checks/init/value_rules.hpp"

#include "emulator/ir/unwritten.hpp"

#include <algorithm>
#include <bit>

namespace warplens::exec::init {

namespace {

using ir::Operand;
using ir::OperandKind;
using isa::Word;

constexpr unsigned low(int bytes) { return (1u << std::clamp(bytes, 0, 8)) - 1; }
constexpr std::uint8_t byte_mask(unsigned bits) { return static_cast<std::uint8_t>(bits & 0xffu); }

// The load of the first of two values that has one.
Undefined both(Undefined a, Undefined b, unsigned bytes) {
  return bytes == 0 ? Undefined{} : Undefined{byte_mask(bytes), a.load != nullptr ? a.load : b.load};
}

/// The bytes that hold some of `count` bits from `first` on.
unsigned bytes_with(unsigned first, unsigned count) {
  return count == 0 || first >= 64 ? 0
                                   : low(static_cast<int>((first + count + 7) / 8)) & ~low(static_cast<int>(first / 8));
}

} // namespace

ValueRule value_rule(const Program& program, std::uint32_t index) {
  const ir::Instruction& i = program.function->instructions[index];
  if (i.form == ir::kNone) return ValueRule::needs;
  const isa::Spelling& spelling = program.module->spellings[i.form];
  const std::string_view head = i.head();
  if (head == "shfl") return ValueRule::shuffles;
  if (head == "st") return ValueRule::stores;
  if (head == "mov") return ValueRule::moves;
  if (head == "cvt") return ValueRule::converts;
  if (head == "selp") return ValueRule::selects;
  if (head == "and") return ValueRule::ands;
  if (head == "or") return ValueRule::ors;
  if (head == "xor" || head == "not" || (head == "lop3" && spelling.entry->family == isa::Family::lane))
    return ValueRule::bitwise;
  if (head == "shl" || head == "shr") return ValueRule::shifts;
  if (head == "prmt") return ValueRule::permutes;
  if (head == "bfe") return ValueRule::extracts;
  if (head == "bfi") return ValueRule::inserts;
  if (head == "setp") return ValueRule::compares;
  const bool computes = ir::dependence_of(*program.module, i) != ir::Dependence::none;
  return computes ? ValueRule::computes : ValueRule::needs;
}

int register_bytes(const Program& program, std::uint32_t reg) {
  return std::max(1, isa::bytes(program.function->registers[reg].type));
}

Undefined undefined(const UndefinedRegisters& registers, std::uint32_t reg, int lane, int bytes) {
  const auto found = registers.find(reg);
  if (found == registers.end() || (found->second.lanes >> lane & 1) == 0) return {};
  const Undefined& value = found->second.of[lane];
  if (value.load->reported) return {};
  return both(value, {}, value.bytes & low(bytes));
}

std::uint8_t extended(std::uint8_t bytes, int from, int to, bool is_signed) {
  const unsigned kept = bytes & low(std::min(from, to));
  const bool sign = is_signed && from < to && (bytes >> (from - 1) & 1) != 0;
  return byte_mask(sign ? kept | (low(to) & ~low(from)) : kept);
}

const isa::Spelling& ValueStep::spelling() const {
  return program.module->spellings[program.function->instructions[index].form];
}

std::span<const Operand> ValueStep::operands() const {
  return program.function->operands(program.function->instructions[index]);
}

int ValueStep::bytes_of(std::size_t operand) const {
  return operand < isa::kMaxOperands ? std::max(1, isa::bytes(spelling().types[operand])) : 8;
}

Undefined ValueStep::source(const Operand& operand, int bytes) const {
  return operand.kind == OperandKind::reg ? undefined(registers, operand.index, lane, bytes) : Undefined{};
}

Undefined ValueStep::source(std::size_t operand) const { return source(operands()[operand], bytes_of(operand)); }

// A number or a register; none for other operands.
std::optional<std::uint64_t> ValueStep::value(std::size_t operand) const {
  const Operand& o = operands()[operand];
  if (o.kind == OperandKind::integer) return static_cast<std::uint64_t>(o.value);
  if (o.kind != OperandKind::reg || program.function->registers[o.index].components != 1) return std::nullopt;
  Warp* const w = const_cast<Warp*>(&warp); // rows are read only
  const std::uint32_t at = program.register_rows[o.index];
  switch (isa::bytes(program.function->registers[o.index].type)) {
  case 0: return (predicate(w, at) >> lane & 1) ^ (o.negated ? 1u : 0u);
  case 1: return row<std::uint8_t>(w, at)[lane];
  case 2: return row<std::uint16_t>(w, at)[lane];
  case 4: return row<std::uint32_t>(w, at)[lane];
  case 8: return row<std::uint64_t>(w, at)[lane];
  default: return std::nullopt;
  }
}

std::optional<unsigned> ValueStep::number(std::size_t operand) const {
  const Operand& o = operands()[operand];
  if (o.kind != OperandKind::integer) return std::nullopt;
  return static_cast<unsigned>(std::min<std::uint64_t>(static_cast<std::uint64_t>(o.value), 1u << 16));
}

Undefined ValueStep::result(ValueRule rule, std::size_t element) const {
  switch (rule) {
  case ValueRule::moves: return moved(element);
  case ValueRule::converts: return converted();
  case ValueRule::selects: return selected();
  case ValueRule::ands: return masked(0);
  case ValueRule::ors: return masked(0xff);
  case ValueRule::bitwise: return bitwise();
  case ValueRule::shifts: return shifted();
  case ValueRule::permutes: return permuted();
  case ValueRule::extracts: return extracted();
  case ValueRule::inserts: return inserted();
  case ValueRule::compares: return compared();
  default: return all_if_any();
  }
}

Undefined ValueStep::all_if_any() const {
  const auto list = operands();
  for (std::size_t n = 1; n < list.size(); ++n)
    for (const Operand& o : program.function->each_of(list[n]))
      if (const Undefined u = source(o, 8); u.bytes != 0) return {0xff, u.load};
  return {};
}

// mov, also from and to vectors: {%rs1, %rs2} has the bytes of %r1.
Undefined ValueStep::moved(std::size_t element) const {
  const auto from = program.function->each_of(operands()[1]);
  const auto to = program.function->each_of(operands()[0]);
  const bool by_element = spelling().entry->family == isa::Family::vector_move;
  const auto whole = static_cast<std::size_t>(by_element ? bytes_of(0) * static_cast<int>(to.size()) : bytes_of(0));
  const std::size_t read = whole / from.size(), written = whole / to.size();
  if (written > 8) return all_if_any();
  Undefined result;
  for (std::size_t b = 0; b < written && read != 0; ++b) {
    const std::size_t at = element * written + b;
    if (at / read >= from.size()) break;
    const Undefined u = source(from[at / read], 8);
    if ((u.bytes >> at % read & 1) != 0) result = both(result, u, result.bytes | 1u << b);
  }
  return result;
}

Undefined ValueStep::converted() const {
  const isa::Type to = spelling().types[0], from = spelling().types[1];
  if (!isa::is_integer(to) || !isa::is_integer(from) || spelling().has(Word::w_sat)) return all_if_any();
  const Undefined u = source(1);
  return both(u, {}, extended(u.bytes, bytes_of(1), bytes_of(0), isa::is_signed(from)));
}

Undefined ValueStep::selected() const {
  if (const Undefined choice = source(3); choice.bytes != 0) return {0xff, choice.load};
  return source(value(3).value_or(0) != 0 ? 1 : 2);
}

// A byte of and is defined if a defined byte of 0 makes the other one irrelevant; of or, one of 255. For predicates,
// which have one bit, the same is true of false and true.
Undefined ValueStep::masked(std::uint8_t absorbing) const {
  const Undefined a = source(1), b = source(2);
  const bool is_predicate = spelling().types[0] == isa::Type::pred;
  unsigned bytes = a.bytes | b.bytes;
  const auto absorbed_by = [&](std::size_t operand, Undefined self) {
    const std::optional<std::uint64_t> bits = value(operand);
    if (!bits) return 0u;
    const std::uint64_t v = is_predicate ? *bits * 0xff : *bits;
    unsigned absorbed = 0;
    for (unsigned i = 0; i < 8; ++i)
      if ((self.bytes >> i & 1) == 0 && (v >> 8 * i & 0xff) == absorbing) absorbed |= 1u << i;
    return absorbed;
  };
  bytes &= ~absorbed_by(1, a) & ~absorbed_by(2, b);
  return both(a, b, bytes);
}

Undefined ValueStep::bitwise() const {
  Undefined result;
  for (std::size_t n = 1; n < operands().size(); ++n)
    if (const Undefined u = source(n); u.bytes != 0) result = both(result, u, result.bytes | u.bytes);
  return result;
}

Undefined ValueStep::shifted() const {
  const std::optional<unsigned> by = number(2);
  if (!by) return all_if_any();
  const Undefined u = source(1);
  const unsigned bits = 8 * static_cast<unsigned>(bytes_of(0)), n = std::min(*by, bits), q = n / 8;
  const bool left = program.function->instructions[index].head() == "shl", apart = n % 8 != 0;
  unsigned bytes = 0;
  if (left) {
    bytes = unsigned{u.bytes} << q | (apart ? unsigned{u.bytes} << (q + 1) : 0);
  } else {
    const bool is_signed = isa::is_signed(spelling().types[0]);
    const bool sign = is_signed && (u.bytes >> (bits / 8 - 1) & 1) != 0;
    const unsigned wide = sign ? u.bytes | 0xff00u | (0xffu & ~low(static_cast<int>(bits / 8))) : u.bytes;
    bytes = wide >> q | (apart ? wide >> (q + 1) : 0);
  }
  return both(u, {}, bytes & low(bytes_of(0)));
}

Undefined ValueStep::permuted() const {
  const std::optional<unsigned> selector = number(3);
  if (!selector || spelling().form.count > 1) return all_if_any(); // further words: another mode
  const Undefined a = source(1), b = source(2);
  const unsigned eight = a.bytes | unsigned{b.bytes} << 4;
  Undefined result;
  for (unsigned i = 0; i < 4; ++i)
    if (const unsigned from = *selector >> 4 * i & 7; (eight >> from & 1) != 0)
      result = both(result, from < 4 ? a : b, result.bytes | 1u << i);
  return result;
}

Undefined ValueStep::extracted() const {
  const std::optional<unsigned> first = number(2), count = number(3);
  if (!first || !count) return all_if_any();
  const Undefined u = source(1);
  if ((u.bytes & bytes_with(*first, *count)) == 0) return {};
  return both(u, {}, isa::is_signed(spelling().types[0]) ? 0xffu : bytes_with(0, *count));
}

Undefined ValueStep::inserted() const {
  const std::optional<unsigned> first = number(3), count = number(4);
  if (!first || !count) return all_if_any();
  const Undefined field = source(1), rest = source(2);
  const unsigned touched = bytes_with(*first, *count);
  const unsigned within = low(static_cast<int>((*first + *count) / 8)) & ~low(static_cast<int>((*first + 7) / 8));
  const bool dirty = (field.bytes & bytes_with(0, *count)) != 0;
  return both(dirty ? field : rest, rest, (rest.bytes & ~within) | (dirty ? touched : 0));
}

// setp.lt.and.f32 p, a, b, c: false if c is, whatever a and b are.
Undefined ValueStep::compared() const {
  const auto list = operands();
  if (list.size() > 3 && source(3).bytes == 0) {
    const std::optional<std::uint64_t> c = value(3);
    if (c && spelling().has(Word::w_and_) && *c == 0) return {};
    if (c && spelling().has(Word::w_or_) && *c != 0) return {};
  }
  return all_if_any();
}

} // namespace warplens::exec::init
