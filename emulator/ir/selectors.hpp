// Which bytes and halves of its registers a video instruction may select (PTX manual, 9.7.18).
//
//   vadd2 %r1.h10, %r2.h30, …   selector_fits(%r2.h30, its place) is true
#pragma once

#include "emulator/ir/module.hpp"

namespace warplens::ir {

// May a register of a video instruction have the selector that it has? (PTX manual, 9.7.18.)
inline bool selector_fits(const Operand& operand, const isa::OperandSpec& spec) {
  const std::uint8_t c = operand.component;
  const bool byte = c >= kByte0 && c < kHalf0, half = c >= kHalf0 && c < kHalves;
  switch (spec.selectors) {
  case isa::Selectors::none: return false;
  case isa::Selectors::part: return byte || half;
  case isa::Selectors::halves: return spec.destination ? half || (c == kHalves && operand.value == 0x10) : c == kHalves;
  case isa::Selectors::bytes:
    return spec.destination ? byte || c == kSomeBytes || (c == kBytes && operand.value == 0x3210) : c == kBytes;
  }
  return false;
}

inline std::string_view selectors_of(const isa::OperandSpec& spec) {
  switch (spec.selectors) {
  case isa::Selectors::none: return "only video instructions select bytes and halves of registers";
  case isa::Selectors::part: return "it may be one of .b0 to .b3, .h0 and .h1";
  case isa::Selectors::halves:
    return spec.destination ? "it may be .h0, .h1 or .h10" : "it may be .h and two digits from 0 to 3, such as .h30";
  case isa::Selectors::bytes:
    return spec.destination ? "it may be .b and digits that go down from 3, such as .b0, .b31 or .b3210"
                            : "it may be .b and four digits from 0 to 7, such as .b7531";
  }
  return {};
}

} // namespace warplens::ir
