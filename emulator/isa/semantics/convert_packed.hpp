// SPDX-License-Identifier: Apache-2.0
// cvt to and from packed and narrow formats, and cvt.pack: PTX manual, sections 9.7.9.21 and 9.7.9.22.
#pragma once

#include "emulator/isa/semantics/convert.hpp"
#include "emulator/isa/semantics/integer.hpp"

namespace warplens::isa::WARPLENS_LEVEL {

template <Form f> inline float rectified(float x) { return f.has(Word::w_relu) ? relu(x) : x; }
template <Form f> constexpr Overflow overflow_of() {
  return f.has(Word::w_satfinite) ? Overflow::finite : Overflow::infinity;
}

template <Form f> struct ConvertToPair { // f16x2 and bf16x2 from two f32: a is the upper half
  static std::uint32_t lane(float a, float b) {
    constexpr Type t = half_of(f.type(0));
    const auto half = [](float x) { return narrowed<t, rounding_of(f), overflow_of<f>()>(rectified<f>(x)); };
    return half(a) << 16 | half(b);
  }
};

template <Form f> struct ConvertToTf32 { // in the upper 19 bits of a word; .rna rounds half away from zero
  static std::uint32_t lane(float a) {
    const std::uint32_t bits =
        narrowed<Type::tf32, rounding_of(f), overflow_of<f>(), f.has(Word::w_rna)>(rectified<f>(a)) << 13;
    // A NaN is cut like a number; .satfinite takes one from whatever is not finite.
    constexpr std::uint32_t excess = f.has(Word::w_satfinite) ? 0x2000 : 0;
    if constexpr (f.has(Word::w_rna))
      return is_nan(a) ? (bits_of(a) & 0xffffe000u) - excess : bits;
    else
      return bits;
  }
};

// ---- 8, 6 and 4 bits wide: two elements in half a word (in a byte where they have 4 bits), or four in a word

// Two of the elements of which t has four.
constexpr Type pair_of(Type t) {
  switch (t) {
  case Type::e4m3x4: return Type::e4m3x2;
  case Type::e5m2x4: return Type::e5m2x2;
  case Type::e2m3x4: return Type::e2m3x2;
  case Type::e3m2x4: return Type::e3m2x2;
  default: return t;
  }
}
template <Type pair> inline std::uint32_t joined(std::uint32_t upper, std::uint32_t lower) {
  return upper << bits(pair) / 2 | lower;
}

template <Form f> inline std::uint32_t narrow_element(float x) {
  return narrowed<f.type(0), Rounding::nearest, Overflow::finite>(rectified<f>(x));
}

template <Form f> struct ConvertToNarrow { // from two f32: a is the upper element
  using D = Lane<f.type(0)>;
  static D lane(float a, float b) {
    return static_cast<D>(joined<f.type(0)>(narrow_element<f>(a), narrow_element<f>(b)));
  }
};

template <Form f> struct ConvertPairToNarrow { // from f16x2 and bf16x2
  using D = Lane<f.type(0)>;
  static D lane(std::uint32_t a) {
    const auto element = [](std::uint32_t h) {
      return narrow_element<f>(widened_value<half_of(f.type(1))>(static_cast<std::uint16_t>(h)));
    };
    return static_cast<D>(joined<f.type(0)>(element(a >> 16), element(a)));
  }
};

// An element of t as the bits of a bf16, in which its value is normal.
template <Type t> inline std::uint32_t brain_from_narrow(std::uint32_t element) {
  constexpr Format from = kFormat<t>;
  const std::uint32_t magnitude = element & (from.sign - 1);
  std::uint32_t h = bits_of(magnitude_value<t>(magnitude)) >> 16;
  if constexpr (from.infinity) h = magnitude == from.largest + 1 ? 0x7f80 : h;
  const bool nan = from.nan != from.largest && magnitude > from.largest + (from.infinity ? 1u : 0u);
  return nan ? 0x7fffu : h | ((element & from.sign) != 0 ? 0x8000u : 0u);
}

// As the bits of an f16, of which e5m2 is the upper byte; in it the others are normal too.
template <Type t> inline std::uint32_t f16_from_narrow(std::uint32_t element) {
  if constexpr (t == Type::e5m2x2) {
    return (element & 0x7f) > 0x7c ? 0x7fffu : (element & 0xff) << 8;
  } else {
    const std::uint32_t h = brain_from_narrow<t>(element), magnitude = h & 0x7fff;
    const std::uint32_t moved = magnitude != 0 ? (magnitude << 3) - (112u << 10) : 0;
    return magnitude == 0x7fff ? 0x7fffu : moved | (h & 0x8000);
  }
}

template <Form f> struct ConvertNarrowToPair { // to f16x2
  static std::uint32_t lane(Lane<f.type(1)> a) {
    const auto half = [](std::uint32_t element) {
      const std::uint32_t h = f16_from_narrow<f.type(1)>(element);
      return f.has(Word::w_relu) && (h & 0x8000) != 0 ? 0 : h;
    };
    return half(static_cast<std::uint32_t>(a) >> bits(f.type(1)) / 2) << 16 | half(a);
  }
};

// The value of ue8m0, an exponent: 2^(x - 127), and NaN.
inline float exponent_value(std::uint32_t x) {
  x &= 0xff;
  return std::bit_cast<float>(x == 0xff ? 0x7fc00000u : x == 0 ? 0x400000u : x << 23);
}

// s2f6: a signed byte in units of 2^-6.
template <Type t> inline float narrow_value(std::uint32_t element) {
  if constexpr (t == Type::s2f6x2)
    return static_cast<float>(static_cast<std::int8_t>(element)) * 0x1p-6f;
  else
    return std::bit_cast<float>(brain_from_narrow<t>(element) << 16);
}

// The products have so few digits that single precision holds them, and that none lies between the largest bf16 and
// infinity.
template <Form f> inline std::uint32_t scaled_pair(std::uint32_t a, std::uint32_t scale) {
  const auto half = [](float x) { return narrowed<Type::bf16, Rounding::nearest, overflow_of<f>()>(rectified<f>(x)); };
  constexpr Type t = f.type(1);
  return half(narrow_value<t>(a >> bits(t) / 2) * exponent_value(scale >> 8)) << 16 |
         half(narrow_value<t>(a) * exponent_value(scale));
}
template <Form f> struct ConvertNarrowToBf16Pair {
  static std::uint32_t lane(Lane<f.type(1)> a) { return scaled_pair<f>(a, 0x7f7f); }
};
template <Form f> struct ConvertScaledToBf16Pair { // each times its own power of two
  static std::uint32_t lane(Lane<f.type(1)> a, std::uint16_t scale) { return scaled_pair<f>(a, scale); }
};

// ---- ue8m0: the exponent of the magnitude; subnormals that are too small become 2^-127

template <Form f> inline std::uint32_t exponent_of(float x) {
  const std::uint32_t a = magnitude_bits(x);
  const bool up = f.has(Word::w_rp) && (a & 0x7fffff) != 0 && a > 0x400000 && a < 0x7f800000;
  const std::uint32_t code = (a >> 23) + (up ? 1 : 0);
  return f.has(Word::w_satfinite) && code == 0xff && !is_nan(x) ? 0xfe : code;
}
template <Form f> struct ConvertToExponents {
  static std::uint16_t lane(float a, float b) {
    return static_cast<std::uint16_t>(exponent_of<f>(a) << 8 | exponent_of<f>(b));
  }
};
template <Form f> struct ConvertPairToExponents { // from bf16x2
  static std::uint16_t lane(std::uint32_t a) {
    return static_cast<std::uint16_t>(exponent_of<f>(std::bit_cast<float>(a & 0xffff0000u)) << 8 |
                                      exponent_of<f>(std::bit_cast<float>(a << 16)));
  }
};
template <Form f> struct ConvertExponentsToPair { // to bf16x2; 2^-127 is a subnormal
  static std::uint32_t lane(std::uint16_t a) {
    const auto half = [](std::uint32_t x) { return x == 0xff ? 0x7fffu : x == 0 ? 0x40u : x << 7; };
    return half(a >> 8u) << 16 | half(a & 0xffu);
  }
};

// ---- .rs: rounding by random bits

template <Form f> struct ConvertToPairRandomly { // 13 random bits for each f16, 16 for each bf16
  static std::uint32_t lane(float a, float b, std::uint32_t random) {
    constexpr Type t = half_of(f.type(0));
    constexpr int count = t == Type::f16 ? 13 : 16;
    const auto half = [](float x, std::uint32_t r) {
      return stochastic<t, count, overflow_of<f>()>(rectified<f>(x), r & ((1u << count) - 1));
    };
    return half(a, random >> 16) << 16 | half(b, random);
  }
};

inline std::uint32_t reversed16(std::uint32_t x) {
  x = (x >> 1 & 0x5555) | (x & 0x5555) << 1;
  x = (x >> 2 & 0x3333) | (x & 0x3333) << 2;
  x = (x >> 4 & 0x0f0f) | (x & 0x0f0f) << 4;
  return (x >> 8 & 0xff) | (x & 0xff) << 8;
}

// The upper half of the random bits rounds a and b, the lower e and f. The manual does not say how two share 16 bits:
// on sm_100a b and f take them as they are, a and e in reverse order.
template <Form f> struct ConvertToFourRandomly {
  static std::uint32_t lane(float a, float b, float e, float g, std::uint32_t random) {
    constexpr Type t = pair_of(f.type(0));
    const auto element = [](float x, std::uint32_t r) {
      return stochastic<t, 16, Overflow::finite>(rectified<f>(x), r);
    };
    const std::uint32_t upper = random >> 16, lower = random & 0xffff;
    return element(a, reversed16(upper)) << 24 | element(b, upper) << 16 | element(e, reversed16(lower)) << 8 |
           element(g, lower);
  }
};

// ---- cvt.pack: saturates two s32 and packs them, above what c holds where there is a c

constexpr int pack_width(const Form& f) {
  if (f.has(Word::w_u2) || f.has(Word::w_s2)) return 2;
  if (f.has(Word::w_u4) || f.has(Word::w_s4)) return 4;
  return f.type() == Type::u8 || f.type() == Type::s8 ? 8 : 16;
}
constexpr bool packs_signed(const Form& f) {
  return f.has(Word::w_s2) || f.has(Word::w_s4) || f.type() == Type::s8 || f.type() == Type::s16;
}
template <Form f> inline std::uint32_t saturated_field(std::int32_t x) {
  constexpr int width = pack_width(f);
  constexpr std::int32_t low = packs_signed(f) ? -(1 << (width - 1)) : 0;
  constexpr std::int32_t high = packs_signed(f) ? (1 << (width - 1)) - 1 : (1 << width) - 1;
  return static_cast<std::uint32_t>(x < low ? low : x > high ? high : x) & ((1u << width) - 1);
}
template <Form f> struct Pack {
  static std::uint32_t lane(std::int32_t a, std::int32_t b) {
    return saturated_field<f>(a) << pack_width(f) | saturated_field<f>(b);
  }
};
template <Form f> struct PackAbove {
  static std::uint32_t lane(std::int32_t a, std::int32_t b, std::uint32_t c) {
    constexpr int width = pack_width(f);
    return c << 2 * width | saturated_field<f>(a) << width | saturated_field<f>(b);
  }
};

} // namespace warplens::isa::WARPLENS_LEVEL
