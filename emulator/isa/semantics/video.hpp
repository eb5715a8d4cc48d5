// SPDX-License-Identifier: Apache-2.0
// Video instructions: PTX manual, sections 9.7.18.1 (scalar) and 9.7.18.2 (SIMD). Operands are whole words; which parts
// of them are meant and of what type these are is the last argument (isa/selection.hpp), so that there are few
// variants.
#pragma once

#include "emulator/isa/selection.hpp"
#include "emulator/isa/semantics/lane.hpp"

#include <limits>

namespace warplens::isa::WARPLENS_LEVEL {

// Of the scalar instructions' fields: the first bit of a part, how many it has.
inline int first_bit(std::uint64_t selection, int field) { return static_cast<int>(selection >> field & 31); }
inline int bit_count(std::uint64_t selection, int field) { return static_cast<int>(selection >> field & 31) + 1; }
inline bool flag(std::uint64_t selection, int field) { return (selection >> field & 1) != 0; }

// The low bits of a number as a signed or an unsigned one.
template <class T> inline T extended(T value, int bits, bool is_signed) {
  value &= (T{1} << bits) - 1;
  const T sign = T{is_signed} << (bits - 1);
  return (value ^ sign) - sign;
}
template <class T> inline T saturated(T value, int bits, bool is_signed) {
  const T most = (T{1} << (is_signed ? bits - 1 : bits)) - 1, least = is_signed ? -most - 1 : 0;
  return value < least ? least : value > most ? most : value;
}

// What is done with each pair of parts: an average rounds to the nearest, halves away from zero.
// `wraps`: see `expanded`.
struct Sum {
  static constexpr bool wraps = true;
  template <class T> static T of(T a, T b) { return a + b; }
};
struct Difference {
  static constexpr bool wraps = true;
  template <class T> static T of(T a, T b) { return a - b; }
};
struct Distance {
  template <class T> static T of(T a, T b) { return a < b ? b - a : a - b; }
};
struct Average {
  template <class T> static T of(T a, T b) { return (a + b + (a + b >= 0 ? 1 : 0)) >> 1; }
};
struct Lesser {
  template <class T> static T of(T a, T b) { return a < b ? a : b; }
};
struct Greater {
  template <class T> static T of(T a, T b) { return a > b ? a : b; }
};
template <Form f> struct Comparison {
  template <class T> static T of(T a, T b) {
    if constexpr (f.has(Word::w_eq)) return a == b;
    if constexpr (f.has(Word::w_ne)) return a != b;
    if constexpr (f.has(Word::w_lt)) return a < b;
    if constexpr (f.has(Word::w_le)) return a <= b;
    if constexpr (f.has(Word::w_gt)) return a > b;
    return a >= b;
  }
};

// ---- scalar: a part of each source; the operation; .sat; a second operation, or c around the result

inline std::int64_t part_a(std::uint32_t a, std::uint64_t selection) {
  return extended<std::int64_t>(a >> first_bit(selection, kShiftOfA), bit_count(selection, kBitsOfA),
                                flag(selection, kSignedA));
}
inline std::int64_t part_b(std::uint32_t b, std::uint64_t selection) {
  return extended<std::int64_t>(b >> first_bit(selection, kShiftOfB), bit_count(selection, kBitsOfB),
                                flag(selection, kSignedB));
}

// A second operation on the result, or the result between the bits of c: optSecondaryOp and optMerge of the manual.
template <Form f> inline std::uint32_t combined(std::int64_t t, std::uint32_t c, std::uint64_t selection) {
  const bool is_signed = flag(selection, kSignedResult), is_expanded = flag(selection, kExpanded);
  const std::int64_t other = extended<std::int64_t>(c, 32, is_signed);
  // Expanded, an unsigned comparison is one of 64 bits: negative numbers are large.
  const std::int64_t bias = is_expanded && !is_signed ? std::numeric_limits<std::int64_t>::min() : 0;
  if constexpr (f.has(Word::w_add)) return static_cast<std::uint32_t>(t + other);
  if constexpr (f.has(Word::w_min)) return static_cast<std::uint32_t>((t ^ bias) < (other ^ bias) ? t : other);
  if constexpr (f.has(Word::w_max)) return static_cast<std::uint32_t>((t ^ bias) > (other ^ bias) ? t : other);
  const int bits = bit_count(selection, kBitsOfResult), shift = first_bit(selection, kShiftOfResult);
  const std::uint32_t written = ~0u >> (32 - bits) << shift;
  const bool is_upper_half = bits == 16 && shift == 16;
  // Expanded, the upper half of the result goes to the upper half of d.
  return (static_cast<std::uint32_t>(t) << (is_expanded && is_upper_half ? 0 : shift) & written) | (c & ~written);
}

// .sat of the expansion.
template <class Operation> inline std::int64_t saturated_expanded(std::int64_t t, int bits, bool is_signed) {
  if constexpr (requires { Operation::shifts; }) // to a whole word in any case, and of 34 bits only
    return saturated(extended(t, 34, true), 32, is_signed);
  const std::int64_t most = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  if (bits != 32) return t < 0 || t > most ? most : t; // what does not fit becomes the largest number, even below 0
  return is_signed ? saturated(t, 32, true) : t < 0 ? 0 : t; // no upper limit for an unsigned number
}

// What the expansion has of a result before the second operation.
template <Form f, class Operation> inline std::int64_t expanded(std::int64_t t, std::uint64_t selection) {
  constexpr bool saturates = f.has(Word::w_sat);
  if constexpr (saturates)
    t = saturated_expanded<Operation>(t, bit_count(selection, kBitsOfResult), flag(selection, kSignedResult));
  // Of sums and differences, and of shifts that saturate, 32 bits are left, which then count as signed.
  constexpr bool wraps = requires { Operation::wraps; }
  || (saturates && requires { Operation::shifts; });
  return wraps ? static_cast<std::int32_t>(t) : t;
}

template <Form f, class Operation> struct VideoScalar {
  static std::uint32_t lane(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint64_t selection) {
    std::int64_t t = Operation::of(part_a(a, selection), part_b(b, selection));
    const std::int64_t by_expansion = expanded<f, Operation>(t, selection);
    if constexpr (f.has(Word::w_sat))
      t = saturated(t, bit_count(selection, kBitsOfResult), flag(selection, kSignedResult));
    return combined<f>(flag(selection, kExpanded) ? by_expansion : t, c, selection);
  }
};
template <Form f> struct VideoAdd : VideoScalar<f, Sum> {};                     // 9.7.18.1.1
template <Form f> struct VideoSubtract : VideoScalar<f, Difference> {};         // 9.7.18.1.1
template <Form f> struct VideoAbsoluteDifference : VideoScalar<f, Distance> {}; // 9.7.18.1.1
template <Form f> struct VideoMinimum : VideoScalar<f, Lesser> {};              // 9.7.18.1.1
template <Form f> struct VideoMaximum : VideoScalar<f, Greater> {};             // 9.7.18.1.1
template <Form f> struct VideoSet : VideoScalar<f, Comparison<f>> {};           // 9.7.18.1.4

// How far a shift goes: .clamp, 32 at most; .wrap, the low five bits.
template <Form f> inline int shift_distance(std::int64_t by) {
  return static_cast<int>(f.has(Word::w_wrap) ? by & 31 : by >= 0 && by < 32 ? by : 32);
}
template <Form f> struct LeftShift {
  static constexpr bool shifts = true;
  static std::int64_t of(std::int64_t a, std::int64_t by) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << shift_distance<f>(by));
  }
};
template <Form f> struct RightShift {
  static constexpr bool shifts = true;
  static std::int64_t of(std::int64_t a, std::int64_t by) { return a >> shift_distance<f>(by); }
};
template <Form f> struct VideoShiftLeft : VideoScalar<f, LeftShift<f>> {};   // 9.7.18.1.2
template <Form f> struct VideoShiftRight : VideoScalar<f, RightShift<f>> {}; // 9.7.18.1.2

