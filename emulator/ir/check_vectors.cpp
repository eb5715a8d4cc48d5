// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/check_vectors.hpp"

#include <algorithm>

namespace warplens::ir {

using isa::Class;

namespace {

// Halves, pairs of them, and narrower numbers are bits to a vector.
bool is_number(Type type) {
  switch (type) {
  case Type::u8:
  case Type::s8:
  case Type::u16:
  case Type::s16:
  case Type::u32:
  case Type::s32:
  case Type::u64:
  case Type::s64:
  case Type::f32:
  case Type::f64: return true;
  default: return false;
  }
}
bool is_floating_number(Type type) { return type == Type::f32 || type == Type::f64; }

} // namespace

VectorElements::VectorElements(const Module& module, const Function& function, std::span<const Operand> elements,
                               const isa::OperandSpec& spec, Type type, const isa::Spelling& spelling)
    : module_(module), function_(function), spec_(spec), type_(type), width_(isa::bits(type)),
      specials_(spelling.entry->family != isa::Family::tensor_transfer) {
  const auto first =
      std::find_if(elements.begin(), elements.end(), [](const Operand& e) { return e.kind == OperandKind::reg; });
  if (first != elements.end() && spec.relaxed)
    width_ = std::max(width_, isa::bits(function.registers[first->index].type));
}

bool VectorElements::fits(const Operand& element) const {
  const bool wider = width_ > isa::bits(type_), counts = !is_floating_number(type_) || wider;
  switch (element.kind) {
  case OperandKind::reg: return register_fits(function_.registers[element.index].type);
  case OperandKind::sink: return spec_.destination && !spec_.accumulates && specials_;
  case OperandKind::integer:
  case OperandKind::warp_size: return !spec_.destination && counts;
  case OperandKind::real32: return !spec_.destination && (type_ == Type::f32 || type_ == Type::b32);
  case OperandKind::real64: return !spec_.destination && (is_floating_number(type_) || type_ == Type::b64);
  case OperandKind::special: return !spec_.destination && special_fits(element);
  default: return false;
  }
}

bool VectorElements::register_fits(Type have) const {
  if (have == Type::pred || isa::bits(have) != width_) return false;
  const Class kind = isa::info(have).kind;
  const bool wider = width_ > isa::bits(type_);
  constexpr int kLeastOfFloats = 32;
  const bool bits = !is_number(type_) || (is_floating_number(type_) && wider);
  if (bits) return !wider || kind != Class::floating || isa::bits(type_) >= kLeastOfFloats;
  if (is_floating_number(type_)) return have == type_ || kind == Class::untyped;
  return have != Type::f16x2 && kind != Class::floating;
}

bool VectorElements::special_fits(const Operand& element) const {
  const isa::SpecialRegisterInfo& has = isa::info(static_cast<isa::Special>(element.index));
  constexpr int kWidth = 32;
  const bool one =
      has.components > 1 ? element.component != 0 && element.component <= has.components : element.component == 0;
  return specials_ && one && width_ == kWidth && isa::bits(has.type) == kWidth && has.ptx <= module_.version &&
         has.sm <= module_.sm;
}

} // namespace warplens::ir
