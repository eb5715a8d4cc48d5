// Bits: PTX manual, sections 9.7.1.14 to 9.7.1.22 (counting, bit fields), 9.7.8 (logic and shifts), 9.7.9.1 (mov) and
// 9.7.9.7 (prmt).
#pragma once

#include "emulator/isa/semantics/lane.hpp"

#include <bit>
#include <type_traits>

namespace warplens::isa::WARPLENS_LEVEL {

template <Form f> struct Move { // 9.7.9.1
  using T = Lane<f.type()>;
  static T lane(T a) { return a; }
};

// ---- counting and bit fields

template <Form f> struct PopulationCount { // 9.7.1.14
  static std::uint32_t lane(Lane<f.type()> a) { return static_cast<std::uint32_t>(std::popcount(a)); }
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

// The n-th set bit from `base`, upwards for n > 0, downwards for n < 0; n == 0 asks for bit `base` itself. ~0: none.
template <Form f> struct FindNthSet { // fns, 9.7.1.17
  static std::uint32_t lane(std::uint32_t mask, std::uint32_t base, std::int32_t n) {
    const int step = n < 0 ? -1 : 1;
    std::uint32_t wanted = n == 0 ? 1 : n < 0 ? 0u - static_cast<std::uint32_t>(n) : static_cast<std::uint32_t>(n);
    std::uint32_t found = ~0u;
    if (base < 32)
      for (int i = static_cast<int>(base); i >= 0 && i < 32; i += step) {
        if ((mask >> i & 1) != 0 && --wanted == 0) {
          found = static_cast<std::uint32_t>(i);
          break;
        }
        if (n == 0) break;
      }
    return found;
  }
};

template <Form f> struct ReverseBits { // brev, 9.7.1.18
  using T = Lane<f.type()>;
  static T lane(T a) {
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
};

// Shifts that give 0 (or the sign) where the amount reaches the width.
template <class T> inline T shifted_left(T a, std::uint32_t by) {
  constexpr std::uint32_t width = 8 * sizeof(T);
  return by < width ? static_cast<T>(a << (by & (width - 1))) : T{0};
}
template <class T> inline T shifted_right(T a, std::uint32_t by) {
  constexpr std::uint32_t width = 8 * sizeof(T);
  if constexpr (std::is_signed_v<T>)
    return static_cast<T>(a >> (by < width ? by : width - 1));
  else
    return by < width ? static_cast<T>(a >> (by & (width - 1))) : T{0};
}
// `length` ones from bit 0.
template <class T> inline T low_ones(std::uint32_t length) {
  return static_cast<T>(~shifted_left(static_cast<T>(~T{0}), length));
}

template <Form f> struct ExtractField { // bfe, 9.7.1.19
  using T = Lane<f.type()>;
  static T lane(T a, std::uint32_t position, std::uint32_t length) {
    using U = std::make_unsigned_t<T>;
    constexpr std::uint32_t top = 8 * sizeof(T) - 1;
    position &= 0xff;
    length &= 0xff;
    const U mask = low_ones<U>(length);
    const U field = static_cast<U>(shifted_right(static_cast<U>(a), position) & mask);
    if constexpr (std::is_signed_v<T>) {
      const std::uint32_t last = position + length - 1 < top ? position + length - 1 : top;
      const bool sign = length != 0 && (static_cast<U>(a) >> (last & top) & 1) != 0;
      // The sign fills what lies above the field, and what the field wanted from beyond the word.
      const U inside = position <= top ? static_cast<U>(mask & low_ones<U>(top + 1 - position)) : U{0};
      return static_cast<T>(sign ? field | static_cast<U>(~inside) : field);
    } else {
      return field;
    }
  }
};

template <Form f> struct InsertField { // bfi, 9.7.1.20: the low bits of a go into b
  using T = Lane<f.type()>;
  static T lane(T a, T b, std::uint32_t position, std::uint32_t length) {
    position &= 0xff;
    const T mask = shifted_left(low_ones<T>(length & 0xff), position);
    return static_cast<T>((b & ~mask) | (shifted_left(a, position) & mask));
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
    return shifted_left(low_ones<std::uint32_t>(width), position);
  }
};

// ---- logic and shifts

template <Form f> struct And { // 9.7.8.1
  using T = Lane<f.type()>;
  static T lane(T a, T b) { return static_cast<T>(a & b); }
};
template <Form f> struct Or { // 9.7.8.2
  using T = Lane<f.type()>;
  static T lane(T a, T b) { return static_cast<T>(a | b); }
};
template <Form f> struct Xor { // 9.7.8.3
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
    std::uint32_t d = 0;
    for (int i = 0; i < 8; ++i) {
      const std::uint32_t term = (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
      d |= term & (0u - (table >> i & 1));
    }
    return d;
  }
};

template <Form f> struct FunnelShift { // shf, 9.7.8.7: of b:a
  static std::uint32_t lane(std::uint32_t a, std::uint32_t b, std::uint32_t by) {
    if constexpr (f.has(Word::w_wrap))
      by &= 31;
    else
      by = by < 32 ? by : 32;
    const std::uint64_t both = static_cast<std::uint64_t>(b) << 32 | a;
    if constexpr (f.has(Word::w_l))
      return static_cast<std::uint32_t>(both << by >> 32);
    else
      return static_cast<std::uint32_t>(both >> by);
  }
};

template <Form f> struct ShiftLeft { // 9.7.8.8: amounts beyond the width are clamped to it
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
    const std::uint64_t both = static_cast<std::uint64_t>(b) << 32 | a;
    std::uint32_t d = 0;
    for (std::uint32_t i = 0; i < 4; ++i) {
      if constexpr (f.count > 1) {
        d |= static_cast<std::uint32_t>(both >> 8 * permute_source<f>(c & 3, i) & 0xff) << 8 * i;
      } else { // a selector per byte, whose top bit replicates the sign
        const std::uint32_t selector = c >> 4 * i & 15;
        const auto byte = static_cast<std::uint32_t>(both >> 8 * (selector & 7) & 0xff);
        const std::uint32_t sign = (byte & 0x80) != 0 ? 0xff : 0;
        d |= (selector < 8 ? byte : sign) << 8 * i;
      }
    }
    return d;
  }
};

} // namespace warplens::isa::WARPLENS_LEVEL
