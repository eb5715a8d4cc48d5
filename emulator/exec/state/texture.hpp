// SPDX-License-Identifier: Apache-2.0
// The textures, surfaces and samplers of a launch, identified by 64-bit handles.
//
//   Image image;  image.width = 8;  image.height = 6;  image.type = isa::Type::f32;  image.address = buffer;
//   image.lay_out();  textures.set(7, {BoundTexture::Kind::texture, "t", image, {.linear = true}});
//
// Texels are stored level after level; within a level slice after slice (layers, faces or depth); within a slice row
// after row. The samples of a texel, and the channels of each, are adjacent. Real devices tile them.
#pragma once

#include "emulator/isa/types.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace warplens::exec {

/// The addressing mode for coordinates outside a texture.
enum class Addressing : std::uint8_t { wrap, clamp, mirror, border };

struct Sampler {
  std::array<Addressing, 3> addressing{Addressing::clamp, Addressing::clamp, Addressing::clamp};
  bool linear = false;              ///< filter between texels, otherwise the nearest one
  bool linear_levels = false;       ///< filter between levels
  bool normalized = false;          ///< coordinates from 0 to 1
  bool unnormalized_forced = false; ///< overrides `normalized` (.samplerref, force_unnormalized_coords)
  bool read_normalized = false;     ///< 8- and 16-bit integers become floats from 0 or -1 to 1
  bool srgb = false;                ///< and 8-bit ones are converted from sRGB, except the fourth channel
  float level_bias = 0;
  float lowest_level = 0, highest_level = 0;
  std::array<float, 4> border{};
};

/// The memory layout of a level.
struct ImageLevel {
  std::uint32_t width = 1, height = 1, depth = 1;
  std::uint64_t offset = 0; ///< from the image's address, bytes
  std::uint64_t row_bytes = 0, slice_bytes = 0;
};

constexpr std::uint32_t kMaxLevels = 17;

/// Texels in memory.
struct Image {
  std::uint8_t dimensions = 2;
  bool layered = false;
  bool cube = false;   ///< six faces a layer: +x, -x, +y, -y, +z, -z
  bool depths = false; ///< a depth texture: `tex` and `tld4` with a depth compare it with each texel (not above)
  bool memory = false; ///< linear memory: has a first and a last texel, and no addressing modes
  std::uint32_t width = 1, height = 1, depth = 1;
  std::uint32_t layers = 1;
  std::uint32_t levels = 1;
  std::uint32_t samples = 1;
  isa::Type type = isa::Type::f32; ///< of a channel: u8, s8, u16, s16, u32, s32, f16, f32
  bool normalized = false;         ///< its integers represent fractions (UNORM, SNORM)
  std::uint32_t channels = 1;      ///< 1, 2 or 4
  std::uint64_t address = 0;       ///< of the first texel
  std::uint64_t pitch = 0;         ///< bytes from row to row; 0: rows follow each other
  std::array<ImageLevel, kMaxLevels> level{};

  /// Fills `level` after everything else has been set. Sizes that exceed 64 bits become the largest number.
  void lay_out();
  [[nodiscard]] std::uint32_t texel_bytes() const {
    return channels * static_cast<std::uint32_t>(isa::bytes(type)) * samples;
  }
  [[nodiscard]] std::uint32_t slices() const { return layers * (cube ? 6 : 1); }
  /// Size of all levels, after lay_out(); the largest number if it exceeds 64 bits.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

private:
  std::uint64_t bytes_ = 0;
};

struct BoundTexture {
  enum class Kind : std::uint8_t { texture, surface, sampler } kind{};
  std::string name;
  bool is_variable = false; ///< a variable of a module; its handle is its address
  Image image;
  Sampler sampler;
};

/// The objects by handle. The handle of a variable of a module is its address.
class Textures {
public:
  void set(std::uint64_t handle, BoundTexture texture) { list_[handle] = std::move(texture); }
  void erase(std::uint64_t handle) { list_.erase(handle); }
  [[nodiscard]] const BoundTexture* find(std::uint64_t handle) const {
    const auto found = list_.find(handle);
    return found == list_.end() ? nullptr : &found->second;
  }

private:
  std::map<std::uint64_t, BoundTexture> list_;
};

} // namespace warplens::exec
