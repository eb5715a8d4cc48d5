// SPDX-License-Identifier: Apache-2.0
// Scales of narrow floats (9.7.14.3), of 16 rows of A and of eight columns of B, as factors of single precision and
// what they add to exponents: as they are multiplied with factors in a RowPutter and a ColumnPutter. Included only by
// files that are compiled once per level.
//
//   RowScales scales;  scales.put_vector(0, v * kWide, bytes, with_fraction);  scaled(x, exponents, …)
#pragma once

#include "emulator/exec/matrix/group_products.hpp"

namespace warplens::exec::WARPLENS_LEVEL {

using EightIntegers = std::int32_t __attribute__((vector_size(32)));

constexpr int kMostScales = 6;       ///< of tcgen05.mma with K = 96
constexpr int kFraction = 23;        ///< bits of a single's fraction
constexpr int kUndoubtedScale = 100; ///< with smaller exponents of both signs, all scaled factors are normal numbers

inline bool any_of_eight(EightIntegers x) {
  using Longs = std::uint64_t __attribute__((vector_size(32)));
  const auto all = reinterpret_cast<Longs>(x);
  return (all[0] | all[1] | all[2] | all[3]) != 0;
}

/// The scales of `lines` rows or columns, each `times` times.
template <int lines, int times, class Integers, class Floats> struct LineScales {
  alignas(64) float values[kMostScales][lines * times];
  alignas(64) std::int32_t exponents[kMostScales][lines * times]; ///< as upper bits of singles, without bias
  bool unusual = false;                                           ///< some are NaNs
  bool doubtful = false;                                          ///< some scaled factors may not be normal numbers

  void put(int scale, int line, ProductScale x) {
    unusual = unusual || x.exponent >= kAbove;
    doubtful = doubtful || x.exponent < -kUndoubtedScale || x.exponent > kUndoubtedScale;
    for (int i = 0; i < times; ++i) {
      values[scale][line * times + i] = static_cast<float>(x.value);
      // A scale of 0 makes all numbers 0.
      exponents[scale][line * times + i] = std::max(x.exponent, -kBias) * (1 << kFraction);
    }
  }
  /// From their bytes, as scale_from() has them one by one; `at`: of the first one.
  void put_vector(int scale, int at, Integers bytes, bool with_fraction) {
    Integers value, exponent, nan;
    if (with_fraction) { // ue4m3
      const Integers magnitude = bytes & 0x7f, field = magnitude >> 3, subnormal = field == 0;
      exponent = (field - subnormal) - 7;
      const auto power = reinterpret_cast<Floats>((exponent - 3 + kBias) << kFraction);
      const Integers number = (magnitude & 7) | (8 & ~subnormal);
      value = reinterpret_cast<Integers>(__builtin_convertvector(number, Floats) * power);
      exponent = (exponent & (magnitude != 0)) - (kBias & (magnitude == 0));
      nan = magnitude == 0x7f;
    } else { // ue8m0: the least is 2^-127, a subnormal number
      value = (bytes << kFraction) | ((1 << (kFraction - 1)) & (bytes == 0));
      exponent = bytes - kBias;
      nan = bytes == 0xff;
    }
    store(values[scale] + at, reinterpret_cast<Floats>(value));
    store(exponents[scale] + at, exponent << kFraction);
    unusual = unusual || any(nan);
    doubtful = doubtful || any((exponent < -kUndoubtedScale) | (exponent > kUndoubtedScale));
  }

private:
  static bool any(Integers x) {
    if constexpr (times == 1)
      return any_of_eight(x);
    else
      return any_of(x);
  }
};
using RowScales = LineScales<kRowsOfWarp, 4, Integers, Floats>;         // each for four lanes
using ColumnScales = LineScales<kBlock, 1, EightIntegers, EightFloats>; // of even columns first
inline int even_first(int column) { return column / 2 + column % 2 * 4; }

/// Factors with their exponents.
template <class Integers, class Floats> struct Scaled {
  Floats x;
  Integers exponents;
};
/// The factors of one scale. `wrong` becomes not 0 where a scaled number is not a normal one.
template <class Integers, class Floats, int lines, int times>
Scaled<Integers, Floats> scaled(Floats x, Integers exponents, const LineScales<lines, times, Integers, Floats>& scales,
                                int scale, int at, Integers& wrong) {
  x *= load<Floats>(scales.values[scale] + at);
  const auto more = load<Integers>(scales.exponents[scale] + at);
  if (scales.doubtful) [[unlikely]] {
    const Integers sum = (exponents >> kFraction) + (more >> kFraction);
    wrong |= ((sum < 1) | (sum > 254)) & ((reinterpret_cast<Integers>(x) & 0x7fffffff) != 0);
    return {x, sum << kFraction};
  }
  return {x, exponents + more};
}

} // namespace warplens::exec::WARPLENS_LEVEL
