// SPDX-License-Identifier: Apache-2.0
// Texels between memory and registers: formats, normalised integers, sRGB.
//
//   an rgba8 texel 0xff0080ff read as normalised floats  ->  {1.0, 128 / 255, 0.0, 1.0}, as bits
#pragma once

#include "emulator/exec/state/texture.hpp"

#include <cstddef>

namespace warplens::exec {

/// Four channels as written to registers: the bits of an f32, or of an integer widened to 32 bits.
using Texel = std::array<std::uint32_t, 4>;

/// Whether the channels are read as floats, and can be filtered.
bool reads_floats(const Image& image, const Sampler& sampler);

/// For integers: whether they are read as fractions.
bool is_normalized(const Image& image, const Sampler& sampler);

/// The values of 8-bit sRGB colours, by number.
const std::array<float, 256>& srgb_colors();

/// Channels that the image lacks are 0.
Texel read_texel(const Image& image, const Sampler& sampler, const std::byte* from);
/// The texel that a coordinate beyond the border reads.
Texel border_texel(const Image& image, const Sampler& sampler);
/// Formatted stores: floats are converted to the format, integers are clamped to it. Further channels become 0.
void write_texel(const Image& image, std::byte* to, const Texel& texel, int count);

/// The bits of the f16 nearest to an f32.
std::uint32_t half_of(std::uint32_t single);

} // namespace warplens::exec
