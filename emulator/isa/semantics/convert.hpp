// SPDX-License-Identifier: Apache-2.0
// cvt between scalar types: PTX manual, section 9.7.9.21.
#pragma once

#include "emulator/isa/semantics/half.hpp"

#include <limits>

namespace warplens::isa::WARPLENS_LEVEL {

template <Form f> struct ConvertInteger { // .sat clamps to the destination's range; without it the bits are cut
  using D = Lane<f.type(0)>;
  using S = Lane<f.type(1)>;
  static D lane(S a) {
    if constexpr (f.has(Word::w_sat)) {
      constexpr D least = std::numeric_limits<D>::min(), most = std::numeric_limits<D>::max();
      if constexpr (std::is_signed_v<S> && !std::is_signed_v<D>)
        a = a > 0 ? a : 0;
      else if constexpr (std::is_signed_v<S> && sizeof(D) < sizeof(S))
        a = a > least ? a : least;
      if constexpr (sizeof(D) < sizeof(S) || (sizeof(D) == sizeof(S) && std::is_signed_v<D>))
        a = a < static_cast<S>(most) ? a : static_cast<S>(most);
    }
    return static_cast<D>(a);
  }
};

// An integer as a float, or a double, that rounds to half type t as the integer would, in any mode of the processor:
// digits that no half type looks at are folded into one that says whether they are zero.
template <Type t, class S> inline auto nearly_exact(S a) {
  if constexpr (sizeof(S) < 4) {
    return static_cast<float>(a);
  } else {
    using U = std::make_unsigned_t<S>;
    const bool negative = a < 0;
    const U m = negative ? U{0} - static_cast<U>(a) : static_cast<U>(a);
    if constexpr (sizeof(S) == 8 && t == Type::bf16) {
      const U folded = m >> 40 == 0 ? m : (m & ~U{0xffff}) | ((m & 0xffff) != 0 ? 0x8000u : 0u);
      // Two exact halves: a conversion of the whole could round.
      const double d = static_cast<double>(static_cast<std::uint32_t>(folded >> 32)) * 0x1p32 +
                       static_cast<double>(static_cast<std::uint32_t>(folded));
      return negative ? -d : d;
    } else {
      std::uint32_t low = static_cast<std::uint32_t>(m);
      if constexpr (sizeof(S) == 8) low = m >> 32 != 0 ? 0x7fffffffu : low; // too large for f16 either way
      const std::uint32_t folded = low >> 24 == 0 ? low : (low & ~0xffu) | ((low & 0xff) != 0 ? 0x100u : 0u);
      const float d = static_cast<float>(folded);
      return negative ? -d : d;
    }
  }
}

constexpr int digits(Type t) { // significant binary digits of the numbers of a type
  switch (t) {
  case Type::f16: return 11;
  case Type::bf16: return 8;
  case Type::f32: return 24;
  case Type::f64: return 53;
  default: return bits(t) - (is_signed(t) ? 1 : 0);
  }
}

template <Form f> struct ConvertToFloat { // integer to f32, f64, f16, bf16; no integer is subnormal
  static constexpr bool exact = f.has(Word::w_sat) || digits(f.type(1)) <= digits(f.type(0));
  static constexpr Form same = (exact ? without_rounding(f) : f).without(Word::w_ftz);
  using D = Lane<f.type(0)>;
  using S = Lane<f.type(1)>;
  static constexpr bool half = bits(f.type(0)) == 16;
  // Down is toward zero where no number is negative. clang converts vectors of such numbers to differences: 0 - 0 would
  // be -0, rounded down.
  static constexpr bool cut = std::is_unsigned_v<S> && rounding_of(f) == Rounding::down;
  static constexpr Rounding rounding = half ? Rounding::nearest : cut ? Rounding::zero : rounding_of(f);
  static D lane(S a) {
    if constexpr (f.has(Word::w_sat)) { // to 0 and 1
      constexpr D one = half ? static_cast<D>(f.type(0) == Type::f16 ? 0x3c00 : 0x3f80) : D{1};
      return a > 0 ? one : D{0};
    } else if constexpr (half) {
      return static_cast<D>(narrowed<f.type(0), rounding_of(f)>(nearly_exact<f.type(0)>(a)));
    } else {
      return output<f>(static_cast<D>(a));
    }
  }
};

// The value of a float of any width: float, or double for f64.
template <Type t> inline auto value_of(Lane<t> a) {
  if constexpr (bits(t) == 16)
    return widened_value<t>(a);
  else
    return a;
}

// An x in D's range, cut. Without long vectors in terms of the signed conversion, which all processors have.
template <class D, class S> inline D cut_to(S x) {
  if constexpr (sizeof(D) < 4) {
    return static_cast<D>(static_cast<std::int32_t>(x));
  } else if constexpr (std::is_signed_v<D> || kLongVectors) {
    return static_cast<D>(x);
  } else {
    constexpr S top = sizeof(D) == 8 ? S(0x1p63) : S(0x1p31);
    const bool upper = x >= top;
    const auto part = static_cast<std::make_signed_t<D>>(upper ? x - top : x);
    return static_cast<D>(part) ^ (upper ? D{1} << (8 * sizeof(D) - 1) : D{0});
  }
}

// An integral x to an integer type, clamped to its range.
template <class D, class S> inline D to_integer(S x, D nan) {
  constexpr D least = std::numeric_limits<D>::min(), most = std::numeric_limits<D>::max();
  constexpr S low = static_cast<S>(least);
  constexpr S beyond = static_cast<S>(D{1} << (8 * sizeof(D) - 2)) * (std::is_signed_v<D> ? 2 : 4); // most + 1
  const S raised = x > low ? x : low; // a NaN becomes the least
  D result;
  if constexpr (8 * sizeof(D) <= kFraction<S>) { // S has `most`
    constexpr S high = static_cast<S>(most);
    result = cut_to<D>(raised < high ? raised : high);
  } else {
    const bool fits = raised < beyond;
    const D value = cut_to<D>(fits ? raised : S{0});
    result = fits ? value : most;
  }
  return nan == least || x == x ? result : nan;
}

template <Form f> struct ConvertToInteger { // float to integer; always clamped, so .sat adds nothing
  static constexpr bool subnormal_is_zero = f.has(Word::w_rni) || f.has(Word::w_rzi);
  static constexpr Form same = (subnormal_is_zero ? f.without(Word::w_ftz) : f).without(Word::w_sat);
  using D = Lane<f.type(0)>;
  using S = Lane<f.type(1)>;
  static D lane(S a) {
    auto x = value_of<f.type(1)>(a);
    if constexpr (f.has(Word::w_ftz)) x = flushed(x);
    // NaN is 0, but the top bit where the destination or the source has 64 bits.
    constexpr D nan = sizeof(D) == 8 || sizeof(S) == 8 ? static_cast<D>(std::uint64_t{1} << (8 * sizeof(D) - 1)) : D{0};
    return to_integer<D>(integral<f>(x), nan);
  }
};

// The NaN of a double in a half type: cut, and quiet.
template <Type t> inline std::uint32_t nan_of_double(double x) {
  constexpr Format to = kFormat<t>;
  const auto payload = static_cast<std::uint32_t>(bits_of(x) >> (52 - to.mantissa)) & ((1u << (to.mantissa - 1)) - 1);
  return (bits_of(x) >> 63 != 0 ? to.sign : 0) | (to.largest + 1) | 1u << (to.mantissa - 1) | payload;
}

template <Form f> struct ConvertFloat { // f16, bf16, f32, f64 to one another, or to an integral value of the same type
  static constexpr bool widens = bits(f.type(1)) < bits(f.type(0));                     // exact
  static constexpr Form flushing = f.type(0) == Type::f16 ? f.without(Word::w_ftz) : f; // no effect on f16
  static constexpr Form same = widens ? without_rounding(flushing) : flushing;
  using D = Lane<f.type(0)>;
  using S = Lane<f.type(1)>;
  static constexpr bool half = bits(f.type(0)) == 16;
  static constexpr Rounding rounding = half ? Rounding::nearest : rounding_of(f);
  static D lane(S a) {
    constexpr Type to = f.type(0), from = f.type(1);
    auto x = value_of<from>(a);
    // What each path of the hardware does with the payload of a NaN differs: bf16 to f32 is a shift, to and from f64
    // keeps what fits and sets the quiet bit, all others give 0x7fffffff.
    if constexpr (from == Type::bf16 && to == Type::f32 && !f.has(Word::w_ftz)) return x;
    if constexpr (sizeof(x) == 4 && (to != Type::f64 || f.has(Word::w_ftz))) x = canonical(x);
    if constexpr (f.has(Word::w_ftz) && sizeof(x) == 4 && to != Type::f16) x = flushed(x);
    x = integral<f>(x);
    if constexpr (f.has(Word::w_relu)) x = relu(x);
    if constexpr (half) {
      if constexpr (f.has(Word::w_sat)) x = saturated(x);
      constexpr Overflow overflow = f.has(Word::w_satfinite) ? Overflow::finite : Overflow::infinity;
      const std::uint32_t h = narrowed<to, rounding_of(f), overflow>(x);
      if constexpr (from == Type::f64)
        return static_cast<D>(is_nan(x) ? nan_of_double<to>(x) : h);
      else
        return static_cast<D>(h);
    } else if constexpr (from == Type::f64 && to == Type::f32) {
      return output_from<f>(static_cast<float>(x), x);
    } else {
      return output<f>(static_cast<D>(x));
    }
  }
};

} // namespace warplens::isa::WARPLENS_LEVEL
