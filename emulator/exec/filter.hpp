// Weighted sums of texels, with the roundings of the hardware.
//
// The CUDA C++ Programming Guide ("Linear Filtering") has the formula, and weights of 8 bits after the point.
// Everything else here reproduces the answers of an H200 (tests/data/hardware/textures.txt) bit for bit, but for s8 as
// fractions, which may differ by 1/32767:
//   weights of corners  whole multiples of 1/256 that add up to 1, split along z, then x, then y
//   floats              the four texels of a slice are aligned to the largest of them, with 4 bits to spare; what lies
//                       below is cut off; slices are added exactly; the sum is rounded to the digits of the format,
//                       ties away from zero
//   fractions           sums of 16-bit integers; halves are rounded up
#pragma once

#include "emulator/exec/texel.hpp"

namespace warplens::exec {

constexpr std::int64_t kWholeWeight = 256;

/// The corners of a footprint: bit 0 of the index is x, bit 1 y, bit 2 z.
using Corners = std::array<std::int64_t, 8>;

/// Weights of the corners, given those of the second texel along each axis.
Corners corner_weights(const std::array<std::int64_t, 3>& second);

/// The sum of a channel. `words` as read_texel() gives them; corners without weight are not looked at.
std::uint32_t weighted_sum(const Image& image, const Corners& weights, const std::array<std::uint32_t, 8>& words);

} // namespace warplens::exec
