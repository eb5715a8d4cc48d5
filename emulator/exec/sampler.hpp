// What a texture unit answers one thread: addressing, filtering, levels, faces of a cube.
//
// The CUDA C++ Programming Guide ("Texture Fetching") defines nearest and linear sampling; weights have 8 bits after
// the point. What it leaves open was read off an H200: tests/hardware/textures_test.cpp.
#pragma once

#include "emulator/exec/texel.hpp"
#include "emulator/exec/texture_site.hpp"

namespace warplens::exec {

struct SampleRequest {
  const Image* image = nullptr;
  const Sampler* sampler = nullptr;
  const TextureSite* site = nullptr;
  std::array<std::uint32_t, 4> coordinate{}; ///< as written: an array index or sample first
  std::uint32_t level = 0;
  std::array<std::array<float, 3>, 2> gradient{};
  std::array<std::int32_t, 3> offset{};
  float compare = 0;
};

struct SampleAnswer {
  Texel value{};
  std::uint64_t address = 0; ///< of the nearest texel, or the first of a footprint
};

SampleAnswer sample(const SampleRequest& request);

} // namespace warplens::exec
