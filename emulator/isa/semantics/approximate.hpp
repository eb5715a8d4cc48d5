// SPDX-License-Identifier: Apache-2.0
// The approximations of the special function unit: PTX manual, sections 9.7.3.8 and 9.7.3.13 to 9.7.3.22 (f32, f64),
// 9.7.4.9 and 9.7.4.10 (half precision). They give the bits of the hardware: what the unit does (special_unit.hpp) and
// the few instructions that the assembler puts around it, mostly so that subnormal numbers count.
#pragma once

#include "emulator/base/loops.hpp"
#include "emulator/isa/semantics/half.hpp"
#include "emulator/isa/semantics/special_unit.hpp"

namespace warplens::isa::WARPLENS_LEVEL {

// The spellings of PTX 1.0 to 1.3, such as rcp.f32, mean .approx.ftz.
template <Form f> constexpr bool flushes() { return f.has(Word::w_ftz) || f.count == 1; }

inline bool below_normal(float x) { return __builtin_fabsf(x) < 0x1p-126f; }
// Beyond 2^126 the reciprocal is below the normal numbers.
inline bool above_reciprocal(float x) { return __builtin_fabsf(x) > 0x1p126f; }

// d = after(unit(before(a)), a), lane by lane.
template <auto unit, class Before, class After>
inline void apply(float* d, const float* a, Before before, After after) {
  special::Words x, y;
  for (int i = 0; i < kRowLanes; ++i) x[i] = std::bit_cast<std::uint32_t>(before(a[i]));
  unit(x, y);
  WARPLENS_INDEPENDENT
  for (int i = 0; i < kRowLanes; ++i) d[i] = after(std::bit_cast<float>(y[i]), a[i]);
}
template <auto unit> inline void apply(float* d, const float* a) {
  apply<unit>(
      d, a, [](float x) { return x; }, [](float y, float) { return y; });
}

// A product as mul.ftz gives it, of any number and one of the unit's: what would be below the normal numbers even if
// rounded to 24 digits there is 0. Scaled, it has them.
inline float flushed_product(float a, float y) {
  const float x = flushed(a), product = x * y;
  return __builtin_fabsf(x * 0x1p24f * y) < 0x1p-102f ? __builtin_copysignf(0.0f, product) : product;
}

template <Form f> struct Reciprocal : ByRow<Reciprocal<f>, float, float> { // rcp.approx.f32, 9.7.3.13
  static void row(float* d, const float* a) {
    if constexpr (flushes<f>()) {
      apply<special::reciprocal>(d, a);
    } else {
      const auto scaled = [](float y, float x) {
        return y * (below_normal(x) ? 0x1p24f : above_reciprocal(x) ? 0x1p-2f : 1.0f);
      };
      apply<special::reciprocal>(
          d, a, [&](float x) { return scaled(x, x); }, scaled);
    }
  }
};

template <Form f> struct SquareRoot : ByRow<SquareRoot<f>, float, float> { // sqrt.approx, 9.7.3.15
  static void row(float* d, const float* a) {
    if constexpr (flushes<f>())
      apply<special::square_root>(d, a);
    else
      apply<special::square_root>(
          d, a, [](float x) { return below_normal(x) ? x * 0x1p24f : x; },
          [](float y, float x) { return below_normal(x) ? y * 0x1p-12f : y; });
  }
};

template <Form f>
struct ReciprocalSquareRoot : ByRow<ReciprocalSquareRoot<f>, float, float> { // rsqrt.approx.f32, 9.7.3.16
  static void row(float* d, const float* a) {
    if constexpr (flushes<f>())
      apply<special::reciprocal_square_root>(d, a);
    else
      apply<special::reciprocal_square_root>(
          d, a, [](float x) { return below_normal(x) ? x * 0x1p24f : x; },
          [](float y, float x) { return below_normal(x) ? y * 0x1p12f : y; });
  }
};

template <Form f> struct ExponentialBase2 : ByRow<ExponentialBase2<f>, float, float> { // ex2.approx.f32, 9.7.3.21
  static void row(float* d, const float* a) {
    if constexpr (flushes<f>())
      apply<special::power_of_two>(d, a);
    else
      apply<special::power_of_two>(
          d, a, [](float x) { return x < -126.0f ? x * 0.5f : x; },
          [](float y, float x) { return x < -126.0f ? y * y : y; });
  }
};

template <Form f> struct LogarithmBase2 : ByRow<LogarithmBase2<f>, float, float> { // lg2.approx.f32, 9.7.3.20
  static void row(float* d, const float* a) {
    if constexpr (flushes<f>())
      apply<special::logarithm>(d, a);
    else
      apply<special::logarithm>(
          d, a, [](float x) { return below_normal(x) ? x * 0x1p24f : x; },
          [](float y, float x) { return below_normal(x) ? y - 24.0f : y; });
  }
};

// The argument is multiplied by 1/2pi first, rounded toward zero; subnormal products do not count, so .ftz says
// nothing.
template <Form f> struct Sine : ByRow<Sine<f>, float, float> { // sin.approx.f32, 9.7.3.18
  static constexpr Rounding rounding = Rounding::zero;
  static void row(float* d, const float* a) {
    apply<special::sine>(
        d, a, [](float x) { return x * 0x1.45f306p-3f; }, [](float y, float) { return y; });
  }
};
template <Form f> struct Cosine : ByRow<Cosine<f>, float, float> { // cos.approx.f32, 9.7.3.19
  static constexpr Rounding rounding = Rounding::zero;
  static void row(float* d, const float* a) {
    apply<special::cosine>(
        d, a, [](float x) { return x * 0x1.45f306p-3f; }, [](float y, float) { return y; });
  }
};

template <Form f> struct HyperbolicTangent : ByRow<HyperbolicTangent<f>, float, float> { // tanh.approx.f32, 9.7.3.22
  static void row(float* d, const float* a) { apply<special::hyperbolic_tangent>(d, a); }
};

// ---- division: by the reciprocal, 9.7.3.8

// d = scaled(a, b) * reciprocal(scaled(b, b))
template <Form f, class Scaled> inline void divide(float* d, const float* a, const float* b, Scaled scaled) {
  special::Words x, y;
  for (int i = 0; i < kRowLanes; ++i) x[i] = std::bit_cast<std::uint32_t>(scaled(b[i], b[i]));
  special::reciprocal(x, y);
  WARPLENS_INDEPENDENT
  for (int i = 0; i < kRowLanes; ++i) {
    const float numerator = scaled(a[i], b[i]), factor = std::bit_cast<float>(y[i]);
    d[i] = canonical(flushes<f>() ? flushed_product(numerator, factor) : numerator * factor);
  }
}

template <Form f> struct DivideApproximate : ByRow<DivideApproximate<f>, float, float, float> {
  static void row(float* d, const float* a, const float* b) {
    if constexpr (flushes<f>())
      divide<f>(d, a, b, [](float x, float) { return x; });
    else
      divide<f>(d, a, b, [](float x, float y) { return below_normal(y) ? x * 0x1p24f : x; });
  }
};

template <Form f> struct DivideFull : ByRow<DivideFull<f>, float, float, float> {
  static void row(float* d, const float* a, const float* b) {
    if constexpr (flushes<f>())
      divide<f>(d, a, b, [](float x, float y) { return above_reciprocal(y) ? x * 0x1p-2f : x; });
    else
      divide<f>(d, a, b, [](float x, float y) {
        return x * (below_normal(y) ? 0x1p24f : above_reciprocal(y) ? 0x1p-2f : 1.0f);
      });
  }
};

// ---- double precision: .ftz.f64 works on the upper 32 bits, and gives only those (9.7.3.14, 9.7.3.17)

inline std::uint32_t upper_word(double x) { return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(x) >> 32); }
inline double from_upper_word(std::uint32_t bits) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(bits) << 32);
}

