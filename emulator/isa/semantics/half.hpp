// SPDX-License-Identifier: Apache-2.0
// Half precision arithmetic, f16, bf16 and pairs of them: PTX manual, section 9.7.4. Lanes are bits; the operation is
// done in a wider type in which it is exact, or exact enough that rounding it once more changes nothing, and rounded.
#pragma once

#include "emulator/isa/semantics/floating.hpp"

namespace warplens::isa::WARPLENS_LEVEL {

constexpr bool is_pair(Type t) { return t == Type::f16x2 || t == Type::bf16x2; }
/// f16 for f16 and f16x2, bf16 for bf16 and bf16x2.
constexpr Type half_of(Type t) { return t == Type::f16x2 ? Type::f16 : t == Type::bf16x2 ? Type::bf16 : t; }

// Applies an operation on halves to a scalar or to both halves of a pair. The operation takes and gives a half as the
// lower bits of a word: with 16-bit integers, the compiler would pack and unpack vectors at every step.
template <class Operation, class... A> inline std::uint16_t each_half(Operation op, std::uint16_t a, A... rest) {
  return static_cast<std::uint16_t>(op(a, rest...));
}
template <class Operation, class... A> inline std::uint32_t each_half(Operation op, std::uint32_t a, A... rest) {
  const auto low = [](std::uint32_t x) { return static_cast<std::uint16_t>(x); };
  const auto high = [](std::uint32_t x) { return static_cast<std::uint16_t>(x >> 16); };
  const std::uint32_t upper = op(high(a), high(rest)...);
  return upper << 16 | op(low(a), low(rest)...);
}

// Flushes a subnormal to zero of the same sign.
template <Type t> inline std::uint32_t flushed_half(std::uint32_t h) {
  constexpr std::uint32_t exponent = t == Type::f16 ? 0x7c00 : 0x7f80;
  return (h & exponent) == 0 ? h & 0x8000u : h;
}
template <Form f> inline std::uint32_t half_input(std::uint32_t h) {
  return f.has(Word::w_ftz) ? flushed_half<half_of(f.type())>(h) : h;
}
template <Form f> inline float half_value(std::uint32_t h) {
  return widened_value<half_of(f.type())>(half_input<f>(h));
}
// Rounds to the half type; with .ftz (as in output_from), .sat ([0, 1], NaN to +0), .relu (negative to +0, NaN
// canonical).
template <Form f, class S> inline std::uint32_t half_output(S x) {
  constexpr Type t = half_of(f.type());
  if constexpr (f.has(Word::w_sat)) x = saturated(x);
  if constexpr (f.has(Word::w_relu)) x = relu(x);
  if constexpr (f.has(Word::w_ftz)) {
    constexpr S limit = S(t == Type::f16 ? 0x1.ffep-15 : 0x1.ffp-127); // what rounds to the least normal number
    x = from_bits<S>(magnitude_bits(x) < bits_of(limit) ? bits_of(x) & kSignBit<S> : bits_of(x));
  }
  return narrowed<t, Rounding::nearest>(x);
}

template <Form f> struct AddHalf { // 9.7.4.1; float has more than twice the digits, so rounding twice is harmless
  using T = Lane<f.type()>;
  static T lane(T a, T b) {
    return each_half(
        [](std::uint32_t x, std::uint32_t y) { return half_output<f>(half_value<f>(x) + half_value<f>(y)); }, a, b);
  }
};

template <Form f> struct SubtractHalf { // 9.7.4.2
  using T = Lane<f.type()>;
  static T lane(T a, T b) {
    return each_half(
        [](std::uint32_t x, std::uint32_t y) { return half_output<f>(half_value<f>(x) - half_value<f>(y)); }, a, b);
  }
};

template <Form f> struct MultiplyHalf { // 9.7.4.3
  using T = Lane<f.type()>;
  static T lane(T a, T b) {
    return each_half(
        [](std::uint32_t x, std::uint32_t y) { return half_output<f>(half_value<f>(x) * half_value<f>(y)); }, a, b);
  }
};

// a * b + c rounded to odd: the last digit records inexactness, so that the subsequent rounding is correct. The product
// of two halves must be exact in S.
template <class S> inline S product_plus_to_odd(S a, S b, S c) {
  const S product = a * b, sum = product + c;
  const S c_part = sum - product;
  const S error = (product - (sum - c_part)) + (c - c_part);
  const BitsOf<S> bits = bits_of(sum);
  const bool inexact = error > 0 || error < 0; // not where the sum is infinite or NaN
  const BitsOf<S> step = (error > 0) == (sum > 0) ? BitsOf<S>{1} : ~BitsOf<S>{0};
  return std::bit_cast<S>(inexact && (bits & 1) == 0 ? bits + step : bits);
}

// The NaN that tensor copies fill in beyond a tensor's edge: .oob makes the result 0. The manual does not give its
// bits; these are what an H200 takes for it, of all halves, in f16 and in bf16.
inline bool is_out_of_bounds(std::uint32_t h) { return (h & 0x7fffu) == 0x7ff7u; }

template <Form f> struct FusedMultiplyAddHalf { // 9.7.4.4; any rounding is to nearest
  static constexpr Form same = without_rounding(f);
  using T = Lane<f.type()>;
  using S = std::conditional_t<half_of(f.type()) == Type::f16, float, double>; // bf16 has the exponents of float
  static T lane(T a, T b, T c) {
    return each_half(
        [](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
          const std::uint32_t sum =
              half_output<f>(product_plus_to_odd<S>(half_value<f>(x), half_value<f>(y), half_value<f>(z)));
          if constexpr (f.has(Word::w_oob)) return is_out_of_bounds(x) || is_out_of_bounds(y) ? 0u : sum;
          return sum;
        },
        a, b, c);
  }
};

// Every NaN becomes the same.
template <Type t> inline std::uint32_t canonical_half(std::uint32_t h) {
  constexpr std::uint32_t infinity = t == Type::f16 ? 0x7c00 : 0x7f80;
  return (h & 0x7fffu) > infinity ? 0x7fffu : h;
}

template <Form f> struct NegateHalf { // 9.7.4.5
  using T = Lane<f.type()>;
  static T lane(T a) {
    return each_half([](std::uint32_t x) { return canonical_half<half_of(f.type())>(half_input<f>(x) ^ 0x8000u); }, a);
  }
};

template <Form f> struct AbsoluteHalf { // 9.7.4.6
  using T = Lane<f.type()>;
  static T lane(T a) {
    return each_half([](std::uint32_t x) { return canonical_half<half_of(f.type())>(half_input<f>(x) & 0x7fffu); }, a);
  }
};

template <Form f, bool smaller> struct ExtremeHalf { // 9.7.4.7, 9.7.4.8
  using T = Lane<f.type()>;
  static T lane(T a, T b) {
    constexpr int unused = 8 * sizeof(T) - 16; // a half is compared in the upper bits of a lane
    constexpr T infinity = half_of(f.type()) == Type::f16 ? 0x7c00 : 0x7f80;
    const auto one = [](T x, T y) {
      const auto flushed = [](T h) {
        if constexpr (!f.has(Word::w_ftz)) return h;
        return static_cast<T>((h & infinity << unused) == 0 ? h & T{0x8000} << unused : h);
      };
      return extreme<f, smaller>(flushed(x), flushed(y), static_cast<T>(infinity << unused),
                                 static_cast<T>(T{0x7fff} << unused));
    };
    if constexpr (unused == 0)
      return one(a, b);
    else
      return (one(a & 0xffff0000u, b & 0xffff0000u) & 0xffff0000u) | one(a << 16, b << 16) >> 16;
  }
};
template <Form f> struct MinimumHalf : ExtremeHalf<f, true> {};
template <Form f> struct MaximumHalf : ExtremeHalf<f, false> {};

} // namespace warplens::isa::WARPLENS_LEVEL
