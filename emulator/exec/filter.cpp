#include "emulator/exec/filter.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace warplens::exec {

namespace {

using isa::Type;

std::int64_t half_up(std::int64_t product) { return (product + kWholeWeight / 2) / kWholeWeight; }
std::int64_t half_down(std::int64_t product) { return (product + kWholeWeight / 2 - 1) / kWholeWeight; }

/// Digits of a float format, the leading one included.
constexpr int kSingle = 24, kHalf = 11;
constexpr int kSpare = 4;

// The sum of one slice, exact but for what alignment cuts off; times kWholeWeight.
double slice_sum(const std::int64_t* weights, const std::uint32_t* words, int digits) {
  int largest = -1000;
  for (int i = 0; i < 4; ++i) {
    const float x = std::bit_cast<float>(words[i]);
    if (weights[i] != 0 && x != 0) largest = std::max(largest, std::ilogb(x) + 1);
  }
  if (largest == -1000) return 0;
  const int unit = largest - digits - kSpare;
  std::int64_t sum = 0;
  for (int i = 0; i < 4; ++i)
    if (weights[i] != 0)
      sum += weights[i] *
             static_cast<std::int64_t>(std::ldexp(static_cast<double>(std::bit_cast<float>(words[i])), -unit));
  return std::ldexp(static_cast<double>(sum), unit);
}

// To so many digits, ties away from zero; `least` is the exponent of the smallest step of the format.
float rounded(double x, int digits, int least) {
  if (x == 0) return 0;
  const int unit = std::max(std::ilogb(x) + 1 - digits, least);
  return static_cast<float>(std::ldexp(std::round(std::ldexp(x, -unit)), unit));
}

std::uint32_t float_sum(bool half, const Corners& weights, const std::array<std::uint32_t, 8>& words) {
  bool nan = false, positive = false, negative = false;
  for (std::size_t i = 0; i < 8; ++i) {
    const float x = std::bit_cast<float>(words[i]);
    if (weights[i] == 0) continue;
    nan = nan || std::isnan(x);
    if (std::isinf(x)) (std::signbit(x) ? negative : positive) = true;
  }
  if (nan || (positive && negative)) return half ? 0x7fffe000 : 0x7fffffff;
  if (positive || negative) return negative ? 0xff800000 : 0x7f800000;
  const int digits = half ? kHalf : kSingle;
  const double sum = slice_sum(weights.data(), words.data(), digits) + slice_sum(&weights[4], &words[4], digits);
  return std::bit_cast<std::uint32_t>(rounded(sum / kWholeWeight, digits, half ? -24 : -149));
}

// A fraction as an integer of 16 bits.
std::int64_t wide(Type type, float fraction) {
  const bool is_signed = isa::is_signed(type);
  return std::llround(static_cast<double>(fraction) * (is_signed ? 32767 : 65535));
}

std::uint32_t fraction_sum(Type type, const Corners& weights, const std::array<std::uint32_t, 8>& words) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < 8; ++i)
    if (weights[i] != 0) sum += weights[i] * wide(type, std::bit_cast<float>(words[i]));
  const std::int64_t whole = (sum + kWholeWeight / 2) >> 8;
  return std::bit_cast<std::uint32_t>(static_cast<float>(whole) / (isa::is_signed(type) ? 32767.0f : 65535.0f));
}

} // namespace

Corners corner_weights(const std::array<std::int64_t, 3>& second) {
  Corners weights{};
  const std::int64_t slices[] = {kWholeWeight - second[2], second[2]};
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

std::uint32_t weighted_sum(const Image& image, const Corners& weights, const std::array<std::uint32_t, 8>& words) {
  if (isa::is_float(image.type)) return float_sum(image.type == Type::f16, weights, words);
  return fraction_sum(image.type, weights, words);
}

} // namespace warplens::exec
