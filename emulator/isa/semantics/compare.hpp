// SPDX-License-Identifier: Apache-2.0
// Comparison and selection: PTX manual, sections 9.7.6 and 9.7.7 (half precision).
#pragma once

#include "emulator/isa/semantics/half.hpp"

namespace warplens::isa::WARPLENS_LEVEL {

// The comparison that the first word names. eq … ge are false for NaN, equ … geu true; lo ls hi hs compare unsigned.
template <Word op, class T> inline bool compared(T a, T b) {
  if constexpr (op == Word::w_eq)
    return a == b;
  else if constexpr (op == Word::w_ne)
    return a < b || a > b;
  else if constexpr (op == Word::w_lt || op == Word::w_lo)
    return a < b;
  else if constexpr (op == Word::w_le || op == Word::w_ls)
    return a <= b;
  else if constexpr (op == Word::w_gt || op == Word::w_hi)
    return a > b;
  else if constexpr (op == Word::w_ge || op == Word::w_hs)
    return a >= b;
  else if constexpr (op == Word::w_equ)
    return !(a < b || a > b);
  else if constexpr (op == Word::w_neu)
    return !(a == b);
  else if constexpr (op == Word::w_ltu)
    return !(a >= b);
  else if constexpr (op == Word::w_leu)
    return !(a > b);
  else if constexpr (op == Word::w_gtu)
    return !(a <= b);
  else if constexpr (op == Word::w_geu)
    return !(a < b);
  else if constexpr (op == Word::w_num)
    return a == a && b == b;
  else
    return !(a == a && b == b); // nan
}

template <Form f> struct Compare { // setp, 9.7.6.2; combination with a predicate and the second result: decoder
  using T = Lane<f.type()>;
  static bool lane(T a, T b) {
    if constexpr (f.has(Word::w_ftz))
      return compared<f.words[0]>(flushed(a), flushed(b));
    else
      return compared<f.words[0]>(a, b);
  }
};

template <Form f> struct CompareHalf { // setp, 9.7.7.2
  static bool lane(std::uint16_t a, std::uint16_t b) {
    return compared<f.words[0]>(half_value<f>(a), half_value<f>(b));
  }
};

template <Form f> struct CompareHalfPair { // setp, 9.7.7.2: a predicate for the lower half, one for the upper
  static Both<bool, bool> lane(std::uint32_t a, std::uint32_t b) {
    const auto half = [](std::uint32_t x, std::uint32_t y) {
      return compared<f.words[0]>(half_value<f>(x), half_value<f>(y));
    };
    return {half(a & 0xffffu, b & 0xffffu), half(a >> 16, b >> 16)};
  }
};

template <Form f> struct SetHalfPair { // set, 9.7.7.1: 1.0 in each half, or all ones for an integer destination
  static constexpr Form same = is_float(f.type(0)) ? f : f.as_bits();
  static constexpr Type source = f.type(1);
  static constexpr std::uint32_t yes = is_float(f.type(0)) ? (half_of(source) == Type::f16 ? 0x3c00 : 0x3f80) : 0xffff;
  static std::uint32_t lane(std::uint32_t a, std::uint32_t b) {
    return each_half(
        [](std::uint32_t x, std::uint32_t y) {
          constexpr Type t = half_of(source);
          if constexpr (f.has(Word::w_ftz)) x = flushed_half<t>(x), y = flushed_half<t>(y);
          return compared<f.words[0]>(widened_value<t>(x), widened_value<t>(y)) ? yes : 0u;
        },
        a, b);
  }
};

template <Form f> struct Select { // selp, 9.7.6.3
  static constexpr Form same = f.as_bits();
  using T = Lane<f.type()>;
  static T lane(T a, T b, bool p) { return p ? a : b; }
};

template <Form f> struct SelectBySign { // slct, 9.7.6.4: -0 counts as 0, NaN selects b
  static constexpr Form same = f.as_bits();
  using T = Lane<f.type(0)>;
  using C = Lane<f.type(1)>;
  static T lane(T a, T b, C c) {
    if constexpr (f.has(Word::w_ftz)) c = flushed(c);
    return c >= C{0} ? a : b;
  }
};

} // namespace warplens::isa::WARPLENS_LEVEL
