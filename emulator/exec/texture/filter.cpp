// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/texture/filter.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace warplens::exec {

namespace {

using isa::Type;

std::int64_t half_up(std::int64_t product) { return (product + kWholeWeight / 2) / kWholeWeight; }
std::int64_t half_down(std::int64_t product) { return (product + kWholeWeight / 2 - 1) / kWholeWeight; }

/// Digits of a float format, the leading one included.
constexpr int kSingleDigits = 24, kHalfDigits = 11;
constexpr int kSpare = 4;

// The sum of one slice, exact except for the truncation by alignment; times kWholeWeight.
double slice_sum(const std::int64_t* weights, const std::array<float, 4>& x, int digits) {
  double special = 0; // infinities and NaNs
  int largest = -1000;
  for (std::size_t i = 0; i < 4; ++i) {
    if (weights[i] == 0 || x[i] == 0) continue;
    if (std::isfinite(x[i]))
      largest = std::max(largest, std::ilogb(x[i]) + 1);
    else
      special += static_cast<double>(x[i]);
  }
  if (special != 0 || largest == -1000) return special;
  const int unit = largest - digits - kSpare;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < 4; ++i)
    if (weights[i] != 0) sum += weights[i] * static_cast<std::int64_t>(std::ldexp(static_cast<double>(x[i]), -unit));
  return std::ldexp(static_cast<double>(sum), unit);
}

// Rounds to this number of digits, ties away from zero; `least` is the exponent of the smallest step of the format.
float rounded(double x, int digits, int least) {
  if (x == 0) return 0;
  const int unit = std::max(std::ilogb(x) + 1 - digits, least);
  return static_cast<float>(std::ldexp(std::round(std::ldexp(x, -unit)), unit));
}

std::uint32_t float_result(bool half, double sum) {
  if (std::isnan(sum)) return half ? 0x7fffe000 : 0x7fffffff;
  if (std::isinf(sum)) return std::bit_cast<std::uint32_t>(static_cast<float>(sum));
  return std::bit_cast<std::uint32_t>(
      rounded(sum / kWholeWeight, half ? kHalfDigits : kSingleDigits, half ? -24 : -149));
}

std::uint32_t fraction_result(Type type, std::int64_t sum) {
  const std::int64_t whole = (sum + kWholeWeight / 2) >> 8;
  return std::bit_cast<std::uint32_t>(static_cast<float>(whole) / (isa::is_signed(type) ? 32767.0f : 65535.0f));
}

} // namespace

std::int64_t fraction_of_16_bits(Type type, float fraction) {
  return std::llround(static_cast<double>(fraction) * (isa::is_signed(type) ? 32767 : 65535));
}

Corners corner_weights(const std::array<std::int64_t, 3>& second, std::int64_t total) {
  Corners weights{};
  const std::int64_t back = half_up(second[2] * total), slices[] = {total - back, back};
  for (std::size_t z = 0; z < 2; ++z) {
    const std::int64_t right = half_up(second[0] * slices[z]), left = slices[z] - right;
    const std::int64_t upper_right = half_up(second[1] * right), upper_left = half_down(second[1] * left);
    weights[4 * z + 0] = left - upper_left;
    weights[4 * z + 1] = right - upper_right;
    weights[4 * z + 2] = upper_left;
    weights[4 * z + 3] = upper_right;
  }
  return weights;
}

WeightedSum::WeightedSum(const Image& image, bool srgb)
    : type_(image.type), color_(srgb && image.type == Type::u8 ? Type::f16 : image.type) {}

void WeightedSum::add_slice(const std::int64_t* weights, const Texel* texels) {
  for (std::size_t c = 0; c < 4; ++c) {
    const Type type = c < 3 ? color_ : type_;
    std::array<float, 4> x{};
    for (std::size_t i = 0; i < 4; ++i)
      if (weights[i] != 0) x[i] = std::bit_cast<float>(texels[i][c]);
    if (isa::is_float(type))
      sum_[c] += slice_sum(weights, x, type == Type::f16 ? kHalfDigits : kSingleDigits);
    else
      for (std::size_t i = 0; i < 4; ++i) fractions_[c] += weights[i] * fraction_of_16_bits(type, x[i]);
  }
}

Texel WeightedSum::result() const {
  Texel texel{};
  for (std::size_t c = 0; c < 4; ++c) {
    const Type type = c < 3 ? color_ : type_;
    texel[c] = isa::is_float(type) ? float_result(type == Type::f16, sum_[c]) : fraction_result(type, fractions_[c]);
  }
  return texel;
}

} // namespace warplens::exec
