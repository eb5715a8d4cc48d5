// Floating-point formats narrower than 32 bits, read and written exactly, and round-to-integer.
//
//   widened_value<Type::f16>(0x3c00) == 1.0f        narrowed<Type::bf16, Rounding::zero>(3.14f) == 0x4048
#pragma once

#include "emulator/isa/semantics/lane.hpp"

#include <type_traits>

namespace warplens::isa::WARPLENS_LEVEL {

struct Format {
  int mantissa;          ///< bits of the fraction
  int bias;              ///< of the exponent
  std::uint32_t sign;    ///< the sign bit
  std::uint32_t largest; ///< finite magnitude
  std::uint32_t nan;     ///< what every NaN becomes
  bool infinity;         ///< follows `largest`
};
// Manual, section 5.2.3; the bits of NaN are those of the hardware, or the largest number where there is none. Formats
// that exist only in pairs go by the name of the pair.
template <Type t> constexpr Format kFormat{};
template <> inline constexpr Format kFormat<Type::f16>{10, 15, 0x8000, 0x7bff, 0x7fff, true};
template <> inline constexpr Format kFormat<Type::bf16>{7, 127, 0x8000, 0x7f7f, 0x7fff, true};
template <> inline constexpr Format kFormat<Type::e4m3x2>{3, 7, 0x80, 0x7e, 0x7f, false};
template <> inline constexpr Format kFormat<Type::e5m2x2>{2, 15, 0x80, 0x7b, 0x7f, true};
template <> inline constexpr Format kFormat<Type::e2m1x2>{1, 1, 0x8, 0x7, 0x7, false};
template <> inline constexpr Format kFormat<Type::e2m3x2>{3, 1, 0x20, 0x1f, 0x1f, false};
template <> inline constexpr Format kFormat<Type::e3m2x2>{2, 3, 0x20, 0x1f, 0x1f, false};
template <> inline constexpr Format kFormat<Type::tf32>{10, 127, 0x40000, 0x3fbff, 0x3ffff, true};

template <class S> using BitsOf = std::conditional_t<sizeof(S) == 4, std::uint32_t, std::uint64_t>;
template <class S> constexpr int kFraction = sizeof(S) == 4 ? 23 : 52;
template <class S> constexpr BitsOf<S> kSignBit = BitsOf<S>{1} << (8 * sizeof(S) - 1);
template <class S>
constexpr BitsOf<S> kInfinity = sizeof(S) == 4 ? BitsOf<S>{0x7f800000u} : static_cast<BitsOf<S>>(0x7ff0000000000000u);
template <class S> inline BitsOf<S> bits_of(S x) { return std::bit_cast<BitsOf<S>>(x); }
template <class S> inline BitsOf<S> magnitude_bits(S x) { return bits_of(x) & ~kSignBit<S>; }
template <class S> inline bool is_nan(S x) { return magnitude_bits(x) > kInfinity<S>; }

enum class Overflow { infinity, finite }; // .satfinite

// Rounds |x| to the format: a magnitude that may exceed `largest`.
template <Format to, Rounding r, bool away, class S> inline BitsOf<S> rounded_magnitude(S x) {
  using U = BitsOf<S>;
  constexpr int fraction = kFraction<S>;
  constexpr int smallest = (sizeof(S) == 4 ? 127 : 1023) - to.bias + 1; // source exponent of the least normal number
  const U a = magnitude_bits(x);
  const bool negative = bits_of(x) != a;
  const int field = static_cast<int>(a >> fraction);
  const U significand = (a & ((U{1} << fraction) - 1)) | (field != 0 ? U{1} << fraction : U{0});
  const int exponent = field != 0 ? field : 1;
  const int below = exponent < smallest ? smallest - exponent : 0;
  constexpr int most = to.mantissa + 2; // then nothing but the sticky part is left
  const U drop = static_cast<U>(fraction - to.mantissa + (below < most ? below : most));
  const U quotient = significand >> drop;
  const U rest = significand & ((U{1} << drop) - 1);
  const U half = U{1} << (drop - 1);
  bool up = false;
  if constexpr (away)
    up = rest >= half;
  else if constexpr (r == Rounding::nearest)
    up = rest > half || (rest == half && (quotient & 1) != 0);
  else if constexpr (r == Rounding::down)
    up = negative && rest != 0;
  else if constexpr (r == Rounding::up)
    up = !negative && rest != 0;
  const U scale = static_cast<U>(exponent > smallest ? exponent - smallest : 0);
  return (scale << to.mantissa) + quotient + (up ? 1u : 0u);
}

/// The bits of x in format t, given the magnitude that it was rounded to.
template <Type t, Rounding r, Overflow overflow, class S> inline std::uint32_t bounded(S x, BitsOf<S> rounded) {
  constexpr Format to = kFormat<t>;
  const bool negative = bits_of(x) != magnitude_bits(x);
  const bool infinite = magnitude_bits(x) == kInfinity<S>;
  // Rounding towards zero stops at the largest finite number; an infinity stays one.
  bool stops = overflow == Overflow::finite || !to.infinity;
  if constexpr (overflow == Overflow::infinity && to.infinity) {
    if constexpr (r == Rounding::zero) stops = !infinite;
    if constexpr (r == Rounding::down) stops = !infinite && !negative;
    if constexpr (r == Rounding::up) stops = !infinite && negative;
  }
  const std::uint32_t limit = stops ? to.largest : to.largest + 1;
  const std::uint32_t magnitude = rounded > to.largest ? limit : static_cast<std::uint32_t>(rounded);
  return is_nan(x) ? to.nan : magnitude | (negative ? to.sign : 0);
}

/// The bits of x, a float or a double, in format t.
template <Type t, Rounding r, Overflow overflow = Overflow::infinity, bool away = false, class S>
inline std::uint32_t narrowed(S x) {
  return bounded<t, r, overflow>(x, rounded_magnitude<kFormat<t>, r, away>(x));
}

/// .rs: the bits of x in format t, away from zero where the upper `count` of the bits that are cut off and `random`
/// (so many bits) carry (9.7.9.21).
template <Type t, int count, Overflow overflow = Overflow::infinity>
inline std::uint32_t stochastic(float x, std::uint32_t random) {
  constexpr Format to = kFormat<t>;
  constexpr int smallest = 127 - to.bias + 1;
  const std::uint32_t a = magnitude_bits(x);
  const int field = static_cast<int>(a >> 23);
  const std::uint32_t significand = (a & 0x7fffffu) | (field != 0 ? 0x800000u : 0u);
  const int exponent = field != 0 ? field : 1;
  const int drop = 23 - to.mantissa - count + (exponent < smallest ? smallest - exponent : 0);
  const std::uint32_t kept = significand >> (drop < 24 ? drop : 24);
  const auto scale = static_cast<std::uint32_t>(exponent > smallest ? exponent - smallest : 0);
  return bounded<t, Rounding::nearest, overflow>(x, (scale << to.mantissa) + ((kept + random) >> count));
}

/// The value of a magnitude of format t, without infinity or NaN. Not by way of subnormal numbers, which are slow.
template <Type t> inline float magnitude_value(std::uint32_t magnitude) {
  constexpr Format from = kFormat<t>;
  constexpr std::uint32_t one = 1u << from.mantissa;
  const std::uint32_t e = magnitude >> from.mantissa;
  const std::uint32_t significand = (magnitude & (one - 1)) | (e != 0 ? one : 0);
  const std::uint32_t exponent = (e != 0 ? e : 1) + static_cast<std::uint32_t>(127 - from.bias - from.mantissa);
  return static_cast<float>(static_cast<std::int32_t>(significand)) * std::bit_cast<float>(exponent << 23);
}

/// The value of 16-bit float bits; a NaN stays one.
template <Type t> inline float widened_value(std::uint16_t h) {
  if constexpr (t == Type::bf16) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(h) << 16);
  } else {
    const std::uint32_t a = h & 0x7fffu;
    const float scaled = std::bit_cast<float>(a << 13) * 0x1p112f; // exact, subnormals too
    const std::uint32_t bits = a >= 0x7c00 ? a << 13 | 0x7f800000u : std::bit_cast<std::uint32_t>(scaled);
    return std::bit_cast<float>(bits | static_cast<std::uint32_t>(h & 0x8000u) << 16);
  }
}

// .rni .rzi .rmi .rpi: to an integral value.
template <Form f> constexpr bool rounds_to_integer() {
  return f.has(Word::w_rni) || f.has(Word::w_rzi) || f.has(Word::w_rmi) || f.has(Word::w_rpi);
}
template <Form f, class S> inline S integral(S x) {
  if constexpr (sizeof(S) == 4) {
    if constexpr (f.has(Word::w_rni))
      return __builtin_rintf(x);
    else if constexpr (f.has(Word::w_rzi))
      return __builtin_truncf(x);
    else if constexpr (f.has(Word::w_rmi))
      return __builtin_floorf(x);
    else if constexpr (f.has(Word::w_rpi))
      return __builtin_ceilf(x);
    else
      return x;
  } else {
    if constexpr (f.has(Word::w_rni))
      return __builtin_rint(x);
    else if constexpr (f.has(Word::w_rzi))
      return __builtin_trunc(x);
    else if constexpr (f.has(Word::w_rmi))
      return __builtin_floor(x);
    else if constexpr (f.has(Word::w_rpi))
      return __builtin_ceil(x);
    else
      return x;
  }
}

} // namespace warplens::isa::WARPLENS_LEVEL
