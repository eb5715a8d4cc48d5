// SPDX-License-Identifier: Apache-2.0
// A decoded texture or surface instruction: its operation and the rows of its operands.
//
//   tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];
//   ->  TextureSite{geometry: d2, reference: <row of %rd1>, coordinate: {<%f5>, <%f6>}, value: {<%f1>, …}}
#pragma once

#include "emulator/isa/types.hpp"

#include <array>
#include <cstdint>

namespace warplens::exec {

struct MemorySite;
struct SampleRowsRequest;
struct SampledRows;
/// Returns the lanes of the warp that it sampled: texture_rows.hpp.
using SampleRowsFunction = std::uint32_t (*)(const SampleRowsRequest&, SampledRows&);

struct TextureSite {
  enum class Geometry : std::uint8_t { d1, d2, d3, a1d, a2d, cube, acube, ms2d, a2dms } geometry{};
  enum class Mode : std::uint8_t { plain, base, level, gradient, gather } mode{};
  enum class Bounds : std::uint8_t { trap, clamp, zero } bounds{};
  enum class Reduction : std::uint8_t { add, minimum, maximum, bit_and, bit_or } reduction{};

  isa::Type type{};               ///< type of a result of tex, or of an element of a surface access
  bool float_coordinates = false; ///< of tex and tld4
  bool formatted = false;         ///< sust.p, sured.p: coordinates count texels
  std::uint8_t channel = 0;       ///< the channel that tld4 gathers
  std::uint8_t elements = 1;      ///< results, or elements of a surface access

  // Rows; 0 if there is no such operand.
  std::uint32_t reference = 0, sampler = 0, level = 0, compare = 0, resident = 0;
  std::array<std::uint32_t, 4> coordinate{}, value{};
  std::array<std::uint32_t, 3> offset{};
  std::array<std::array<std::uint32_t, 3>, 2> gradient{};

  SampleRowsFunction sample = nullptr; ///< of tex and tld4
  const MemorySite* memory = nullptr;  ///< the access that the watcher sees

  [[nodiscard]] bool is_array() const {
    return geometry == Geometry::a1d || geometry == Geometry::a2d || geometry == Geometry::acube ||
           geometry == Geometry::a2dms;
  }
  [[nodiscard]] bool is_cube() const { return geometry == Geometry::cube || geometry == Geometry::acube; }
  [[nodiscard]] bool is_multi_sample() const { return geometry == Geometry::ms2d || geometry == Geometry::a2dms; }
  [[nodiscard]] int dimensions() const {
    return geometry == Geometry::d1 || geometry == Geometry::a1d ? 1 : geometry == Geometry::d3 ? 3 : 2;
  }
};

} // namespace warplens::exec
