// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic: PTX manual, sections 9.7.1 (integer) and 9.7.2 (extended precision).
// Arithmetic wraps; it is done on unsigned types so that C++ agrees.
#pragma once

#include "emulator/isa/semantics/lane.hpp"

#include <limits>
#include <type_traits>

namespace warplens::isa::WARPLENS_LEVEL {

// An unsigned type at least as wide as int, so that no promotion to signed int can overflow.
template <class T> using Wide = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;
template <class T> constexpr int kBits = 8 * static_cast<int>(sizeof(T));

template <class T> inline T sum(T a, T b) { return static_cast<T>(static_cast<Wide<T>>(a) + static_cast<Wide<T>>(b)); }
template <class T> inline T difference(T a, T b) {
  return static_cast<T>(static_cast<Wide<T>>(a) - static_cast<Wide<T>>(b));
}
template <class T> inline T product(T a, T b) {
  return static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b));
}
template <class T> inline T negated(T a) { return difference(T{0}, a); }

// The upper half of the product. For 64-bit factors it is scalar: g++ has no faster vector code.
template <class T> inline T product_high(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    using Long = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return static_cast<T>((static_cast<Long>(a) * static_cast<Long>(b)) >> 64);
  } else {
    using Long = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    return static_cast<T>((static_cast<Long>(a) * static_cast<Long>(b)) >> kBits<T>);
  }
}

template <class T, class From> inline T clamped(From x) {
  constexpr auto low = static_cast<From>(std::numeric_limits<T>::min()),
                 high = static_cast<From>(std::numeric_limits<T>::max());
  return static_cast<T>(x < low ? low : x > high ? high : x);
}

template <Form f> struct Add { // 9.7.1.1; .sat is for s32 and u32
  using T = Lane<f.type()>;
  static T lane(T a, T b) {
    if constexpr (f.has(Word::w_sat))
      return clamped<T>(std::int64_t{a} + std::int64_t{b});
    else
      return sum(a, b);
  }
};

template <Form f> struct Subtract { // 9.7.1.2; .sat is for s32
  using T = Lane<f.type()>;
  static T lane(T a, T b) {
    if constexpr (f.has(Word::w_sat))
      return clamped<T>(std::int64_t{a} - std::int64_t{b});
    else
      return difference(a, b);
  }
};

template <Form f> struct Multiply { // 9.7.1.3: .lo, .hi
  using T = Lane<f.type()>;
  static T lane(T a, T b) { return f.has(Word::w_hi) ? product_high(a, b) : product(a, b); }
};

template <Form f> struct MultiplyWide { // 9.7.1.3
  using T = Lane<f.type()>;
  using W = Lane<widened(f.type())>;
  static W lane(T a, T b) { return product(static_cast<W>(a), static_cast<W>(b)); }
};

template <Form f> struct MultiplyAdd { // 9.7.1.4: .lo, .hi; .hi.sat is for s32
  using T = Lane<f.type()>;
  static T lane(T a, T b, T c) {
    const T p = f.has(Word::w_hi) ? product_high(a, b) : product(a, b);
    if constexpr (f.has(Word::w_sat))
      return clamped<T>(std::int64_t{p} + std::int64_t{c});
    else
      return sum(p, c);
  }
};

template <Form f> struct MultiplyAddWide { // 9.7.1.4
  using T = Lane<f.type()>;
  using W = Lane<widened(f.type())>;
  static W lane(T a, T b, W c) { return sum(product(static_cast<W>(a), static_cast<W>(b)), c); }
};

// The product of the low 24 bits; .lo is bits 31..0 of it, .hi bits 47..16 (9.7.1.5).
template <Form f, class T> inline T product24(T a, T b) {
  const auto cut = [](T x) { // sign- or zero-extended
    if constexpr (std::is_signed_v<T>)
      return std::int64_t{static_cast<T>(static_cast<std::uint32_t>(x) << 8) >> 8};
    else
      return static_cast<std::int64_t>(x & 0xffffffu);
  };
  return static_cast<T>((cut(a) * cut(b)) >> (f.has(Word::w_hi) ? 16 : 0));
}

template <Form f> struct Multiply24 { // 9.7.1.5
  using T = Lane<f.type()>;
  static T lane(T a, T b) { return product24<f>(a, b); }
};

template <Form f> struct MultiplyAdd24 { // 9.7.1.6
  using T = Lane<f.type()>;
  static T lane(T a, T b, T c) {
    const T p = product24<f>(a, b);
    if constexpr (f.has(Word::w_sat))
      return clamped<T>(std::int64_t{p} + std::int64_t{c});
    else
      return sum(p, c);
  }
};

template <Form f> struct SumOfAbsoluteDifferences { // 9.7.1.7: c + |a - b|
  using T = Lane<f.type()>;
  static T lane(T a, T b, T c) { return sum(c, a < b ? difference(b, a) : difference(a, b)); }
};

// ---- division, in floating point: processors have vector division only for floats

