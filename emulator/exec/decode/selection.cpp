// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/decode/selection.hpp"

#include "emulator/isa/selection.hpp"

namespace warplens::exec {

namespace {

using ir::Operand;

constexpr int kExpandedTarget = 70; // from here on, the assembler expands scalar video instructions

struct Part {
  std::uint64_t shift = 0, bits = 32;
};
Part part_of(const Operand& operand) {
  const std::uint64_t component = operand.component;
  if (component >= ir::kHalf0 && component < ir::kHalves) return {16 * (component - ir::kHalf0), 16};
  if (component >= ir::kByte0 && component < ir::kHalf0) return {8 * (component - ir::kByte0), 8};
  return {};
}

std::uint64_t of_parts(std::span<const Operand> operands) {
  const Part d = part_of(operands[0]), a = part_of(operands[1]), b = part_of(operands[2]);
  const bool negated_product = operands[1].negated != operands[2].negated;
  const bool negated_addend = operands.size() > 3 && operands[3].negated;
  return a.shift << isa::kShiftOfA | (a.bits - 1) << isa::kBitsOfA | b.shift << isa::kShiftOfB |
         (b.bits - 1) << isa::kBitsOfB | d.shift << isa::kShiftOfResult | (d.bits - 1) << isa::kBitsOfResult |
         std::uint64_t{negated_product} << isa::kNegatedProduct | std::uint64_t{negated_addend} << isa::kNegatedAddend;
}

// The digits of a selection, lowest first. For %r1.h1 or %r1.b3, this is the number of the part.
template <class Each> void for_each_digit(const Operand& operand, Each each) {
  if (operand.component < ir::kHalves) {
    const Part part = part_of(operand);
    each(part.shift / part.bits);
    return;
  }
  auto rest = static_cast<std::uint64_t>(operand.value);
  do {
    each(rest & 15);
    rest >>= 4;
  } while (rest != 0);
}

// The selected bytes of the eight bytes of b:a. Half n consists of bytes 2n and 2n + 1.
std::uint64_t bytes_of(const Operand& operand, std::uint64_t unless_selected) {
  const auto digits = static_cast<std::uint64_t>(operand.value);
  if (operand.component == ir::kBytes) return digits;
  if (operand.component != ir::kHalves) return unless_selected;
  const auto both = [](std::uint64_t half) { return (2 * half + 1) << 4 | 2 * half; };
  return both(digits >> 4) << 8 | both(digits & 15);
}

std::uint64_t of_elements(std::span<const Operand> operands) {
  std::uint64_t written = operands[0].component == 0 ? 15 : 0;
  if (written == 0) for_each_digit(operands[0], [&](std::uint64_t element) { written |= std::uint64_t{1} << element; });
  return bytes_of(operands[1], 0x3210) << isa::kBytesOfA | bytes_of(operands[2], 0x7654) << isa::kBytesOfB |
         written << isa::kWritten;
}

} // namespace

std::uint64_t selection(const isa::Spelling& spelling, std::span<const ir::Operand> operands, int sm) {
  const isa::Selectors selectors = spelling.entry->operands.items[1].selectors;
  const isa::Form& form = spelling.form;
  const bool expanded = sm >= kExpandedTarget && selectors == isa::Selectors::part;
  const int result = form.type_count() - 3; // a comparison has no type for its result
  const auto is_signed = [&](int type) {
    if (type < 0 && expanded) return std::uint64_t{isa::is_signed(form.type(0))}; // c is compared as of the type of a
    return std::uint64_t{type >= 0 && isa::is_signed(form.type(type))};
  };
  return (selectors == isa::Selectors::part ? of_parts(operands) : of_elements(operands)) |
         is_signed(result) << isa::kSignedResult | is_signed(result + 1) << isa::kSignedA |
         is_signed(result + 2) << isa::kSignedB | std::uint64_t{expanded} << isa::kExpanded;
}

} // namespace warplens::exec