template <auto unit> inline void apply_upper(double* d, const double* a) {
  special::Words x, y;
  for (int i = 0; i < kRowLanes; ++i) x[i] = upper_word(a[i]);
  unit(x, y);
  for (int i = 0; i < kRowLanes; ++i) d[i] = from_upper_word(y[i]);
}

template <Form f> struct ReciprocalGross : ByRow<ReciprocalGross<f>, double, double> { // rcp.approx.ftz.f64
  static void row(double* d, const double* a) { apply_upper<special::reciprocal_upper>(d, a); }
};

// One step of Newton's method, of third order; subnormal numbers are scaled.
template <Form f>
struct ReciprocalSquareRootDouble : ByRow<ReciprocalSquareRootDouble<f>, double, double> { // rsqrt.approx.f64
  static void row(double* d, const double* a) {
    if constexpr (f.has(Word::w_ftz)) {
      apply_upper<special::reciprocal_square_root_upper>(d, a);
    } else {
      alignas(64) double x[kRowLanes], y[kRowLanes];
      for (int i = 0; i < kRowLanes; ++i) x[i] = __builtin_fabs(a[i]) < 0x1p-1022 ? a[i] * 0x1p54 : a[i];
      apply_upper<special::reciprocal_square_root_upper>(y, x);
      WARPLENS_INDEPENDENT
      for (int i = 0; i < kRowLanes; ++i) {
        const double error = fused(x[i], -(y[i] * y[i]), 1.0);
        const double better = fused(fused(error, 0.375, 0.5), y[i] * error, y[i]);
        const bool special = !(x[i] > 0.0 && x[i] < __builtin_inf());
        const double scaled = __builtin_fabs(a[i]) < 0x1p-1022 ? better * 0x1p27 : better;
        d[i] = is_nan(a[i]) ? quiet(a[i]) : a[i] < 0 ? new_nan() : special ? y[i] : scaled;
      }
    }
  }
};