// (a * b) + c with negations, plus one (.po), shifted right; the type of the destination says nothing.
template <Form f> struct VideoMultiplyAdd { // 9.7.18.1.3
  static constexpr int shift = f.has(Word::w_shr7) ? 7 : f.has(Word::w_shr15) ? 15 : 0;

  static std::uint32_t lane(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint64_t selection) {
    const bool negated_product = flag(selection, kNegatedProduct), negated_addend = flag(selection, kNegatedAddend);
    const bool is_signed = flag(selection, kSignedA) || flag(selection, kSignedB) || negated_product || negated_addend;
    const std::int64_t x = part_a(a, selection), y = part_b(b, selection);
    if (flag(selection, kExpanded)) { // all three operands are taken as signed
      std::int64_t t = std::int64_t{static_cast<std::int32_t>(x)} * static_cast<std::int32_t>(y);
      t = negated_product ? -t : t;
      const std::int64_t addend = static_cast<std::int32_t>(c);
      t += negated_addend ? -addend : addend;
      t += f.has(Word::w_po) ? 1 : 0;
      t = is_signed ? t >> shift : static_cast<std::int64_t>(static_cast<std::uint64_t>(t) >> shift);
      return static_cast<std::uint32_t>(f.has(Word::w_sat) ? saturated(t, 32, is_signed) : t);
    }
    __int128 t = static_cast<__int128>(x) * y;
    t = negated_product ? -t : t;
    t += extended<std::int64_t>(negated_addend ? ~c : c, 32, is_signed);
    t += f.has(Word::w_po) || negated_addend ? 1 : 0;
    t >>= shift;
    return static_cast<std::uint32_t>(f.has(Word::w_sat) ? saturated(t, 32, is_signed) : t);
  }
};

