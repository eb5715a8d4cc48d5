// SPDX-License-Identifier: Apache-2.0
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

template <class S>
using BitsOf =
    std::conditional_t<sizeof(S) == 2, std::uint16_t, std::conditional_t<sizeof(S) == 4, std::uint32_t, std::uint64_t>>;
template <class S> constexpr int kFraction = sizeof(S) == 4 ? 23 : 52;
template <class S> constexpr BitsOf<S> kSignBit = BitsOf<S>{1} << (8 * sizeof(S) - 1);
template <class S>
constexpr BitsOf<S> kInfinity = sizeof(S) == 4 ? BitsOf<S>{0x7f800000u} : static_cast<BitsOf<S>>(0x7ff0000000000000u);
template <class S> constexpr BitsOf<S> bits_of(S x) { return std::bit_cast<BitsOf<S>>(x); }
template <class S> inline BitsOf<S> magnitude_bits(S x) { return bits_of(x) & ~kSignBit<S>; }
template <class S> inline bool is_nan(S x) { return magnitude_bits(x) > kInfinity<S>; }

// ---- the NaNs of the hardware, which processors do not all make by themselves (tests/data/hardware/nans.jsonl)

// Single precision has one NaN. For comparisons of bits, the compiler generates more instructions.
inline float canonical(float x) { return x == x ? x : std::bit_cast<float>(0x7fffffffu); }

inline double quiet(double x) { return std::bit_cast<double>(bits_of(x) | std::uint64_t{1} << 51); }
inline double new_nan() { return std::bit_cast<double>(std::uint64_t{0xfff8} << 48); }

// The result x of arithmetic. In double precision, a NaN is that of the first of these operands that is one. If only
// one is, x86-64 gives the same, as it does for a new NaN.
template <class... Operands> inline float with_nan(float x, Operands...) { return canonical(x); }
#if defined(__x86_64__)
inline double with_nan(double x, double) { return x; }
#else
inline double with_nan(double x, double last) { return x == x ? x : last == last ? new_nan() : quiet(last); }
#endif
template <class... Others> inline double with_nan(double x, double first, double second, Others... others) {
  return first == first ? with_nan(x, second, others...) : quiet(first);
}

enum class Overflow { infinity, finite }; // .satfinite

// 1 where rounding in direction r takes the magnitude of x away from zero, 0 where towards it.
template <Rounding r, class S> inline BitsOf<S> grows(S x) {
  const BitsOf<S> negative = bits_of(x) >> (8 * sizeof(S) - 1);
  return r == Rounding::down ? negative : r == Rounding::up ? negative ^ 1 : BitsOf<S>{0};
}

// |x| rounded to a format with the exponents of float: what is cut off is rounded into the rest.
template <Format to, Rounding r, bool away> inline std::uint32_t cut_magnitude(float x) {
  constexpr int drop = kFraction<float> - to.mantissa;
  constexpr std::uint32_t half = 1u << (drop - 1);
  const std::uint32_t a = magnitude_bits(x);
  if constexpr (away)
    return (a + half) >> drop;
  else if constexpr (r == Rounding::nearest)
    return (a + (half - 1) + (a >> drop & 1)) >> drop;
  else
    return (a + (grows<r>(x) * (2 * half - 1))) >> drop;
}

// |x| rounded to a format with fewer exponents. Adding a power of two whose last digit is worth as much as the last one
// that the format keeps lets the processor round, to nearest (its mode must be that); other directions step back.
// Compares integers with the same order as the numbers: for floats, the compiler would generate branches.
template <Format to, Rounding r, class S> inline BitsOf<S> added_magnitude(S x) {
  using U = BitsOf<S>;
  constexpr int fraction = kFraction<S>, drop = fraction - to.mantissa;
  constexpr int bias = sizeof(S) == 4 ? 127 : 1023;
  constexpr U least = static_cast<U>(bias + 1 - to.bias) << fraction; // 2^(1 - to.bias), the least normal number
  constexpr U beyond = static_cast<U>(bias - to.bias + 1 + static_cast<int>(to.largest >> to.mantissa)) << fraction;
  const U m = magnitude_bits(x);
  const U y = m < beyond ? m : beyond; // this also turns a NaN into a number
  const U magic = ((y > least ? y : least) & kInfinity<S>)+(static_cast<U>(drop) << fraction);
  const S sum = std::bit_cast<S>(y) + std::bit_cast<S>(magic);
  // The digits are now the last of the sum, a leading one included, which adds 1 to the exponent.
  constexpr U base = static_cast<U>(bias + 1 - to.bias + drop) << to.mantissa;
  const U rounded = bits_of(sum) - magic + (magic >> drop) - base;
  if constexpr (r == Rounding::nearest) return rounded;
  const U back = bits_of(sum - std::bit_cast<S>(magic));
  const U more = grows<r>(x) & static_cast<U>(back < y), less = (grows<r>(x) ^ 1) & static_cast<U>(back > y);
  return rounded + more - less;
}

// Rounds |x| to the format: a magnitude that may exceed `largest`.
template <Format to, Rounding r, bool away, class S> inline BitsOf<S> rounded_magnitude(S x) {
  if constexpr (sizeof(S) == 4 && to.bias == 127) {
    return cut_magnitude<to, r, away>(x);
  } else {
    static_assert(!away, "only formats with the exponents of the source round halves away from zero");
    return added_magnitude<to, r>(x);
  }
}

/// The bits of x in format t, given the magnitude that it was rounded to.
template <Type t, Rounding r, Overflow overflow, class S> inline std::uint32_t bounded(S x, BitsOf<S> rounded) {
  constexpr Format to = kFormat<t>;
  using U = BitsOf<S>;
  constexpr int to_sign = static_cast<int>(8 * sizeof(S)) - std::bit_width(to.sign);
  const U sign = bits_of(x) >> to_sign & to.sign;
  U limit = to.largest + 1; // the limit for too large numbers
  if constexpr (overflow == Overflow::finite || !to.infinity)
    limit = to.largest;
  else if constexpr (r != Rounding::nearest) // towards zero at the largest finite number; an infinity stays one
    limit = magnitude_bits(x) == kInfinity<S> ? to.largest + 1 : to.largest + grows<r>(x);
  const U magnitude = rounded < limit ? rounded : limit;
  return static_cast<std::uint32_t>(is_nan(x) ? U{to.nan} : magnitude | sign);
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

/// The value of 16-bit float bits, the lower half of h; a NaN stays one.
template <Type t> inline float widened_value(std::uint32_t h) {
  if constexpr (t == Type::bf16) {
    return std::bit_cast<float>(h << 16);
  } else {
    const std::uint32_t moved = static_cast<std::uint32_t>(static_cast<std::int32_t>(h << 16) >> 3) & 0x8fffe000u;
    const float scaled = std::bit_cast<float>(moved) * 0x1p112f; // exact, subnormals too
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(scaled);
    return std::bit_cast<float>(__builtin_fabsf(scaled) >= 0x1p16f ? bits | 0x7f800000u : bits);
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
    // The processor's rounding instruction makes a NaN quiet. Library functions may not, so do it here.
    if (rounds_to_integer<f>() && is_nan(x)) return quiet(x);
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
