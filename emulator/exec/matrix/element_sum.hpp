// SPDX-License-Identifier: Apache-2.0
// The sum of products and an accumulator, of any numbers, element by element: docs/numerics.md has the rule. Included
// only by files that are compiled once per level.
//
//   ElementSum sum(1, 1, kKept);
//   sum.add(a0, b0); sum.add(a1, b1); sum.accumulate(c, 1);  float d = sum.result(false);
#pragma once

#include "emulator/exec/matrix/matrix_tiles.hpp"

#include <algorithm>

namespace warplens::exec::WARPLENS_LEVEL {

constexpr Word32 kInfinity = 0x7f800000u, kNan = 0x7fffffffu;
constexpr int kBias = 127, kAbove = 255; ///< the exponent of infinities and NaNs
constexpr int kKept = 25;                ///< bits of a product below the largest exponent
constexpr int kNone = -1000;             ///< the exponent of 0; two of them are far below all others

inline Word32 bits_of(float x) { return std::bit_cast<Word32>(x); }
inline Word32 magnitude_of(float x) { return bits_of(x) & 0x7fffffffu; }

// The least exponent of a normal number of an element; subnormals have the same. With a bias of 127, as all here. Where
// C is added late, bytes are multiplied as halves.
inline int smallest_of(MatrixElement e, bool late = false) {
  switch (e) {
  case MatrixElement::bf16:
  case MatrixElement::tf32:
  case MatrixElement::f32: return 1;
  case MatrixElement::e4m3: return late ? kBias - 14 : kBias - 6;
  case MatrixElement::e3m2: return kBias - 2;
  case MatrixElement::e2m3:
  case MatrixElement::e2m1:
  case MatrixElement::packed_e2m1: return kBias;
  default: return kBias - 14;
  }
}

inline int exponent_of(float x, int smallest) {
  const Word32 magnitude = magnitude_of(x);
  return magnitude == 0 ? kNone : std::max(static_cast<int>(magnitude >> 23), smallest);
}

// The result of infinities and NaNs among the products and the accumulator of one element.
struct Exceptions {
  bool nan = false, up = false, down = false;
  void see(float x) {
    nan = nan || magnitude_of(x) > kInfinity;
    up = up || bits_of(x) == kInfinity;
    down = down || bits_of(x) == (kInfinity | 0x80000000u);
  }
  [[nodiscard]] float instead_of(float sum) const {
    if (nan || (up && down)) return std::bit_cast<float>(kNan);
    return up ? std::bit_cast<float>(kInfinity) : down ? -std::bit_cast<float>(kInfinity) : sum;
  }
};

// Truncated to single precision; infinity beyond its range.
inline float cut_off(double x) {
  const auto nearest = static_cast<float>(x);
  const bool beyond = __builtin_fabs(x) >= 0x1p128, grown = __builtin_fabs(double{nearest}) > __builtin_fabs(x);
  return beyond || !grown ? nearest + 0.0f : std::bit_cast<float>(bits_of(nearest) - 1);
}
inline float as_half(double x) {
  const Word32 h = isa::WARPLENS_LEVEL::narrowed<isa::Type::f16, isa::WARPLENS_LEVEL::Rounding::nearest>(x);
  return isa::WARPLENS_LEVEL::widened_value<isa::Type::f16>((h & 0x7fff) == 0 ? 0 : h);
}
inline double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// What a product is multiplied with: 0 has the exponent kNone, a NaN kAbove.
struct ProductScale {
  double value = 1;
  int exponent = 0; ///< without bias
  [[nodiscard]] ProductScale operator*(ProductScale other) const {
    if (exponent >= kAbove || other.exponent >= kAbove) return {__builtin_nan(""), kAbove};
    const int sum = exponent <= kNone || other.exponent <= kNone ? kNone : exponent + other.exponent;
    return {value * other.value, sum};
  }
};

/// A scale, from its byte: .ue4m3, or .ue8m0.
inline ProductScale scale_from(std::uint32_t byte, bool with_fraction) {
  const ProductScale no_number{__builtin_nan(""), kAbove};
  if (!with_fraction) { // ue8m0
    const int exponent = static_cast<int>(byte) - kBias;
    return byte == 0xff ? no_number : ProductScale{power_of_two(exponent), exponent};
  }
  const int magnitude = static_cast<int>(byte & 0x7f), field = magnitude >> 3, fraction = magnitude & 7; // ue4m3
  if (magnitude == 0x7f) return no_number;
  if (magnitude == 0) return {0, kNone};
  const int exponent = std::max(field, 1) - 7;
  return {(field == 0 ? fraction : 8 + fraction) * power_of_two(exponent - 3), exponent};
}

class ElementSum {
public:
  /// `a`, `b`: the least exponents of factors that are normal numbers.
  ElementSum(int a, int b, int kept) : a_(a), b_(b), kept_(kept) {}

  void accumulate(float c, int smallest) {
    exceptions_.see(c);
    const int own = exponent_of(c, smallest);
    if (own >= kAbove) return;
    c_ = c;
    peak_ = std::max(peak_, own);
  }
  void add(float x, float y, ProductScale scale = {}) {
    const int in_x = exponent_of(x, a_), in_y = exponent_of(y, b_);
    if (in_x >= kAbove || in_y >= kAbove || scale.exponent >= kAbove) {
      exceptions_.see(static_cast<float>(double{x} * y * scale.value));
    } else if (in_x != kNone && in_y != kNone && scale.exponent > kNone) {
      peak_ = std::max(peak_, in_x + in_y - kBias + scale.exponent);
      products_[count_++] = double{x} * y * scale.value;
    }
  }
  [[nodiscard]] float result(bool half) const {
    if (peak_ == kNone) return exceptions_.instead_of(0);
    const double scale = power_of_two(kept_ + kBias - peak_), unit = power_of_two(peak_ - kBias - kept_);
    auto sum = static_cast<std::int64_t>(c_ * scale);
    for (int i = 0; i < count_; ++i) sum += static_cast<std::int64_t>(products_[i] * scale);
    const double exact = static_cast<double>(sum) * unit;
    return exceptions_.instead_of(half ? as_half(exact) : cut_off(exact));
  }

private:
  int a_, b_, kept_, peak_ = kNone, count_ = 0;
  float c_ = 0;
  Exceptions exceptions_;
  double products_[kMostDepth];
};

} // namespace warplens::exec::WARPLENS_LEVEL
