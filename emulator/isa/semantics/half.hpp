// Half precision arithmetic, f16, bf16 and pairs of them: PTX manual, section 9.7.4. Lanes are bits; the operation is
// done in a wider type in which it is exact, or exact enough that rounding it once more changes nothing, and rounded.
#pragma once

#include "emulator/isa/semantics/floating.hpp"

namespace warplens::isa::WARPLENS_LEVEL {

constexpr bool is_pair(Type t) { return t == Type::f16x2 || t == Type::bf16x2; }
/// f16 for f16 and f16x2, bf16 for bf16 and bf16x2.
constexpr Type half_of(Type t) { return t == Type::f16x2 ? Type::f16 : t == Type::bf16x2 ? Type::bf16 : t; }

// Applies an operation on 16-bit halves to a scalar or to both halves of a pair.
template <class Operation, class... A> inline std::uint16_t each_half(Operation op, std::uint16_t a, A... rest) {
  return op(a, rest...);
}
template <class Operation, class... A> inline std::uint32_t each_half(Operation op, std::uint32_t a, A... rest) {
  const auto low = [](std::uint32_t x) { return static_cast<std::uint16_t>(x); };
  const auto high = [](std::uint32_t x) { return static_cast<std::uint16_t>(x >> 16); };
  const std::uint32_t upper = op(high(a), high(rest)...);
  return upper << 16 | op(low(a), low(rest)...);
}

// Flushes a subnormal to zero of the same sign.
template <Type t> inline std::uint16_t flushed_half(std::uint16_t h) {
  constexpr std::uint16_t exponent = t == Type::f16 ? 0x7c00 : 0x7f80;
  return (h & exponent) == 0 ? static_cast<std::uint16_t>(h & 0x8000u) : h;
}
template <Form f> inline std::uint16_t half_input(std::uint16_t h) {
  return f.has(Word::w_ftz) ? flushed_half<half_of(f.type())>(h) : h;
}
template <Form f> inline float half_value(std::uint16_t h) {
  return widened_value<half_of(f.type())>(half_input<f>(h));
}
// Rounds to the half type; with .ftz (as in output_from), .sat ([0, 1], NaN to +0), .relu (negative to +0, NaN
// canonical).
template <Form f, class S> inline std::uint16_t half_output(S x) {
  constexpr Type t = half_of(f.type());
  if constexpr (f.has(Word::w_sat)) x = saturated(x);
  if constexpr (f.has(Word::w_relu)) x = x < S{0} || x == S{0} ? S{0} : x;
  if constexpr (f.has(Word::w_ftz)) {
    constexpr S limit = S(t == Type::f16 ? 0x1.ffep-15 : 0x1.ffp-127); // what rounds to the least normal number
    const bool tiny = x > -limit && x < limit;
    x = tiny ? from_bits<S>(bits_of(x) & kSignBit<S>) : x;
  }
  return static_cast<std::uint16_t>(narrowed<t, Rounding::nearest>(x));
}

template <Form f> struct AddHalf { // 9.7.4.1; float has more than twice the digits, so rounding twice is harmless
  using T = Lane<f.type()>;
  static T lane(T a, T b) {
    return each_half(
        [](std::uint16_t x, std::uint16_t y) { return half_output<f>(half_value<f>(x) + half_value<f>(y)); }, a, b);
  }
};

template <Form f> struct SubtractHalf { // 9.7.4.2
  using T = Lane<f.type()>;
  static T lane(T a, T b) {
    return each_half(
        [](std::uint16_t x, std::uint16_t y) { return half_output<f>(half_value<f>(x) - half_value<f>(y)); }, a, b);
  }
};

template <Form f> struct MultiplyHalf { // 9.7.4.3
  using T = Lane<f.type()>;
  static T lane(T a, T b) {
    return each_half(
        [](std::uint16_t x, std::uint16_t y) { return half_output<f>(half_value<f>(x) * half_value<f>(y)); }, a, b);
  }
};

// a * b + c rounded to odd: the last digit tells that something was cut off, so that the rounding that follows is
// right. The product of two halves is exact in double.
inline double product_plus_to_odd(float a, float b, float c) {
  const double p = static_cast<double>(a) * b, q = c;
  const double s = p + q;
  const double q_part = s - p;
  const double error = (p - (s - q_part)) + (q - q_part);
  auto bits = std::bit_cast<std::uint64_t>(s);
  if ((error > 0 || error < 0) && (bits & 1) == 0)
    bits += (error > 0) == (s > 0) ? std::uint64_t{1} : ~std::uint64_t{0};
  return std::bit_cast<double>(bits);
}

template <Form f> struct FusedMultiplyAddHalf { // 9.7.4.4
  using T = Lane<f.type()>;
  static T lane(T a, T b, T c) {
    return each_half(
        [](std::uint16_t x, std::uint16_t y, std::uint16_t z) {
          return half_output<f>(product_plus_to_odd(half_value<f>(x), half_value<f>(y), half_value<f>(z)));
        },
        a, b, c);
  }
};

// Every NaN becomes the same.
template <Type t> inline std::uint16_t canonical_half(std::uint32_t h) {
  constexpr std::uint32_t infinity = t == Type::f16 ? 0x7c00 : 0x7f80;
  return static_cast<std::uint16_t>((h & 0x7fffu) > infinity ? 0x7fff : h);
}

template <Form f> struct NegateHalf { // 9.7.4.5
  using T = Lane<f.type()>;
  static T lane(T a) {
    return each_half([](std::uint16_t x) { return canonical_half<half_of(f.type())>(half_input<f>(x) ^ 0x8000u); }, a);
  }
};

template <Form f> struct AbsoluteHalf { // 9.7.4.6
  using T = Lane<f.type()>;
  static T lane(T a) {
    return each_half([](std::uint16_t x) { return canonical_half<half_of(f.type())>(half_input<f>(x) & 0x7fffu); }, a);
  }
};

template <Form f, bool smaller> struct ExtremeHalf { // 9.7.4.7, 9.7.4.8
  using T = Lane<f.type()>;
  static T lane(T a, T b) {
    constexpr std::uint16_t infinity = half_of(f.type()) == Type::f16 ? 0x7c00 : 0x7f80;
    return each_half(
        [](std::uint16_t x, std::uint16_t y) {
          return extreme<f, smaller>(half_input<f>(x), half_input<f>(y), infinity, std::uint16_t{0x7fff});
        },
        a, b);
  }
};
template <Form f> struct MinimumHalf : ExtremeHalf<f, true> {};
template <Form f> struct MaximumHalf : ExtremeHalf<f, false> {};

} // namespace warplens::isa::WARPLENS_LEVEL