// ---- half precision

// The half that is left of a float when further digits are cut off. Beyond the largest number comes infinity.
template <Type t> inline std::uint32_t cut_to_half(std::uint32_t bits) {
  if constexpr (t == Type::bf16) {
    return bits >> 16;
  } else {
    const std::uint32_t magnitude = bits & ~special::kSign;
    const bool subnormal = magnitude < 113u << 23; // as a half
    const float places = subnormal ? std::bit_cast<float>(magnitude) * 0x1p24f : 0.0f;
    const std::uint32_t finite =
        subnormal ? static_cast<std::uint32_t>(static_cast<std::int32_t>(places)) : (magnitude - (112u << 23)) >> 13;
    const std::uint32_t half = magnitude >= 143u << 23 ? 0x7c00u : finite;
    return (bits >> 16 & 0x8000u) | (magnitude > special::kInfinite ? 0x7fffu : half);
  }
}

// The halves of a row, one after the other, through the unit as floats.
template <Form f, auto unit> inline void apply_halves(Lane<f.type()>* d, const Lane<f.type()>* a) {
  constexpr int kHalves = is_pair(f.type()) ? 2 : 1;
  special::Words x, y, results[kHalves];
  for (int half = 0; half < kHalves; ++half) {
    for (int i = 0; i < kRowLanes; ++i)
      x[i] = std::bit_cast<std::uint32_t>(half_value<f>(static_cast<std::uint16_t>(a[i] >> (16 * half))));
    unit(x, y);
    for (int i = 0; i < kRowLanes; ++i) results[half][i] = cut_to_half<half_of(f.type())>(y[i]);
  }
  for (int i = 0; i < kRowLanes; ++i) {
    std::uint32_t all = results[0][i];
    if constexpr (kHalves == 2) all |= results[1][i] << 16;
    d[i] = static_cast<Lane<f.type()>>(all);
  }
}

template <Form f>
struct HyperbolicTangentHalf : ByRow<HyperbolicTangentHalf<f>, Lane<f.type()>, Lane<f.type()>> { // 9.7.4.9
  using T = Lane<f.type()>;
  static void row(T* d, const T* a) { apply_halves<f, special::hyperbolic_tangent>(d, a); }
};
template <Form f>
struct ExponentialBase2Half : ByRow<ExponentialBase2Half<f>, Lane<f.type()>, Lane<f.type()>> { // 9.7.4.10
  using T = Lane<f.type()>;
  static void row(T* d, const T* a) { apply_halves<f, special::power_of_two>(d, a); }
};

} // namespace warplens::isa::WARPLENS_LEVEL
