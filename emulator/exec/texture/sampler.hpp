// SPDX-License-Identifier: Apache-2.0
// The result of a texture unit for one thread: addressing, filtering, levels, faces of a cube.
//
// The CUDA C++ Programming Guide ("Texture Fetching") defines nearest and linear sampling; weights have 8 fractional
// bits. Details that it does not specify were determined on an H200: tests/hardware/textures_test.cpp.
#pragma once

#include "emulator/exec/state/texture_site.hpp"
#include "emulator/exec/texture/texel.hpp"

namespace warplens::exec {

/// By gradient and axis.
using Gradients = std::array<std::array<float, 3>, 2>;

struct SampleRequest {
  const Image* image = nullptr;
  const Sampler* sampler = nullptr;
  const TextureSite* site = nullptr;
  std::array<std::uint32_t, 4> coordinate{}; ///< as written: an array index or sample first
  std::uint32_t level = 0;
  Gradients gradient{};
  std::array<std::int32_t, 3> offset{};
  float compare = 0;
};

struct SampleAnswer {
  Texel value{};
  std::uint64_t address = 0; ///< of the nearest texel, or the first of a footprint
};

SampleAnswer sample(const SampleRequest& request);

// ---- what sample() and the rows of sample_rows.cpp have in common
// -----------------------------------------------------

/// The level to read, and the weight of the next one, out of kWholeWeight.
struct LevelChoice {
  std::uint32_t first = 0;
  std::int32_t weight = 0;
};

/// Levels have 8 fractional bits.
std::int64_t fixed_level(float level);
std::int64_t level_of_gradients(const Image& image, const TextureSite& site, bool normalized, const Gradients& both);
/// Applies the bias and the bounds of the sampler. Integers cannot be filtered: the nearest level is read.
LevelChoice level_at(const Image& image, const Sampler& sampler, std::int64_t level);

/// The properties for reading texels, the same for all lanes.
struct TexelReading {
  TexelReading(const Image& image, const Sampler& sampler);
  bool known = true;             ///< in rows
  bool floats = false;           ///< reads_floats()
  bool has_border = false;       ///< some axis has one
  const float* colors = nullptr; ///< srgb_colors()
  Texel border{};
  Texel wide_border{}; ///< of fractions, as used in sums
};

} // namespace warplens::exec
