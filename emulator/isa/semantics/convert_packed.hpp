// cvt to and from packed and narrow formats, and cvt.pack: PTX manual, sections 9.7.9.21 and 9.7.9.22.
#pragma once

#include "emulator/isa/semantics/convert.hpp"
#include "emulator/isa/semantics/integer.hpp"

namespace warplens::isa::WARPLENS_LEVEL {

template <Form f> inline float rectified(float x) {
  if constexpr (f.has(Word::w_relu))
    return x < 0 || x == 0 ? 0.0f : x;
  else
    return x;
}
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
    if constexpr (f.has(Word::w_rna))
      return is_nan(a) ? bits_of(a) & 0xffffe000u : bits; // cut like a number
    else
      return bits;
  }
};

// The element of e4m3x2 or e5m2x2.
constexpr Type eight_of(Type t) { return t == Type::e4m3x2 ? Type::e4m3 : Type::e5m2; }

template <Form f> struct ConvertToEight { // from two f32: a is the upper byte
  static std::uint16_t lane(float a, float b) {
    constexpr Type t = eight_of(f.type(0));
    const auto byte = [](float x) { return narrowed<t, Rounding::nearest, Overflow::finite>(rectified<f>(x)); };
    return static_cast<std::uint16_t>(byte(a) << 8 | byte(b));
  }
};

template <Form f> struct ConvertPairToEight { // from f16x2
  static std::uint16_t lane(std::uint32_t a) {
    constexpr Type t = eight_of(f.type(0));
    const auto byte = [](std::uint32_t h) {
      const float x = widened_value<Type::f16>(static_cast<std::uint16_t>(h));
      return narrowed<t, Rounding::nearest, Overflow::finite>(rectified<f>(x));
    };
    return static_cast<std::uint16_t>(byte(a >> 16) << 8 | byte(a));
  }
};

// The value of a byte of e4m3 or e5m2 as f16 bits. e5m2 is the upper byte of an f16.
template <Type t> inline std::uint16_t half_from_eight(std::uint32_t byte) {
  byte &= 0xff;
  if constexpr (t == Type::e5m2) {
    return static_cast<std::uint16_t>((byte & 0x7f) > 0x7c ? 0x7fff : byte << 8);
  } else {
    const std::uint32_t magnitude = byte & 0x7f;
    // The fields of an f16 with the same digits; its exponent counts from 15, not from 7.
    const float scaled = widened_value<Type::f16>(static_cast<std::uint16_t>(magnitude << 7)) * 0x1p8f;
    const std::uint32_t half = narrowed<Type::f16, Rounding::nearest>(scaled);
    return static_cast<std::uint16_t>(magnitude == 0x7f ? 0x7fff : half | (byte & 0x80) << 8);
  }
}

template <Form f> struct ConvertEightToPair { // e4m3x2 and e5m2x2 to f16x2
  static std::uint32_t lane(std::uint16_t a) {
    constexpr Type t = eight_of(f.type(1));
    const auto half = [](std::uint32_t byte) {
      const std::uint32_t h = half_from_eight<t>(byte);
      return f.has(Word::w_relu) && (h & 0x8000) != 0 ? 0 : h;
    };
    return half(a >> 8u) << 16 | half(a);
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