// 1/b to 46 digits: a float's reciprocal and a step of Newton's iteration, faster than dividing doubles. `excess` is
// added to the result, relatively.
template <class T> inline double reciprocal(T b, double excess) {
  const double r = 1.0f / static_cast<float>(b);
  return r * ((2.0 + excess) - static_cast<double>(b) * r);
}

// a / b where b is not 0, nor -1.
template <class T> inline T quotient(T a, T b) {
  if constexpr (sizeof(T) == 2) { // a float has all digits: a/b lies at least 1/b below the next integer
    return static_cast<T>(static_cast<std::int32_t>(static_cast<float>(a) / static_cast<float>(b)));
  } else if constexpr (sizeof(T) == 4) { // too large by at most a/b 2^-42, less than 1/b
    return static_cast<T>(static_cast<double>(a) * reciprocal(b, 0x1p-43));
  } else if constexpr (!kLongVectors) {
    return a / b;
  } else if constexpr (std::is_signed_v<T>) {
    const auto magnitude = [](T x) { return static_cast<std::uint64_t>(x < 0 ? negated(x) : x); };
    const auto q = static_cast<T>(quotient(magnitude(a), magnitude(b)));
    return (a < 0) != (b < 0) ? negated(q) : q;
  } else { // the first 42 digits, never too large; then those of the remainder; then the last
    const double r = reciprocal(b, -0x1p-43);
    const auto first = static_cast<T>(static_cast<double>(a) * r);
    const T left = a - first * b;
    const auto second = static_cast<T>(static_cast<double>(left) * r);
    return first + second + (left - second * b >= b ? 1 : 0);
  }
}

// Quotient and remainder of a division by zero are all ones: the manual does not specify them (9.7.1.8).
template <Form f> struct Divide {
  using T = Lane<f.type()>;
  static T lane(T a, T b) {
    const bool negates = std::is_signed_v<T> && b == static_cast<T>(-1); // the smallest value wraps
    const T q = quotient(a, b == 0 || negates ? T{1} : b);
    return b == 0 ? static_cast<T>(-1) : negates ? negated(a) : q;
  }
};

template <Form f> struct Remainder { // 9.7.1.9; the sign is that of a
  using T = Lane<f.type()>;
  static T lane(T a, T b) {
    const bool negates = std::is_signed_v<T> && b == static_cast<T>(-1);
    const T divisor = b == 0 || negates ? T{1} : b;
    const T rest = difference(a, product(quotient(a, divisor), divisor));
    return b == 0 ? static_cast<T>(-1) : rest;
  }
};

template <Form f> struct Absolute { // 9.7.1.10
  using T = Lane<f.type()>;
  static T lane(T a) { return a < 0 ? negated(a) : a; }
};

template <Form f> struct Negate { // 9.7.1.11
  using T = Lane<f.type()>;
  static T lane(T a) { return negated(a); }
};

template <Form f> struct Minimum { // 9.7.1.12; .relu clamps negative results to 0
  using T = Lane<f.type()>;
  static T lane(T a, T b) {
    const T m = a < b ? a : b;
    return f.has(Word::w_relu) && m < 0 ? T{0} : m;
  }
};

template <Form f> struct Maximum { // 9.7.1.13
  using T = Lane<f.type()>;
  static T lane(T a, T b) {
    const T m = a > b ? a : b;
    return f.has(Word::w_relu) && m < 0 ? T{0} : m;
  }
};

// u16x2, s16x2, u8x4, s8x4: the operation on each part.
template <Type t>
using Part = std::conditional_t<
    t == Type::u8x4, std::uint8_t,
    std::conditional_t<t == Type::s8x4, std::int8_t, std::conditional_t<is_signed(t), std::int16_t, std::uint16_t>>>;
template <class F> using OfTwoParts = ByElement<F, std::uint32_t, std::uint32_t>;
template <Form f> struct AddParts : OfTwoParts<AddParts<f>> { // 9.7.1.1
  using Element = Part<f.type()>;
  static Element element(Element x, Element y) { return f.has(Word::w_sat) ? clamped<Element>(x + y) : sum(x, y); }
};
template <Form f> struct SubtractParts : OfTwoParts<SubtractParts<f>> { // 9.7.1.2
  using Element = Part<f.type()>;
  static Element element(Element x, Element y) {
    return f.has(Word::w_sat) ? clamped<Element>(x - y) : difference(x, y);
  }
};
template <Form f> struct NegateParts : ByElement<NegateParts<f>, std::uint32_t> { // 9.7.1.11
  using Element = Part<f.type()>;
  static Element element(Element x) { return difference(Element{0}, x); }
};
template <Form f, bool smaller> struct ExtremeOfParts : OfTwoParts<ExtremeOfParts<f, smaller>> { // 9.7.1.12, 9.7.1.13
  using Element = Part<f.type()>;
  static Element element(Element x, Element y) {
    const Element m = (smaller ? x < y : x > y) ? x : y;
    return f.has(Word::w_relu) && m < 0 ? Element{0} : m;
  }
};
template <Form f> struct MinimumOfParts : ExtremeOfParts<f, true> {};
template <Form f> struct MaximumOfParts : ExtremeOfParts<f, false> {};

