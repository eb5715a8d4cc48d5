// SPDX-License-Identifier: Apache-2.0
// Bits: PTX manual, sections 9.7.1.14 to 9.7.1.22 (counting, bit fields), 9.7.8 (logic and shifts), 9.7.9.1 (mov) and
// 9.7.9.7 (prmt).
#pragma once

#include "emulator/isa/semantics/lane.hpp"

#include <bit>
#include <type_traits>

namespace warplens::isa::WARPLENS_LEVEL {

template <Form f> struct Move { // 9.7.9.1
  static constexpr Form same = f.as_bits();
  using T = Lane<f.type()>;
  static T lane(T a) { return a; }
};

// ---- counting and bit fields

// Sums of neighbouring bits, of pairs, of nibbles, of bytes: there is no vector instruction, and the compiler must not
// use the scalar one.
template <class T> inline std::uint32_t ones(T a) {
  constexpr T all = static_cast<T>(~T{0});
  a -= a >> 1 & all / 3;
  a = (a & all / 5) + (a >> 2 & all / 5);
  a = (a + (a >> 4)) & all / 17;
  a += a >> 8;
  a += a >> 16;
  if constexpr (sizeof(T) == 8) a += a >> 32;
  return static_cast<std::uint32_t>(a & 0x7f);
}

template <Form f> struct PopulationCount { // 9.7.1.14
  static std::uint32_t lane(Lane<f.type()> a) { return ones(a); }
};

template <Form f> struct CountLeadingZeros { // 9.7.1.15
  static std::uint32_t lane(Lane<f.type()> a) { return static_cast<std::uint32_t>(std::countl_zero(a)); }
};

// The most significant bit that is not a sign bit, from the right or (.shiftamt) from the left; ~0 where there is none.
template <Form f> struct FindBit { // bfind, 9.7.1.16
  using T = Lane<f.type()>;
  static std::uint32_t lane(T a) {
    using U = std::make_unsigned_t<T>;
    const U bits = static_cast<U>(a < 0 ? ~a : a);
    const auto zeros = static_cast<std::uint32_t>(std::countl_zero(bits));
    const std::uint32_t found = f.has(Word::w_shiftamt) ? zeros : 8 * sizeof(T) - 1 - zeros;
    return bits == 0 ? ~0u : found;
  }
};

template <class T> inline T reversed(T a) {
  const auto swap = [&](T mask, int by) { a = static_cast<T>((a >> by & mask) | (a & mask) << by); };
  constexpr T all = static_cast<T>(~T{0});
  swap(all / 3, 1);
  swap(all / 5, 2);
  swap(all / 17, 4);
  swap(all / 257, 8);
  swap(all / 65537, 16);
  if constexpr (sizeof(T) == 8) swap(all >> 32, 32);
  return a;
}

// The n-th set bit from `base`, upwards for n > 0, downwards for n < 0; n == 0 asks for bit `base` itself. ~0: none.
template <Form f> struct FindNthSet { // fns, 9.7.1.17
  static std::uint32_t lane(std::uint32_t mask, std::uint32_t base, std::int32_t n) {
    const bool down = n < 0;
    const std::uint32_t wanted = down     ? 0u - static_cast<std::uint32_t>(n)
                                 : n == 0 ? 1u
                                          : static_cast<std::uint32_t>(n);
    const std::uint32_t first = (down ? 31u - base : base) & 31;
    std::uint32_t bits = (down ? reversed(mask) : mask) >> first;
    bits &= n == 0 ? 1u : ~0u;
    bits = base < 32 ? bits : 0;
    // How many bits are set in each group of 2, 4, 8, 16; then, from the widest down, which group has the wanted one.
    const std::uint32_t in2 = bits - (bits >> 1 & 0x55555555u);
    const std::uint32_t in4 = (in2 & 0x33333333u) + (in2 >> 2 & 0x33333333u);
    const std::uint32_t in8 = (in4 + (in4 >> 4)) & 0x0f0f0f0fu;
    const std::uint32_t in16 = (in8 + (in8 >> 8)) & 0x00ff00ffu;
    const std::uint32_t all = (in16 + (in16 >> 16)) & 0xffu;
    std::uint32_t at = 0, left = wanted;
    const auto skip = [&](std::uint32_t counts, std::uint32_t digits, std::uint32_t width) {
      const std::uint32_t here = counts >> at & digits;
      const bool past = left > here;
      at += past ? width : 0;
      left -= past ? here : 0;
    };
    skip(in16, 0xff, 16);
    skip(in8, 0xf, 8);
    skip(in4, 7, 4);
    skip(in2, 3, 2);
    skip(bits, 1, 1);
    const std::uint32_t found = down ? 31u - first - at : first + at;
    return wanted <= all ? found : ~0u;
  }
};

template <Form f> struct ReverseBits { // brev, 9.7.1.18
  using T = Lane<f.type()>;
  static T lane(T a) { return reversed(a); }
};

// The type of a shift amount for T: vectors shift lanes by lanes of the same width.
template <class T> using Amount = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

// Shifts that give 0 (or the sign) if the amount reaches the width.
template <class T> inline T shifted_left(T a, Amount<T> by) {
  constexpr unsigned width = 8 * sizeof(T);
  const T moved = static_cast<T>(a << (by & (width - 1)));
  return by < width ? moved : T{0};
}
template <class T> inline T shifted_right(T a, Amount<T> by) {
  constexpr unsigned width = 8 * sizeof(T);
  if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(a >> (by < width ? by : width - 1));
  } else {
    const T moved = static_cast<T>(a >> (by & (width - 1)));
    return by < width ? moved : T{0};
  }
}
// The lowest `count` bits of a. (Shifts a itself, because the compiler does not vectorise a shifted constant.)
template <class T> inline T low_bits(T a, Amount<T> count) {
  constexpr unsigned width = 8 * sizeof(T);
  const Amount<T> above = count < width ? width - count : 0;
  const T kept = static_cast<T>(a << (above & (width - 1))) >> (above & (width - 1));
  return count != 0 ? kept : T{0};
}

