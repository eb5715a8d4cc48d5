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
      if constexpr (std::is_signed_v<S>) {
        if constexpr (!std::is_signed_v<D>) {
          if (a < 0) return 0;
        } else if constexpr (sizeof(D) < sizeof(S)) {
          if (a < least) return least;
        }
      }
      if constexpr (sizeof(D) < sizeof(S) || (sizeof(D) == sizeof(S) && std::is_signed_v<D>)) {
        if (a > static_cast<S>(most)) return most;
      }
    }
    return static_cast<D>(a);
  }
};

// An integer as a double that rounds to a half type as the integer would: what lies below 48 digits is folded into one.
template <class S> inline double nearly_exact(S a) {
  if constexpr (sizeof(S) < 8) {
    return static_cast<double>(a);
  } else {
    const bool negative = a < 0;
    auto m = negative ? 0 - static_cast<std::uint64_t>(a) : static_cast<std::uint64_t>(a);
    if (m >> 40 != 0) m = (m & ~std::uint64_t{0xffff}) | ((m & 0xffff) != 0 ? 0x8000u : 0u);
    // Two exact halves: a conversion of the whole could round in the mode of the processor.
    const double d = static_cast<double>(static_cast<std::uint32_t>(m >> 32)) * 0x1p32 +
                     static_cast<double>(static_cast<std::uint32_t>(m));
    return negative ? -d : d;
  }
}

template <Form f> struct ConvertToFloat { // integer to f32, f64, f16, bf16
  using D = Lane<f.type(0)>;
  using S = Lane<f.type(1)>;
  static constexpr bool half = bits(f.type(0)) == 16;
  static constexpr Rounding rounding = half ? Rounding::nearest : rounding_of(f);
  static D lane(S a) {
    if constexpr (half) {
      double x = nearly_exact(a);
      if constexpr (f.has(Word::w_sat)) x = saturated(x);
      return static_cast<D>(narrowed<f.type(0), rounding_of(f)>(x));
    } else {
      return output<f>(static_cast<D>(a));
    }
  }
};

// The value of a float of any width: float, or double for f64.
template <Type t> inline auto value_of(Lane<t> a) {
  if constexpr (bits(t) == 16) return widened_value<t>(a);
  else return a;
}

// An integral x to an integer type, clamped to its range.
template <class D, class S> inline D to_integer(S x, D nan) {
  constexpr D least = std::numeric_limits<D>::min(), most = std::numeric_limits<D>::max();
  constexpr S low = static_cast<S>(least);
  constexpr S high = static_cast<S>(D{1} << (8 * sizeof(D) - 2)) * (std::is_signed_v<D> ? 2 : 4); // most + 1
  const bool fits = x >= low && x < high;
  const D beyond = x >= high ? most : x < low ? least : nan;
  const S bounded = fits ? x : S{0};
  if constexpr (std::is_same_v<D, std::uint64_t>) { // in terms of the signed conversion, which processors have
    const bool upper = bounded >= S(0x1p63);
    const auto part = static_cast<std::int64_t>(upper ? bounded - S(0x1p63) : bounded);
    return fits ? static_cast<D>(part) ^ (upper ? D{1} << 63 : D{0}) : beyond;
  } else if constexpr (std::is_same_v<D, std::uint32_t>) {
    const bool upper = bounded >= S(0x1p31);
    const auto part = static_cast<std::int32_t>(upper ? bounded - S(0x1p31) : bounded);
    return fits ? static_cast<D>(part) ^ (upper ? D{1} << 31 : D{0}) : beyond;
  } else if constexpr (sizeof(D) == 8) {
    return fits ? static_cast<D>(static_cast<std::int64_t>(bounded)) : beyond;
  } else {
    return fits ? static_cast<D>(static_cast<std::int32_t>(bounded)) : beyond;
  }
}

template <Form f> struct ConvertToInteger { // float to integer; always clamped, so .sat adds nothing
  using D = Lane<f.type(0)>;
  using S = Lane<f.type(1)>;
  static D lane(S a) {
    auto x = value_of<f.type(1)>(a);
    if constexpr (f.has(Word::w_ftz)) x = flushed(x);
    // NaN is 0, but the top bit where the destination or the source has 64 bits.
    constexpr D nan = sizeof(D) == 8 || (sizeof(S) == 8 && sizeof(D) == 4) ? static_cast<D>(D{1} << (8 * sizeof(D) - 1)) : D{0};
    return to_integer<D>(integral<f>(x), nan);
  }
};

// Every NaN that cvt makes is the same.
template <class T> inline T canonical(T x) {
  constexpr BitsOf<T> nan = sizeof(T) == 4 ? BitsOf<T>{0x7fffffffu} : static_cast<BitsOf<T>>(0x7fffffffffffffffu);
  return is_nan(x) ? from_bits<T>(nan) : x;
}

template <Form f> struct ConvertFloat { // f16, bf16, f32, f64 to one another, or to an integral value of the same type
  using D = Lane<f.type(0)>;
  using S = Lane<f.type(1)>;
  static constexpr bool half = bits(f.type(0)) == 16;
  static constexpr Rounding rounding = half ? Rounding::nearest : rounding_of(f);
  static D lane(S a) {
    auto x = value_of<f.type(1)>(a);
    if constexpr (f.has(Word::w_ftz) && sizeof(x) == 4) x = flushed(x);
    x = integral<f>(x);
    if constexpr (f.has(Word::w_relu)) x = x < 0 || x == 0 ? 0 : x;
    if constexpr (half) {
      if constexpr (f.has(Word::w_sat)) x = saturated(x);
      constexpr Overflow overflow = f.has(Word::w_satfinite) ? Overflow::finite : Overflow::infinity;
      return static_cast<D>(narrowed<f.type(0), rounding_of(f), overflow>(x));
    } else {
      return canonical(output<f>(static_cast<D>(x)));
    }
  }
};

} // namespace warplens::isa::WARPLENS_LEVEL