// The product of polynomials over GF(2), and a sum. The upper half comes from the bits that leave the lower.
template <Form f> struct CarrylessMultiplyAdd { // clmad
  static std::uint64_t lane(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    std::uint64_t p = 0;
#pragma GCC unroll 64 // or the loop over the lanes does not vectorise
    for (int i = 0; i < 64; ++i) {
      const std::uint64_t shifted = f.has(Word::w_lo) ? b << i : i == 0 ? 0 : b >> (64 - i);
      p ^= shifted & (0 - (a >> i & 1));
    }
    return p ^ c;
  }
};

// One element of a packed word, sign- or zero-extended.
template <Type t> inline std::int32_t element(std::uint32_t word, int index, int width) {
  const std::uint32_t top = word << (32 - width * (index + 1));
  if constexpr (is_signed(t))
    return static_cast<std::int32_t>(top) >> (32 - width);
  else
    return static_cast<std::int32_t>(top >> (32 - width));
}

template <Form f> struct DotProduct4 { // dp4a, 9.7.1.23
  static std::uint32_t lane(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    for (int i = 0; i < 4; ++i)
      c += static_cast<std::uint32_t>(element<f.type(0)>(a, i, 8) * element<f.type(1)>(b, i, 8));
    return c;
  }
};

template <Form f> struct DotProduct2 { // dp2a, 9.7.1.24: halves of a with the lower or upper two bytes of b
  static std::uint32_t lane(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    constexpr int first = f.has(Word::w_hi) ? 2 : 0;
    for (int i = 0; i < 2; ++i)
      c += static_cast<std::uint32_t>(element<f.type(0)>(a, i, 16) * element<f.type(1)>(b, first + i, 8));
    return c;
  }
};

// ---- extended precision: the carry flag is an implicit operand (9.7.2)

// a + b + carry and the carry out of it.
template <class T> inline Both<T, bool> sum_with_carry(T a, T b, bool carry) {
  using U = std::make_unsigned_t<T>;
  const U x = static_cast<U>(a), y = static_cast<U>(b);
  const U partial = x + y, total = partial + U{carry};
  return {static_cast<T>(total), partial < x || total < partial};
}
// a - b - borrow. As in the hardware, the flag is the carry of a + ~b + carry, that is: no borrow. This is visible only
// if addc follows sub.cc.
template <class T> inline Both<T, bool> difference_with_carry(T a, T b, bool carry) {
  return sum_with_carry(a, static_cast<T>(~b), carry);
}

template <Form f> struct AddCarryOut { // add.cc, 9.7.2.1
  using T = Lane<f.type()>;
  static Both<T, bool> lane(T a, T b) { return sum_with_carry(a, b, false); }
};
template <Form f> struct AddCarry { // addc, 9.7.2.2
  using T = Lane<f.type()>;
  static T lane(T a, T b, bool carry) { return sum_with_carry(a, b, carry).first; }
};
template <Form f> struct AddCarryBoth { // addc.cc
  using T = Lane<f.type()>;
  static Both<T, bool> lane(T a, T b, bool carry) { return sum_with_carry(a, b, carry); }
};
template <Form f> struct SubtractBorrowOut { // sub.cc, 9.7.2.3
  using T = Lane<f.type()>;
  static Both<T, bool> lane(T a, T b) { return difference_with_carry(a, b, true); }
};
template <Form f> struct SubtractBorrow { // subc, 9.7.2.4
  using T = Lane<f.type()>;
  static T lane(T a, T b, bool carry) { return difference_with_carry(a, b, carry).first; }
};
template <Form f> struct SubtractBorrowBoth { // subc.cc
  using T = Lane<f.type()>;
  static Both<T, bool> lane(T a, T b, bool carry) { return difference_with_carry(a, b, carry); }
};
template <Form f> struct MultiplyAddCarryOut { // mad.cc, 9.7.2.5
  using T = Lane<f.type()>;
  static Both<T, bool> lane(T a, T b, T c) {
    return sum_with_carry(f.has(Word::w_hi) ? product_high(a, b) : product(a, b), c, false);
  }
};
template <Form f> struct MultiplyAddCarry { // madc, 9.7.2.6
  using T = Lane<f.type()>;
  static T lane(T a, T b, T c, bool carry) {
    return sum_with_carry(f.has(Word::w_hi) ? product_high(a, b) : product(a, b), c, carry).first;
  }
};
template <Form f> struct MultiplyAddCarryBoth { // madc.cc
  using T = Lane<f.type()>;
  static Both<T, bool> lane(T a, T b, T c, bool carry) {
    return sum_with_carry(f.has(Word::w_hi) ? product_high(a, b) : product(a, b), c, carry);
  }
};

} // namespace warplens::isa::WARPLENS_LEVEL
