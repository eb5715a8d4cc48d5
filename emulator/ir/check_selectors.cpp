// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/check_selectors.hpp"

namespace warplens::ir {

using isa::OperandSpec;

bool selector_fits(const Operand& operand, const OperandSpec& spec) {
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

std::string_view selectors_of(const OperandSpec& spec) {
  switch (spec.selectors) {
  case isa::Selectors::none: return "only video instructions select bytes and halves of registers";
  case isa::Selectors::part: return "valid selectors are .b0 to .b3, .h0 and .h1";
  case isa::Selectors::halves:
    return spec.destination ? "valid selectors are .h0, .h1 and .h10"
                            : "a valid selector is .h and two digits from 0 to 3, such as .h30";
  case isa::Selectors::bytes:
    return spec.destination ? "a valid selector is .b and descending digits from 3 to 0, such as .b0, .b31 or .b3210"
                            : "a valid selector is .b and four digits from 0 to 7, such as .b7531";
  }
  return {};
}

} // namespace warplens::ir
