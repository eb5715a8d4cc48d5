// SPDX-License-Identifier: Apache-2.0
// Weighted sums of texels, with the roundings of the hardware.
//
// The CUDA C++ Programming Guide ("Linear Filtering") gives the formula; weights have 8 fractional bits. All else
// reproduces the results of an H200 (tests/data/hardware/textures.txt) bit for bit. The exception is s8 as fractions,
// which may differ by 1/32767:
//   weights of corners  whole multiples of 1/256 that add up to 1, split by levels, along z, then x, then y
//   floats              the four texels of a slice are aligned to the largest of them, with 4 extra bits; lower bits
//                       are truncated; slices are added exactly; the sum is rounded to the digits of the format,
//                       ties away from zero
//   fractions           sums of 16-bit integers; halves are rounded up
#pragma once

#include "emulator/exec/texture/texel.hpp"

namespace warplens::exec {

constexpr std::int64_t kWholeWeight = 256;

/// The corners of a footprint: bit 0 of the index is x, bit 1 y, bit 2 z.
using Corners = std::array<std::int64_t, 8>;

/// Weights of the corners, given those of the second texel along each axis, and their total.
Corners corner_weights(const std::array<std::int64_t, 3>& second, std::int64_t total);

/// A fraction as a 16-bit integer, as used in sums.
std::int64_t fraction_of_16_bits(isa::Type type, float fraction);

/// Adds up the channels of weighted texels, of one level or two. Texels as read_texel() gives them.
class WeightedSum {
public:
  WeightedSum(const Image& image, bool srgb);
  /// Up to four texels of a slice; texels with weight 0 are not read.
  void add_slice(const std::int64_t* weights, const Texel* texels);
  [[nodiscard]] Texel result() const;

private:
  isa::Type type_;
  isa::Type color_;                         ///< of the first three channels: from sRGB they are filtered like f16
  std::array<double, 4> sum_{};             ///< of floats, times kWholeWeight
  std::array<std::int64_t, 4> fractions_{}; ///< of fractions, as 16-bit integers, times kWholeWeight
};

} // namespace warplens::exec