// Positions and lengths of fields: for 32-bit words, an H200 uses their low eight bits, as the manual says, but for
// 64-bit words all their bits.
template <class T> inline std::make_unsigned_t<T> place_of_field(std::uint32_t number) {
  return sizeof(T) == 8 ? number : number & 0xff;
}

template <Form f> struct ExtractField { // bfe, 9.7.1.19
  using T = Lane<f.type()>;
  using U = std::make_unsigned_t<T>;
  static T lane(T a, std::uint32_t b, std::uint32_t c) {
    constexpr U width = 8 * sizeof(T);
    const U position = place_of_field<T>(b), length = place_of_field<T>(c);
    // The sign is the last bit of the field, or of the word where that is nearer: a signed field moved to the top of
    // the word and back has it in all bits above.
    const U end = position + length < width ? position + length : width;
    const U above = width - (end != 0 ? end : 1);
    const T moved = static_cast<T>(static_cast<U>(a) << above) >> above;
    const T field = shifted_right(moved, position);
    return length != 0 ? field : T{0};
  }
};

template <Form f> struct InsertField { // bfi, 9.7.1.20: the low bits of a go into b
  using T = Lane<f.type()>;
  static T lane(T a, T b, std::uint32_t c, std::uint32_t d) {
    constexpr T width = 8 * sizeof(T);
    const T position = place_of_field<T>(c), length = place_of_field<T>(d);
    const T end = position + length < width ? position + length : width;
    const T field = shifted_left(low_bits(a, length), position);
    const T above = shifted_left(shifted_right(b, end), end);
    return above | field | low_bits(b, position);
  }
};

template <Form f> struct SignExtendField { // szext, 9.7.1.21
  using T = Lane<f.type()>;
  static T lane(T a, std::uint32_t width) {
    const bool whole = f.has(Word::w_clamp) && width >= 32;
    width &= 31;
    const std::uint32_t above = whole ? 0 : ~0u << width;
    const auto bits = static_cast<std::uint32_t>(a);
    const bool sign = is_signed(f.type()) && width != 0 && (bits >> ((width - 1) & 31) & 1) != 0;
    return static_cast<T>(sign ? bits | above : bits & ~above);
  }
};

template <Form f> struct BitMask { // bmsk, 9.7.1.22: `width` ones from bit `position`
  static std::uint32_t lane(std::uint32_t position, std::uint32_t width) {
    if constexpr (f.has(Word::w_wrap)) {
      position &= 31;
      width &= 31;
    }
    return shifted_left(low_bits(~0u, width), position);
  }
};

// ---- logic and shifts

