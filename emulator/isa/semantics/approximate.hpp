// The approximations of the special function unit: PTX manual, sections 9.7.3.8 and 9.7.3.13 to 9.7.3.22 (f32, f64),
// 9.7.4.9 and 9.7.4.10 (half precision). Ours are more exact than the manual's bounds; special values are the manual's.
// The elementary functions are computed in double and rounded once.
#pragma once

#include "emulator/isa/semantics/half.hpp"

namespace warplens::isa::WARPLENS_LEVEL {

// The spellings of PTX 1.0 to 1.3, such as rcp.f32, mean .approx.ftz.
template <Form f> constexpr bool flushes() { return f.has(Word::w_ftz) || f.count == 1; }
template <Form f> inline float special_input(float x) { return flushes<f>() ? flushed(x) : x; }
template <Form f> inline float special_output(float x) { return flushes<f>() ? flushed(x) : x; }

template <Form f> struct DivideApproximate { // 9.7.3.8: beyond 2^126 a divisor's reciprocal counts as 0
  static float lane(float a, float b) {
    a = special_input<f>(a);
    b = special_input<f>(b);
    const float magnitude = __builtin_fabsf(b);
    const bool huge = magnitude > 0x1p126f && magnitude < __builtin_inff();
    return special_output<f>(huge ? a * __builtin_copysignf(0.0f, b) : a / b);
  }
};

template <Form f> struct DivideFull { // div.full, 9.7.3.8
  static float lane(float a, float b) { return special_output<f>(special_input<f>(a) / special_input<f>(b)); }
};

template <Form f> struct Reciprocal { // rcp.approx, 9.7.3.13
  static float lane(float a) { return special_output<f>(1.0f / special_input<f>(a)); }
};

template <Form f> struct SquareRoot { // sqrt.approx, 9.7.3.15
  static float lane(float a) { return special_output<f>(__builtin_sqrtf(special_input<f>(a))); }
};

template <Form f> struct ReciprocalSquareRoot { // rsqrt.approx.f32, 9.7.3.16
  static float lane(float a) { return special_output<f>(1.0f / __builtin_sqrtf(special_input<f>(a))); }
};

// .ftz.f64: works on the upper 32 bits, and gives only those (9.7.3.14, 9.7.3.17).
inline double upper_word(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0xffffffff00000000u);
}
inline double flushed_double(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  return std::bit_cast<double>((bits & kInfinity<double>) == 0 ? bits & kSignBit<double> : bits);
}
template <Form f> struct ReciprocalGross { // rcp.approx.ftz.f64
  static double lane(double a) { return upper_word(flushed_double(1.0 / flushed_double(upper_word(a)))); }
};
template <Form f> struct ReciprocalSquareRootDouble { // rsqrt.approx{.ftz}.f64
  static double lane(double a) {
    if constexpr (f.has(Word::w_ftz))
      return upper_word(1.0 / __builtin_sqrt(flushed_double(upper_word(a))));
    else
      return 1.0 / __builtin_sqrt(a);
  }
};

// ---- elementary functions

// 2^f for |f| <= 1/2, to 2^-40.
inline double power_of_two_fraction(double f) {
  const double x = f * 0x1.62e42fefa39efp-1; // ln 2
  double p = 1.0 / 3628800;
  p = p * x + 1.0 / 362880;
  p = p * x + 1.0 / 40320;
  p = p * x + 1.0 / 5040;
  p = p * x + 1.0 / 720;
  p = p * x + 1.0 / 120;
  p = p * x + 1.0 / 24;
  p = p * x + 1.0 / 6;
  p = p * x + 0.5;
  p = p * x + 1.0;
  return p * x + 1.0;
}
// 2^x as a double; what lies beyond the range of float is only known to do so. NaN stays NaN.
inline double power_of_two(double x) {
  const double bounded = x < -300.0 ? -300.0 : x > 300.0 ? 300.0 : x; // a NaN passes
  const double whole = __builtin_rint(bounded);
  const auto exponent = static_cast<std::int32_t>(whole == whole ? whole : 0.0);
  const auto scale = std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
  return power_of_two_fraction(bounded - whole) * scale;
}

template <Form f> struct ExponentialBase2 { // ex2.approx.f32, 9.7.3.21
  static float lane(float a) { return special_output<f>(static_cast<float>(power_of_two(special_input<f>(a)))); }
};

