// SPDX-License-Identifier: Apache-2.0
// Which operands of a division, root or reciprocal that rounds are special: machine code tests them, and calls a
// subroutine for them. The tests are those of the code of ptxas 13.0 for sm_90, on the exponents, and confirmed by
// tests/data/hardware/special_operands_h200.csv.
//
//   div.rn.f64 %fd3, %fd1, %fd2;   // special if %fd1 is less than 2^-969, and if the quotient is not a normal number
#include "emulator/exec/block/control.hpp"
#include "emulator/exec/decode/decoder.hpp"
#include "emulator/ir/opcode_parts.hpp"

#include <fmt/format.h>

namespace warplens::exec {

namespace {

/// The numbers from `first` to `last`.
struct Range {
  std::uint32_t first, last;
};

/// Of f32, or of f64.
struct Exponents {
  std::uint32_t position; ///< in the upper 32 bits
  Range numerator, denominator;
  Range difference; ///< of both, plus `kShift`
  Range root, reciprocal;
};
constexpr std::uint32_t kShift = 4096;
constexpr Exponents kSingle = {23, {25, 254}, {2, 251}, {kShift - 124, kShift + 126}, {26, 254}, {1, 252}};
constexpr Exponents kDouble = {20, {54, 2046}, {1, 2039}, {kShift - 1022, kShift + 1017}, {53, 2046}, {1, 2044}};

} // namespace

/// The sign and the exponent of an operand, as a number.
std::uint32_t Decoder::sign_and_exponent(const ir::Operand& operand, isa::Type type) {
  std::uint32_t word = source(operand, type, false);
  if (type == isa::Type::f64) {
    const std::uint32_t upper = file_.temporary(8), low = file_.temporary(4);
    lane_as("shr.u64", {upper}, {word, file_.constant(4, 32)});
    lane_as("cvt.u32.u64", {low}, {upper});
    word = low;
  }
  const std::uint32_t exponent = file_.temporary(4);
  lane_as("shr.u32", {exponent},
          {word, file_.constant(4, type == isa::Type::f64 ? kDouble.position : kSingle.position)});
  return exponent;
}

/// outside |= number is not from `first` to `last`
void Decoder::or_outside(std::uint32_t outside, std::uint32_t number, std::uint32_t first, std::uint32_t last) {
  const std::uint32_t distance = file_.temporary(4), is = file_.temporary(0);
  lane_as("sub.u32", {distance}, {number, file_.constant(4, first)});
  lane_as("setp.gt.u32", {is}, {distance, file_.constant(4, last - first)});
  lane_as("or.pred", {outside}, {outside, is});
}

void Decoder::tell_special_operands(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  const isa::Type type = spelling.form.type();
  const std::string_view head = current_->head();
  const bool divides = head == "div", root = head == "sqrt", reciprocal = head == "rcp";
  if (type != isa::Type::f32 && type != isa::Type::f64) return;
  if (!(divides || root || reciprocal) || !ir::rounds(*current_)) return;
  const Exponents& of = type == isa::Type::f64 ? kDouble : kSingle;
  const std::uint32_t outside = file_.temporary(0);
  lane_as("mov.pred", {outside}, {file_.always()});
  lane_as("not.pred", {outside}, {outside});
  const std::uint32_t a = sign_and_exponent(operands[1], type);
  if (root) {
    or_outside(outside, a, of.root.first, of.root.last); // of a negative number, too: the sign is above the exponent
  } else {
    const std::uint32_t mask = file_.constant(4, type == isa::Type::f64 ? 0x7ff : 0xff);
    lane_as("and.b32", {a}, {a, mask});
    if (reciprocal) {
      or_outside(outside, a, of.reciprocal.first, of.reciprocal.last);
    } else {
      const std::uint32_t b = sign_and_exponent(operands[2], type), difference = file_.temporary(4);
      lane_as("and.b32", {b}, {b, mask});
      or_outside(outside, a, of.numerator.first, of.numerator.last);
      or_outside(outside, b, of.denominator.first, of.denominator.last);
      lane_as("sub.u32", {difference}, {a, b});
      lane_as("add.u32", {difference}, {difference, file_.constant(4, kShift)});
      or_outside(outside, difference, of.difference.first, of.difference.last);
    }
  }
  if (current_->guard != ir::kNone) { // what is in other lanes is left from before
    Op& both = emit(predicate_and, {outside}, {outside, guard_});
    both.imm = current_->guard_negated ? -1 : 0;
    both.guard = file_.always();
    both.guard_flip = 0;
  }
  Op& tell = emit(exec::tell_special_operands);
  tell.guard = outside;
  tell.guard_flip = 0;
}

} // namespace warplens::exec