template <Form f> struct And { // 9.7.8.1
  static constexpr Form same = f.as_bits();
  using T = Lane<f.type()>;
  static T lane(T a, T b) { return static_cast<T>(a & b); }
};
template <Form f> struct Or { // 9.7.8.2
  static constexpr Form same = f.as_bits();
  using T = Lane<f.type()>;
  static T lane(T a, T b) { return static_cast<T>(a | b); }
};
template <Form f> struct Xor { // 9.7.8.3
  static constexpr Form same = f.as_bits();
  using T = Lane<f.type()>;
  static T lane(T a, T b) { return static_cast<T>(a ^ b); }
};
template <Form f> struct Not { // 9.7.8.4
  using T = Lane<f.type()>;
  static T lane(T a) {
    if constexpr (std::is_same_v<T, bool>)
      return !a;
    else
      return static_cast<T>(~a);
  }
};
template <Form f> struct LogicalNot { // cnot, 9.7.8.5
  using T = Lane<f.type()>;
  static T lane(T a) { return a == 0; }
};

// Bit 4a + 2b + c of the table is the result for the bits a, b, c.
template <Form f> struct Logic3 { // lop3, 9.7.8.6
  static std::uint32_t lane(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t table) {
    const auto everywhere = [&](int i) { // bit i of the table in all places
      return static_cast<std::uint32_t>(static_cast<std::int32_t>(table << (31 - i)) >> 31);
    };
    const auto choose = [](std::uint32_t which, std::uint32_t one, std::uint32_t zero) {
      return zero ^ ((one ^ zero) & which);
    };
    const auto by_c = [&](int i) { return choose(c, everywhere(i + 1), everywhere(i)); };
    return choose(a, choose(b, by_c(6), by_c(4)), choose(b, by_c(2), by_c(0)));
  }
};

// The halves are shifted separately, as vectors have more 32-bit than 64-bit lanes.
template <Form f> struct FunnelShift { // shf, 9.7.8.7: of b:a
  static std::uint32_t lane(std::uint32_t a, std::uint32_t b, std::uint32_t by) {
    if constexpr (f.has(Word::w_wrap))
      by &= 31;
    else
      by = by < 32 ? by : 32;
    if constexpr (f.has(Word::w_l))
      return shifted_left(b, by) | shifted_right(a, 32 - by);
    else
      return shifted_right(a, by) | shifted_left(b, 32 - by);
  }
};

template <Form f> struct ShiftLeft { // 9.7.8.8: amounts beyond the width are clamped to it
  static constexpr Form same = f.as_bits();
  using T = Lane<f.type()>;
  static T lane(T a, std::uint32_t by) { return shifted_left(a, by); }
};
template <Form f> struct ShiftRight { // 9.7.8.9: signed types replicate the sign
  using T = Lane<f.type()>;
  static T lane(T a, std::uint32_t by) { return shifted_right(a, by); }
};

// Which of the eight bytes of b:a goes to byte i.
template <Form f> inline std::uint32_t permute_source(std::uint32_t selector, std::uint32_t i) {
  if constexpr (f.has(Word::w_f4e))
    return selector + i;
  else if constexpr (f.has(Word::w_b4e))
    return (selector - i) & 7;
  else if constexpr (f.has(Word::w_rc8))
    return selector;
  else if constexpr (f.has(Word::w_ecl))
    return selector > i ? selector : i;
  else if constexpr (f.has(Word::w_ecr))
    return selector < i ? selector : i;
  else
    return (selector & 1) * 2 + (i & 1); // rc16
}

template <Form f> struct Permute { // prmt, 9.7.9.7
  static std::uint32_t lane(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    std::uint32_t d = 0;
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t selector = f.count > 1 ? permute_source<f>(c & 3, i) : c >> 4 * i;
      const std::uint32_t word = (selector & 4) != 0 ? b : a;
      const std::uint32_t top = word << (~(selector << 3) & 24); // the byte is the uppermost
      // Without a mode, a selector's top bit replicates the byte's sign.
      const bool sign = f.count == 1 && (selector & 8) != 0;
      const std::uint32_t byte = sign ? static_cast<std::uint32_t>(static_cast<std::int32_t>(top) >> 31) : top;
      d |= (byte & 0xff000000u) >> (24 - 8 * i);
    }
    return d;
  }
};

} // namespace warplens::isa::WARPLENS_LEVEL
