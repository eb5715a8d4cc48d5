// Video instructions: PTX manual, sections 9.7.18.1 (scalar) and 9.7.18.2 (SIMD). Operands are whole words; which parts
// of them are meant and of what type these are is the last argument (isa/selection.hpp), so that there are few
// variants.
#pragma once

#include "emulator/isa/selection.hpp"
#include "emulator/isa/semantics/lane.hpp"

namespace warplens::isa::WARPLENS_LEVEL {

inline int number(std::uint64_t selection, int field) { return static_cast<int>(selection >> field & 0xff); }
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
struct Sum {
  template <class T> static T of(T a, T b) { return a + b; }
};
struct Difference {
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
  return extended<std::int64_t>(a >> number(selection, kShiftOfA), number(selection, kBitsOfA),
                                flag(selection, kSignedA));
}
inline std::int64_t part_b(std::uint32_t b, std::uint64_t selection) {
  return extended<std::int64_t>(b >> number(selection, kShiftOfB), number(selection, kBitsOfB),
                                flag(selection, kSignedB));
}

// What becomes of the result of the operation: optSaturate, optSecondaryOp and optMerge of the manual.
template <Form f> inline std::uint32_t finished(std::int64_t t, std::uint32_t c, std::uint64_t selection) {
  const int bits = number(selection, kBitsOfResult), shift = number(selection, kShiftOfResult);
  const bool is_signed = flag(selection, kSignedResult);
  if constexpr (f.has(Word::w_sat)) t = saturated(t, bits, is_signed);
  const std::int64_t other = extended<std::int64_t>(c, 32, is_signed);
  if constexpr (f.has(Word::w_add)) return static_cast<std::uint32_t>(t + other);
  if constexpr (f.has(Word::w_min)) return static_cast<std::uint32_t>(Lesser::of(t, other));
  if constexpr (f.has(Word::w_max)) return static_cast<std::uint32_t>(Greater::of(t, other));
  const std::uint32_t written = ~0u >> (32 - bits) << shift;
  return (static_cast<std::uint32_t>(t) << shift & written) | (c & ~written);
}

template <Form f, class Operation> struct VideoScalar {
  static std::uint32_t lane(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint64_t selection) {
    return finished<f>(Operation::of(part_a(a, selection), part_b(b, selection)), c, selection);
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
  return static_cast<int>(f.has(Word::w_wrap) ? by & 31 : by < 32 ? by : 32);
}
template <Form f> struct LeftShift {
  static std::int64_t of(std::int64_t a, std::int64_t by) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << shift_distance<f>(by));
  }
};
template <Form f> struct RightShift {
  static std::int64_t of(std::int64_t a, std::int64_t by) { return a >> shift_distance<f>(by); }
};
template <Form f> struct VideoShiftLeft : VideoScalar<f, LeftShift<f>> {};   // 9.7.18.1.2
template <Form f> struct VideoShiftRight : VideoScalar<f, RightShift<f>> {}; // 9.7.18.1.2

// (a * b) + c with negations, plus one (.po), shifted right; the type of the destination says nothing.
template <Form f> struct VideoMultiplyAdd { // 9.7.18.1.3
  static std::uint32_t lane(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint64_t selection) {
    const bool negated_product = flag(selection, kNegatedProduct), negated_addend = flag(selection, kNegatedAddend);
    const bool is_signed = flag(selection, kSignedA) || flag(selection, kSignedB) || negated_product || negated_addend;
    const __int128 product = static_cast<__int128>(part_a(a, selection)) * part_b(b, selection);
    __int128 t = negated_product ? ~product : product;
    t += extended<std::int64_t>(negated_addend ? ~c : c, 32, is_signed);
    t += f.has(Word::w_po) || negated_product || negated_addend ? 1 : 0;
    t >>= f.has(Word::w_shr7) ? 7 : f.has(Word::w_shr15) ? 15 : 0;
    if constexpr (f.has(Word::w_sat)) t = saturated(t, 32, is_signed);
    return static_cast<std::uint32_t>(t);
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