template <Form f> struct LogarithmBase2 { // lg2.approx.f32, 9.7.3.20
  static float lane(float a) {
    const float x = special_input<f>(a);
    const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(x)); // subnormals become normal
    // x = m 2^e with m in [sqrt(1/2), sqrt(2))
    constexpr std::uint64_t kRootHalf = 0x3fe6a09e667f3bcdu;
    const std::uint64_t shifted = bits - kRootHalf;
    const auto e = static_cast<std::int32_t>(static_cast<std::int64_t>(shifted) >> 52);
    const auto m = std::bit_cast<double>((shifted & 0xfffffffffffffu) + kRootHalf);
    const double s = (m - 1.0) / (m + 1.0), z = s * s; // lg2 m = 2/ln 2 (s + s^3/3 + s^5/5 + …)
    double p = 1.0 / 15;
    p = p * z + 1.0 / 13;
    p = p * z + 1.0 / 11;
    p = p * z + 1.0 / 9;
    p = p * z + 1.0 / 7;
    p = p * z + 1.0 / 5;
    p = p * z + 1.0 / 3;
    p = p * z + 1.0;
    const auto result = static_cast<float>(e + p * s * 0x1.71547652b82fep+1);
    if (x == 0.0f) return -__builtin_inff();
    if (!(x > 0.0f)) return __builtin_nanf("");
    return x == __builtin_inff() ? x : result;
  }
};

// sin(x + quarters * pi/2) by reduction to [-pi/4, pi/4]; good to |x| of 2^30, bounded beyond.
inline float sine_shifted(float x, int quarters) {
  const double turns = static_cast<double>(x) * 0x1.45f306dc9c883p-1; // 2/pi
  const double bounded = __builtin_fabs(turns) < 0x1p31 ? turns : 0.0;
  const double whole = __builtin_rint(bounded);
  const double r = (x - whole * 0x1.921fb54400000p+0) - whole * 0x1.0b4611a626331p-34; // pi/2 in two parts
  const double z = r * r;
  double s = 1.0 / 362880;
  s = s * z - 1.0 / 5040;
  s = s * z + 1.0 / 120;
  s = s * z - 1.0 / 6;
  s = r + r * z * s;
  double c = -1.0 / 3628800;
  c = c * z + 1.0 / 40320;
  c = c * z - 1.0 / 720;
  c = c * z + 1.0 / 24;
  c = 1.0 + z * (c * z - 0.5);
  const std::int64_t quadrant = static_cast<std::int64_t>(whole) + quarters;
  const double value = (quadrant & 1) != 0 ? c : s;
  const auto result = static_cast<float>((quadrant & 2) != 0 ? -value : value);
  if (!(__builtin_fabsf(x) < __builtin_inff())) return __builtin_nanf("");
  return __builtin_fabs(turns) < 0x1p31 ? result : 0.0f;
}
template <Form f> struct Sine { // sin.approx.f32, 9.7.3.18
  static float lane(float a) {
    const float x = special_input<f>(a);
    return x == 0.0f ? x : special_output<f>(sine_shifted(x, 0)); // the sign of zero is kept
  }
};
template <Form f> struct Cosine { // cos.approx.f32, 9.7.3.19
  static float lane(float a) { return special_output<f>(sine_shifted(special_input<f>(a), 1)); }
};

inline float hyperbolic_tangent(float x) {
  const double z = static_cast<double>(x) * x;
  const double near_zero = x * (1.0 - z * (1.0 / 3 - z * (2.0 / 15 - z * (17.0 / 315)))); // keeps the sign of zero
  const double e = power_of_two(x * 0x1.71547652b82fep+1);                                // e^2x
  const double far = 1.0 - 2.0 / (e + 1.0);
  return static_cast<float>(z < 0.01 ? near_zero : far);
}
template <Form f> struct HyperbolicTangent { // tanh.approx.f32, 9.7.3.22
  static float lane(float a) { return hyperbolic_tangent(a); }
};

template <Form f> struct HyperbolicTangentHalf { // 9.7.4.9
  using T = Lane<f.type()>;
  static T lane(T a) {
    return each_half([](std::uint16_t x) { return half_output<f>(hyperbolic_tangent(half_value<f>(x))); }, a);
  }
};
template <Form f> struct ExponentialBase2Half { // 9.7.4.10
  using T = Lane<f.type()>;
  static T lane(T a) {
    return each_half([](std::uint16_t x) { return half_output<f>(power_of_two(half_value<f>(x))); }, a);
  }
};

} // namespace warplens::isa::WARPLENS_LEVEL
