// SPDX-License-Identifier: Apache-2.0
// Weighted sums of texels in rows: filter.hpp describes the rounding, and filter.cpp does the same for one lane.
// Compiled per level.
#pragma once

#include "emulator/exec/texture/sample_axes.hpp"

#include <bit>

namespace warplens::exec::WARPLENS_LEVEL {

/// Up to four texels of a slice: bit 0 of the index is x, bit 1 y.
using SliceWeights = Row<std::int32_t>[4];

/// The part of a weight, in units of 1/256. Inactive lanes may have any numbers, whose product wraps around.
inline std::int32_t part_of(std::int32_t weight, std::int32_t part, std::uint32_t rounding) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(part) * static_cast<std::uint32_t>(weight) + rounding) >>
         8;
}

/// Splits a total along an axis.
inline void split(const Row<std::int32_t>& second, const Row<std::int32_t>& total, Row<std::int32_t>& one,
                  Row<std::int32_t>& two) {
  each_lane([&](int i) {
    const std::int32_t all = total[i], part = part_of(all, second[i], 128);
    two[i] = part;
    one[i] = all - part;
  });
}

inline void slice_weights(const Row<std::int32_t>& x, const Row<std::int32_t>& y, const Row<std::int32_t>& total,
                          SliceWeights& weights) {
  each_lane([&](int i) {
    const std::int32_t all = total[i], right = part_of(all, x[i], 128), left = all - right;
    const std::int32_t upper_right = part_of(right, y[i], 128), upper_left = part_of(left, y[i], 127);
    weights[0][i] = left - upper_left;
    weights[1][i] = right - upper_right;
    weights[2][i] = upper_left;
    weights[3][i] = upper_right;
  });
}

inline double power_of_two(std::int64_t biased) { return std::bit_cast<double>(biased << 52); }

/// Adds a slice of floats, in units of 1/256. `special` becomes ~0 in lanes with an infinity or a NaN, whose sums are
/// undefined. Exponents are those of doubles, in which no float is subnormal.
template <int digits, int corners>
inline void add_floats(const Row<std::uint32_t>* texels, const Row<std::int32_t>* weights, Row<double>& sum,
                       Row<std::uint32_t>& special) {
  constexpr int kSpare = 4;
  Row<float> x[corners], largest;
  each_lane([&](int i) {
    std::int32_t most = 0;
    for (int k = 0; k < corners; ++k) {
      const std::uint32_t bits = weights[k][i] != 0 ? texels[k][i] : 0;
      x[k][i] = std::bit_cast<float>(bits);
      const auto magnitude = static_cast<std::int32_t>(bits & 0x7fffffff);
      most = magnitude > most ? magnitude : most;
    }
    special[i] |= most >= 0x7f800000 ? ~0u : 0;
    largest[i] = std::bit_cast<float>(most);
  });
  each_lane([&](int i) {
    const double most = static_cast<double>(largest[i]);
    const std::int64_t exponent = std::bit_cast<std::int64_t>(most < 0x1p-149 ? 0x1p-149 : most) >> 52;
    const double up = power_of_two(2045 + digits + kSpare - exponent),
                 down = power_of_two(exponent + 1 - digits - kSpare);
    double all = 0;
    for (int k = 0; k < corners; ++k)
      all += static_cast<double>(weights[k][i]) * __builtin_trunc(static_cast<double>(x[k][i]) * up);
    sum[i] += all * down;
  });
}

/// Rounds sums to this number of digits, ties away from zero; 2^least is the smallest step.
template <int digits, int least> inline void round_floats(const Row<double>& sum, Row<std::uint32_t>& to) {
  constexpr double kLeastNormal = std::bit_cast<double>(std::int64_t{1023 + least + digits - 1} << 52);
  each_lane([&](int i) {
    const double x = sum[i] * (1.0 / 256), size = __builtin_fabs(x);
    const std::int64_t exponent = std::bit_cast<std::int64_t>(size < kLeastNormal ? kLeastNormal : size) >> 52;
    const double up = power_of_two(2045 + digits - exponent), down = power_of_two(exponent + 1 - digits);
    const double rounded = __builtin_floor(size * up + 0.5) * down;
    to[i] = std::bit_cast<std::uint32_t>(static_cast<float>(__builtin_copysign(rounded, x)));
  });
}

/// Fractions as integers of 16 bits.
template <int corners>
inline void add_fractions(const Row<std::uint32_t>* texels, const Row<std::int32_t>* weights, Row<std::int32_t>& sum) {
  each_lane([&](int i) {
    auto all = static_cast<std::uint32_t>(sum[i]); // wraps around in inactive lanes
    for (int k = 0; k < corners; ++k) all += static_cast<std::uint32_t>(weights[k][i]) * texels[k][i];
    sum[i] = static_cast<std::int32_t>(all);
  });
}

inline void round_fractions(const Row<std::int32_t>& sum, bool is_signed, Row<std::uint32_t>& to) {
  const float one = is_signed ? 32767.0f : 65535.0f;
  each_lane([&](int i) {
    const auto rounded = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum[i]) + 128) >> 8;
    to[i] = std::bit_cast<std::uint32_t>(static_cast<float>(rounded) / one);
  });
}

} // namespace warplens::exec::WARPLENS_LEVEL
