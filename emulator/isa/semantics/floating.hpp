// SPDX-License-Identifier: Apache-2.0
// Single and double precision arithmetic: PTX manual, section 9.7.3. Exact by IEEE 754; -ffp-contract=off.
#pragma once

#include "emulator/isa/semantics/formats.hpp"

namespace warplens::isa::WARPLENS_LEVEL {

// .sat clamps to [0, 1] and makes NaN +0 (9.7.3.3). On the bits, which have the same order: for comparisons of
// floats, the compiler generates branches.
template <class T> inline T saturated(T x) {
  using I = std::make_signed_t<BitsOf<T>>;
  constexpr I infinity = kInfinity<T>, one = std::bit_cast<I>(T{1});
  I bits = std::bit_cast<I>(x);
  bits = bits > 0 ? bits : 0;
  bits = bits > infinity ? 0 : bits;
  return std::bit_cast<T>(bits < one ? bits : one);
}

// .relu makes negative numbers and -0 +0; a NaN stays a NaN.
template <class T> inline T relu(T x) {
  const bool below = bits_of(x) - kSignBit<T> <= kInfinity<T>;
  return std::bit_cast<T>(below ? BitsOf<T>{0} : bits_of(x));
}

// .ftz flushes the result of single precision.
template <Form f, class T> inline T output(T x) {
  if constexpr (f.has(Word::w_ftz) && sizeof(T) == 4) x = flushed(x);
  if constexpr (f.has(Word::w_sat)) x = saturated(x);
  return x;
}

// The result of arithmetic; the operands are in the order in which a NaN among them is the result.
template <Form f, class T, class... Operands> inline T result(T x, Operands... operands) {
  if constexpr (f.has(Word::w_sat)) return output<f>(x);
  return with_nan(output<f>(x), operands...);
}

// Whether a functor's lane() is its number(), but for the bits of NaNs: as NaNs are rare, a whole row can be corrected
// afterwards.
template <Form f>
constexpr bool only_nans_differ = sizeof(Lane<f.type()>) == 4 && !f.has(Word::w_sat) && !f.has(Word::w_ftz);

// A NaN, which keeps its sign, where the bits of a number are changed.
inline float passed_on(float) { return std::bit_cast<float>(0x7fffffffu); }
inline double passed_on(double x) { return quiet(x); }

template <Form f> struct AddFloat { // 9.7.3.3
  using T = Lane<f.type()>;
  static constexpr Rounding rounding = rounding_of(f);
  static T number(T a, T b) { return input<f>(a) + input<f>(b); }
  static T lane(T a, T b) { return result<f>(number(a, b), b, a); }
};

template <Form f> struct SubtractFloat { // 9.7.3.4
  using T = Lane<f.type()>;
  static constexpr Rounding rounding = rounding_of(f);
  static T number(T a, T b) { return input<f>(a) - input<f>(b); }
  static T lane(T a, T b) { return result<f>(number(a, b), b, a); }
};

// .ftz tests whether a result would be subnormal if it were rounded to 24 digits with no bound on the exponent: some
// that round up to the least normal number are flushed. `scaled` is the same operation on operands 2^32 times as large:
// exact in that respect where the result is small; where it is not, an operand may have overflown.
template <Form f> inline float output_scaled(float rounded, float scaled) {
  const bool tiny = (magnitude_bits(scaled) < std::bit_cast<std::uint32_t>(0x1p-94f)) &
                    (magnitude_bits(rounded) <= std::bit_cast<std::uint32_t>(0x1p-126f));
  const float x = std::bit_cast<float>(tiny ? bits_of(rounded) & kSignBit<float> : bits_of(rounded));
  return f.has(Word::w_sat) ? saturated(x) : canonical(x); // flushed already
}
// The same for a conversion: `exact` is the value that was rounded.
template <Form f> inline float output_from(float rounded, double exact) {
  const double magnitude = __builtin_fabs(exact);
  const bool tiny = rounding_of(f) == Rounding::nearest ? magnitude < 0x1.ffffffp-127 : magnitude <= 0x1.fffffep-127;
  return output<f>(f.has(Word::w_ftz) && tiny ? __builtin_copysignf(0.0f, rounded) : rounded);
}

template <Form f> struct MultiplyFloat { // 9.7.3.5
  using T = Lane<f.type()>;
  static constexpr Rounding rounding = rounding_of(f);
  static T number(T a, T b) { return input<f>(a) * input<f>(b); }
  static T lane(T a, T b) {
    if constexpr (f.has(Word::w_ftz))
      return output_scaled<f>(number(a, b), input<f>(a) * 0x1p32f * input<f>(b));
    else
      return result<f>(number(a, b), b, a);
  }
};

template <class T> inline T fused(T a, T b, T c) {
  if constexpr (sizeof(T) == 4)
    return __builtin_fmaf(a, b, c);
  else
    return __builtin_fma(a, b, c);
}

template <Form f> struct FusedMultiplyAdd { // fma, and mad with a rounding; 9.7.3.6, 9.7.3.7
  using T = Lane<f.type()>;
  static constexpr Rounding rounding = rounding_of(f);
  static T number(T a, T b, T c) { return fused(input<f>(a), input<f>(b), input<f>(c)); }
  static T lane(T a, T b, T c) {
    if constexpr (f.has(Word::w_ftz))
      return output_scaled<f>(number(a, b, c), fused(input<f>(a) * 0x1p32f, input<f>(b), input<f>(c) * 0x1p32f));
    else
      return result<f>(number(a, b, c), b, c, a);
  }
};

// mad.f32 of sm_1x: the fraction of the product is cut to 23 bits, then the sum is rounded; with c = 0 it is a rounded
// product. Subnormals are flushed there (9.7.3.7).
template <Form f> struct TruncatedMultiplyAdd {
  static float lane(float a, float b, float c) {
    const double exact = static_cast<double>(flushed(a)) * flushed(b);
    const auto cut = std::bit_cast<double>(std::bit_cast<std::uint64_t>(exact) & ~((std::uint64_t{1} << 29) - 1));
    const float added = static_cast<float>(cut + flushed(c)); // the sum of two 24-bit numbers, exact where it matters
    const float x = flushed(flushed(c) == 0.0f ? flushed(a) * flushed(b) : added);
    return f.has(Word::w_sat) ? saturated(x) : canonical(x);
  }
};

template <class T> inline T square_root(T x) {
  if constexpr (sizeof(T) == 4)
    return __builtin_sqrtf(x);
  else
    return __builtin_sqrt(x);
}

template <Form f> struct DivideFloat { // div.rn and so on, 9.7.3.8
  using T = Lane<f.type()>;
  static constexpr Rounding rounding = rounding_of(f);
  static T number(T a, T b) { return input<f>(a) / input<f>(b); }
  static T lane(T a, T b) { return result<f>(number(a, b), a, b); }
};

template <Form f> struct ReciprocalRounded { // rcp.rn and so on, 9.7.3.13
  using T = Lane<f.type()>;
  static constexpr Rounding rounding = rounding_of(f);
  static T number(T a) { return T{1} / input<f>(a); }
  static T lane(T a) { return result<f>(number(a), a); }
};

template <Form f> struct SquareRootRounded { // sqrt.rn and so on, 9.7.3.15
  using T = Lane<f.type()>;
  static constexpr Rounding rounding = rounding_of(f);
  static T number(T a) { return square_root(input<f>(a)); }
  static T lane(T a) { return result<f>(number(a), a); }
};

template <class T> inline T from_bits(BitsOf<T> bits) { return std::bit_cast<T>(bits); }

template <Form f> struct AbsoluteFloat { // 9.7.3.9; a NaN keeps its sign
  using T = Lane<f.type()>;
  static T lane(T a) { return is_nan(a) ? passed_on(a) : from_bits<T>(magnitude_bits(input<f>(a))); }
};

template <Form f> struct NegateFloat { // 9.7.3.10; a NaN keeps its sign
  using T = Lane<f.type()>;
  static T lane(T a) { return is_nan(a) ? passed_on(a) : from_bits<T>(bits_of(input<f>(a)) ^ kSignBit<T>); }
};

template <Form f> struct CopySign { // 9.7.3.2: the sign of a, the magnitude of b
  using T = Lane<f.type()>;
  static T lane(T a, T b) { return from_bits<T>((bits_of(a) & kSignBit<T>) | magnitude_bits(b)); }
};

template <Form f> struct TestProperty { // testp, 9.7.3.1: a zero is normal
  using T = Lane<f.type()>;
  static bool lane(T a) {
    const BitsOf<T> m = magnitude_bits(a), infinity = kInfinity<T>;
    const bool tiny = m != 0 && (m & infinity) == 0;
    if constexpr (f.has(Word::w_finite))
      return m < infinity;
    else if constexpr (f.has(Word::w_infinite))
      return m == infinity;
    else if constexpr (f.has(Word::w_number))
      return m <= infinity;
    else if constexpr (f.has(Word::w_notanumber))
      return m > infinity;
    else if constexpr (f.has(Word::w_normal))
      return m < infinity && !tiny;
    else
      return tiny;
  }
};

// ---- minimum and maximum, on the bits: -0 < +0; a NaN loses against a number, or wins with .NaN (9.7.3.11, 9.7.3.12)

// The bits as a signed integer of the same order.
template <class U> inline auto ordered(U bits) {
  using I = std::make_signed_t<U>;
  constexpr int top = 8 * sizeof(U) - 1;
  return static_cast<I>(static_cast<I>(bits) ^ static_cast<I>(static_cast<U>(static_cast<I>(bits) >> top) >> 1));
}

// `infinity` is that of the format whose bits these are, `nan` the result of two NaNs.
template <Form f, bool smaller, class U> inline U extreme(U a, U b, U infinity, U nan) {
  constexpr U sign = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
  constexpr U rest = static_cast<U>(~sign);
  const bool a_is_nan = (a & rest) > infinity, b_is_nan = (b & rest) > infinity;
  U result_sign = 0;
  if constexpr (f.has(Word::w_xorsign)) {
    result_sign = static_cast<U>((a ^ b) & sign);
    a &= rest;
    b &= rest;
  }
  U chosen = (smaller ? ordered(a) < ordered(b) : ordered(a) > ordered(b)) ? a : b;
  if constexpr (f.has(Word::w_nan_result)) {
    return a_is_nan || b_is_nan ? nan : static_cast<U>(chosen | result_sign);
  } else {
    chosen = a_is_nan ? b : b_is_nan ? a : chosen;
    return a_is_nan && b_is_nan ? nan : static_cast<U>(chosen | result_sign);
  }
}

template <Form f, bool smaller> struct ExtremeFloat {
  using T = Lane<f.type()>;
  static T lane(T a, T b) {
    BitsOf<T> nan = 0x7fffffffu;
    if constexpr (sizeof(T) == 8) nan = bits_of(quiet(b));
    return from_bits<T>(extreme<f, smaller>(bits_of(input<f>(a)), bits_of(input<f>(b)), kInfinity<T>, nan));
  }
};
template <Form f> struct MinimumFloat : ExtremeFloat<f, true> {};
template <Form f> struct MaximumFloat : ExtremeFloat<f, false> {};

template <Form f, bool smaller> struct ExtremeOfThree { // of f32; .abs takes the magnitudes
  static float lane(float a, float b, float c) {
    const auto in = [](float x) { return f.has(Word::w_abs) ? magnitude_bits(input<f>(x)) : bits_of(input<f>(x)); };
    const auto of = [](std::uint32_t x, std::uint32_t y) {
      return extreme<f, smaller>(x, y, kInfinity<float>, std::uint32_t{0x7fffffff});
    };
    return from_bits<float>(of(of(in(a), in(b)), in(c)));
  }
};
template <Form f> struct MinimumOfThree : ExtremeOfThree<f, true> {};
template <Form f> struct MaximumOfThree : ExtremeOfThree<f, false> {};

// ---- f32x2: the instruction for f32 on each half

constexpr Form of_single(Form f) {
  for (int i = 0; i < f.count; ++i)
    if (f.words[i] == word_of(Type::f32x2)) f.words[i] = word_of(Type::f32);
  return f;
}
template <class One, class... Packed> struct EachSingle : ByElement<EachSingle<One, Packed...>, Packed...> {
  using Element = float;
  static constexpr Rounding rounding = One::rounding;
  template <class... T> static float element(T... x) { return One::lane(x...); }
};
template <Form f> struct AddSinglePair : EachSingle<AddFloat<of_single(f)>, std::uint64_t, std::uint64_t> {};
template <Form f> struct SubtractSinglePair : EachSingle<SubtractFloat<of_single(f)>, std::uint64_t, std::uint64_t> {};
template <Form f> struct MultiplySinglePair : EachSingle<MultiplyFloat<of_single(f)>, std::uint64_t, std::uint64_t> {};
template <Form f>
struct FusedMultiplyAddSinglePair
    : EachSingle<FusedMultiplyAdd<of_single(f)>, std::uint64_t, std::uint64_t, std::uint64_t> {};

} // namespace warplens::isa::WARPLENS_LEVEL
