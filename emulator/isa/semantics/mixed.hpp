// SPDX-License-Identifier: Apache-2.0
// Mixed precision, f16 or bf16 with f32: PTX manual, section 9.7.5.
#pragma once

#include "emulator/isa/semantics/half.hpp"

namespace warplens::isa::WARPLENS_LEVEL {

template <Form f> struct AddMixed { // 9.7.5.1: a is widened
  static constexpr Rounding rounding = rounding_of(f);
  static float lane(std::uint16_t a, float c) { return result<f>(widened_value<f.type(1)>(a) + c); }
};

template <Form f> struct SubtractMixed { // 9.7.5.2
  static constexpr Rounding rounding = rounding_of(f);
  static float lane(std::uint16_t a, float c) { return result<f>(widened_value<f.type(1)>(a) - c); }
};

template <Form f> struct FusedMultiplyAddMixed { // 9.7.5.3: a and b are widened
  static constexpr Rounding rounding = rounding_of(f);
  static float lane(std::uint16_t a, std::uint16_t b, float c) {
    return result<f>(fused(widened_value<f.type(1)>(a), widened_value<f.type(1)>(b), c));
  }
};

} // namespace warplens::isa::WARPLENS_LEVEL