// ---- SIMD: halves or bytes of b:a; the operation on each; .sat; the results go between those of c, or are added to it

// The bytes of b:a that the digits name.
inline std::uint32_t gathered(std::uint64_t both, std::uint64_t digits) {
  std::uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word |= static_cast<std::uint32_t>(both >> 8 * (digits >> 4 * i & 7) & 0xff) << 8 * i;
  return word;
}

template <Form f, int elements, class Operation> struct VideoVector {
  static std::uint32_t lane(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint64_t selection) {
    constexpr int width = 32 / elements;
    const std::uint64_t both = static_cast<std::uint64_t>(b) << 32 | a;
    a = gathered(both, selection >> kBytesOfA);
    b = gathered(both, selection >> kBytesOfB);
    std::uint32_t result = c;
    for (int i = 0; i < elements; ++i) {
      const int shift = width * i;
      std::int32_t t = Operation::of(extended(static_cast<std::int32_t>(a >> shift), width, flag(selection, kSignedA)),
                                     extended(static_cast<std::int32_t>(b >> shift), width, flag(selection, kSignedB)));
      if constexpr (f.has(Word::w_sat)) t = saturated(t, width, flag(selection, kSignedResult));
      const std::uint32_t written = 0u - static_cast<std::uint32_t>(selection >> (kWritten + i) & 1);
      if constexpr (f.has(Word::w_add)) {
        result += static_cast<std::uint32_t>(t) & written;
      } else {
        const std::uint32_t place = (~0u >> (32 - width) << shift) & written;
        result = (static_cast<std::uint32_t>(t) << shift & place) | (result & ~place);
      }
    }
    return result;
  }
};
template <Form f> struct VideoAdd2 : VideoVector<f, 2, Sum> {};                     // 9.7.18.2.1
template <Form f> struct VideoSubtract2 : VideoVector<f, 2, Difference> {};         // 9.7.18.2.1
template <Form f> struct VideoAverage2 : VideoVector<f, 2, Average> {};             // 9.7.18.2.1
template <Form f> struct VideoAbsoluteDifference2 : VideoVector<f, 2, Distance> {}; // 9.7.18.2.1
template <Form f> struct VideoMinimum2 : VideoVector<f, 2, Lesser> {};              // 9.7.18.2.1
template <Form f> struct VideoMaximum2 : VideoVector<f, 2, Greater> {};             // 9.7.18.2.1
template <Form f> struct VideoSet2 : VideoVector<f, 2, Comparison<f>> {};           // 9.7.18.2.2
template <Form f> struct VideoAdd4 : VideoVector<f, 4, Sum> {};                     // 9.7.18.2.3
template <Form f> struct VideoSubtract4 : VideoVector<f, 4, Difference> {};         // 9.7.18.2.3
template <Form f> struct VideoAverage4 : VideoVector<f, 4, Average> {};             // 9.7.18.2.3
template <Form f> struct VideoAbsoluteDifference4 : VideoVector<f, 4, Distance> {}; // 9.7.18.2.3
template <Form f> struct VideoMinimum4 : VideoVector<f, 4, Lesser> {};              // 9.7.18.2.3
template <Form f> struct VideoMaximum4 : VideoVector<f, 4, Greater> {};             // 9.7.18.2.3
template <Form f> struct VideoSet4 : VideoVector<f, 4, Comparison<f>> {};           // 9.7.18.2.4

} // namespace warplens::isa::WARPLENS_LEVEL
