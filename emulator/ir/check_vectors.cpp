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

/// Untyped, signed for integers, floating, and opaque for .f16x2; none for what can be anything.
Class kind_of(const Function& function, const Operand& element) {
  switch (element.kind) {
  case OperandKind::reg: {
    const Type type = function.registers[element.index].type;
    const Class kind = isa::info(type).kind;
    if (type == Type::f16x2) return Class::opaque;
    return kind == Class::unsigned_integer ? Class::signed_integer : kind == Class::predicate ? Class::none : kind;
  }
  case OperandKind::integer:
  case OperandKind::warp_size: return Class::signed_integer;
  case OperandKind::real32:
  case OperandKind::real64: return Class::floating;
  default: return Class::none;
  }
}

} // namespace

ElementKinds kinds_of(const Function& function, std::span<const Operand> elements) {
  ElementKinds kinds;
  Class before = Class::none;
  for (const Operand& e : elements) {
    if (e.kind == OperandKind::sink) continue;
    const Class kind = kind_of(function, e);
    kinds.untyped = kinds.untyped || kind == Class::untyped;
    const auto is_free = [](Class c) { return c == Class::none || c == Class::untyped; };
    kinds.mixed = kinds.mixed || (!is_free(before) && !is_free(kind) && kind != before);
    before = kind;
  }
  return kinds;
}

VectorElements::VectorElements(const Module& module, const Function& function, std::span<const Operand> elements,
                               const isa::OperandSpec& spec, Type type, const isa::Spelling& spelling)
    : module_(module), function_(function), spec_(spec), type_(type), width_(isa::bits(type)),
      specials_(spelling.entry->family != isa::Family::tensor_transfer) {
  kinds_ = kinds_of(function, elements);
  if (!specials_) kinds_.mixed = false; // they move words
  const auto first =
      std::find_if(elements.begin(), elements.end(), [](const Operand& e) { return e.kind == OperandKind::reg; });
  if (first != elements.end() && spec.relaxed)
    width_ = std::max(width_, isa::bits(function.registers[first->index].type));
}

bool VectorElements::fits(const Operand& element) const {
  if (kinds_.mixed) return false;
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
  if (kinds_.untyped) return true;
  const Class kind = isa::info(have).kind;
  const bool wider = width_ > isa::bits(type_);
  if (type_ == Type::f16x2 && have != type_ && (kind == Class::floating || integers_are_floats())) return false;
  if (!is_number(type_)) return true;
  if (is_floating_number(type_)) return have == type_ || ((wider || integers_are_floats()) && kind != Class::floating);
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
