// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/texture/sampler.hpp"

#include "emulator/exec/texture/filter.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace warplens::exec {

namespace {

using Mode = TextureSite::Mode;

constexpr int kWeightBits = 8;
constexpr std::int64_t kOne = 1 << kWeightBits;

float as_float(std::uint32_t bits) { return std::bit_cast<float>(bits); }

// ---- one axis -----------------------------------------------------------------------------------------------------

/// Two neighbouring texels along an axis, and the weight of the second one, out of kOne.
struct Axis {
  std::int64_t texel[2]{};
  bool beyond[2]{};
  bool outside = false; ///< an integer outside the texture: the result is 0 in every mode
  std::int64_t weight = 0;
};

// Maps a texel's number into the texture; sets `beyond` if it reads the border.
std::int64_t addressed(std::int64_t i, std::int64_t size, Addressing mode, bool& beyond) {
  switch (mode) {
  case Addressing::wrap: return ((i % size) + size) % size;
  case Addressing::mirror: {
    const std::int64_t period = 2 * size, at = ((i % period) + period) % period;
    return at < size ? at : period - 1 - at;
  }
  case Addressing::border: beyond = i < 0 || i >= size; [[fallthrough]];
  case Addressing::clamp: break;
  }
  return std::clamp<std::int64_t>(i, 0, size - 1);
}

// A coordinate in units of 1/256 texel, rounded for filtering, truncated for the nearest texel. NaNs and subnormal
// numbers are 0; large numbers stay out of range. Normalised coordinates have 21 fractional bits, in large textures 22:
// measured for up to 1000 and for 20000 texels.
std::int64_t fixed_point(double coordinate, std::int64_t size, bool normalized, bool linear) {
  constexpr double kLimit = 1 << 24;
  constexpr int kFraction = 21;
  constexpr std::int64_t kLarge = 16384;
  if (std::isnan(coordinate) || std::fabs(coordinate) < std::numeric_limits<float>::min()) return 0;
  double texels = std::clamp(coordinate, -kLimit, kLimit);
  if (normalized) {
    const int fraction = size > kLarge ? kFraction + 1 : kFraction;
    texels = std::ldexp(std::floor(std::ldexp(texels, fraction)), -fraction) * static_cast<double>(size);
  }
  return static_cast<std::int64_t>(std::floor(texels * kOne + (linear ? 0.5 : 0.0)));
}

class Sampling {
public:
  explicit Sampling(const SampleRequest& request)
      : r_(request), image_(*request.image), sampler_(*request.sampler), site_(*request.site),
        floats_(reads_floats(image_, sampler_)) {}

  SampleAnswer run() {
    unpack();
    if (site_.mode == Mode::gather) return gather();
    const LevelChoice levels = choose_levels();
    SampleAnswer answer;
    answer.address = nearest(levels.first);
    if (outside_) return answer;
    if (levels.weight == 0 && !is_linear()) {
      answer.value = single(levels.first);
      return answer;
    }
    WeightedSum sum(image_, sampler_.srgb);
    add_level(levels.first, kOne - levels.weight, sum);
    if (levels.weight != 0) add_level(levels.first + 1, levels.weight, sum);
    answer.value = sum.result();
    return answer;
  }

private:
  // The coordinates of the spelling as x, y, z and a slice.
  void unpack() {
    std::size_t next = 0;
    if (site_.is_array()) {
      outside_ = !site_.float_coordinates && site_.mode != Mode::level && r_.coordinate[0] >= image_.layers;
      slice_ = std::min(r_.coordinate[next++], image_.layers - 1);
    }
    if (site_.is_multi_sample()) sample_ = std::min(r_.coordinate[next++], image_.samples - 1);
    for (std::size_t axis = 0; next < 4 && axis < 3; ++axis, ++next) place_[axis] = r_.coordinate[next];
    // Plain memory of one dimension is read by integers only.
    outside_ = outside_ || (image_.memory && image_.dimensions == 1 && site_.float_coordinates);
    normalized_ = sampler_.normalized && !sampler_.unnormalized_forced && site_.float_coordinates;
    if (site_.is_cube()) project();
  }

  // The face of the largest coordinate (CUDA C++ Programming Guide, "Cubemap Textures"), and the place on it. The code
  // of the assembler divides all three by the largest first; a NaN then is 0, and not the largest.
  void project() {
    const auto flushed = [](std::uint32_t bits) {
      return std::fpclassify(as_float(bits)) == FP_SUBNORMAL ? 0 : as_float(bits);
    };
    float x = flushed(place_[0]), y = flushed(place_[1]), z = flushed(place_[2]);
    // std::fmax() would give a NaN where one is signaling; the hardware's maximum never does.
    const auto larger = [](float a, float b) { return a > b || std::isnan(b) ? a : b; };
    const float scale = 1 / larger(std::fabs(x), larger(std::fabs(y), std::fabs(z)));
    x *= scale, y *= scale, z *= scale;
    const auto size = [](float v) { return std::isnan(v) ? -1.0f : std::fabs(v); };
    std::uint32_t face = 0;
    if (size(z) >= size(x) && size(z) >= size(y)) {
      face = z < 0 ? 5 : 4;
      on_face(z < 0 ? -x : x, -y);
    } else if (size(y) >= size(x)) {
      face = y < 0 ? 3 : 2;
      on_face(x, y < 0 ? -z : z);
    } else {
      face = x < 0 ? 1 : 0;
      on_face(x < 0 ? z : -z, -y);
    }
    slice_ = slice_ * 6 + face;
    normalized_ = true;
  }

  // From -1 to 1 on a face, truncated like other coordinates before 1 is added.
  void on_face(float s, float t) {
    const auto fraction = [](float v) {
      constexpr int kDigits = 20;
      return (std::isnan(v) ? 1.0 : std::ldexp(std::floor(std::ldexp(static_cast<double>(v), kDigits)), -kDigits) + 1) /
             2;
    };
    face_place_ = {fraction(s), fraction(t)};
  }

  [[nodiscard]] double place(std::size_t axis) const {
    return site_.is_cube() ? face_place_[axis] : static_cast<double>(as_float(place_[axis]));
  }

  LevelChoice choose_levels() {
    if (!site_.float_coordinates && site_.mode == Mode::level) {
      const std::int64_t last = image_.levels - 1;
      const auto level = static_cast<std::int32_t>(r_.level);
      outside_ = outside_ || level < 0 || level > last;
      return {static_cast<std::uint32_t>(std::clamp<std::int64_t>(level, 0, last)), 0};
    }
    std::int64_t level = 0;
    if (site_.mode == Mode::level) level = fixed_level(as_float(r_.level));
    if (site_.mode == Mode::gradient) level = level_of_gradients(image_, site_, normalized_, r_.gradient);
    return level_at(image_, sampler_, level);
  }

  // ---- texels of a level -------------------------------------------------------------------------------------------

  [[nodiscard]] static std::int64_t extent(const ImageLevel& level, std::size_t axis) {
    return axis == 0 ? level.width : axis == 1 ? level.height : level.depth;
  }

  // Integers select a texel; floats select a position, of which the nearest texels are read.
  [[nodiscard]] Axis along(std::size_t axis, const ImageLevel& level, bool linear) const {
    const std::int64_t size = extent(level, axis);
    Axis a;
    std::int64_t first = static_cast<std::int32_t>(place_[axis]);
    if (site_.float_coordinates) {
      const std::int64_t fixed = fixed_point(place(axis), size, normalized_, linear) - (linear ? kOne / 2 : 0);
      first = fixed >> kWeightBits;
      a.weight = linear ? fixed & (kOne - 1) : 0;
    }
    first += ((r_.offset[axis] + 8) & 15) - 8; // offsets have 4 bits
    if (!site_.float_coordinates && site_.mode != Mode::level) a.outside = first < 0 || first >= size;
    for (int i = 0; i < 2; ++i) a.texel[i] = addressed(first + i, size, addressing(axis), a.beyond[i]);
    // The position itself is clamped: at the edge, only one texel counts.
    if (addressing(axis) == Addressing::clamp && a.texel[0] == a.texel[1]) a.weight = 0;
    return a;
  }

  // Coordinates in texels neither wrap nor mirror (CUDA C++ Programming Guide, "Texture Object API").
  [[nodiscard]] Addressing addressing(std::size_t axis) const {
    const Addressing mode = sampler_.addressing[axis];
    return normalized_ || mode == Addressing::border ? mode : Addressing::clamp;
  }

  [[nodiscard]] std::uint64_t address(const ImageLevel& level, std::int64_t x, std::int64_t y, std::int64_t z) const {
    const std::uint64_t slice = site_.dimensions() == 3 ? static_cast<std::uint64_t>(z) : slice_;
    return image_.address + level.offset + slice * level.slice_bytes + static_cast<std::uint64_t>(y) * level.row_bytes +
           static_cast<std::uint64_t>(x) * image_.texel_bytes() +
           std::uint64_t{sample_} * image_.texel_bytes() / image_.samples;
  }

  [[nodiscard]] Texel texel(const ImageLevel& level, const std::array<Axis, 3>& axes, const int* which) const {
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (axes[axis].beyond[which[axis]]) return border_texel(image_, sampler_);
    const std::uint64_t from =
        address(level, axes[0].texel[which[0]], axes[1].texel[which[1]], axes[2].texel[which[2]]);
    Texel t = read_texel(image_, sampler_, reinterpret_cast<const std::byte*>(from));
    if (site_.compare != 0 && image_.depths)
      t[0] = std::bit_cast<std::uint32_t>(r_.compare <= as_float(t[0]) ? 1.0f : 0.0f);
    return t;
  }

  [[nodiscard]] std::array<Axis, 3> footprint(const ImageLevel& level, bool linear) const {
    std::array<Axis, 3> axes{};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(site_.dimensions()); ++axis)
      axes[axis] = along(axis, level, linear);
    // A texture of one dimension has one row, and lies between it and the border.
    if (linear && site_.geometry == TextureSite::Geometry::d1 && addressing(1) == Addressing::border) {
      axes[1].beyond[0] = true;
      axes[1].weight = kOne / 2;
    }
    return axes;
  }

  [[nodiscard]] bool is_linear() const { return sampler_.linear && floats_ && site_.float_coordinates; }

  [[nodiscard]] std::uint64_t nearest(std::uint32_t number) const {
    const std::array<Axis, 3> axes = footprint(image_.level[number], false);
    return address(image_.level[number], axes[0].texel[0], axes[1].texel[0], axes[2].texel[0]);
  }

  // The nearest texel; 0 for integers outside the texture.
  [[nodiscard]] Texel single(std::uint32_t number) const {
    const std::array<Axis, 3> axes = footprint(image_.level[number], false);
    if (axes[0].outside || axes[1].outside || axes[2].outside) return {};
    constexpr int kFirst[] = {0, 0, 0};
    return texel(image_.level[number], axes, kFirst);
  }

  // Adds the texels of a level with `total` of the weight.
  void add_level(std::uint32_t number, std::int64_t total, WeightedSum& sum) const {
    const ImageLevel& level = image_.level[number];
    const std::array<Axis, 3> axes = footprint(level, is_linear());
    const Corners weights = corner_weights({axes[0].weight, axes[1].weight, axes[2].weight}, total);
    std::array<Texel, 8> texels{};
    for (std::size_t i = 0; i < 8; ++i) {
      const int which[] = {static_cast<int>(i & 1), static_cast<int>(i >> 1 & 1), static_cast<int>(i >> 2)};
      if (weights[i] != 0) texels[i] = texel(level, axes, which);
    }
    sum.add_slice(weights.data(), texels.data());
    sum.add_slice(&weights[4], &texels[4]);
  }

  // tld4 (9.7.10.2): a channel of the four texels of linear filtering, counter-clockwise from the lower
  // left one.
  [[nodiscard]] SampleAnswer gather() const {
    const ImageLevel& level = image_.level[0];
    const std::array<Axis, 3> axes = footprint(level, true);
    constexpr int kCorners[4][3] = {{0, 1, 0}, {1, 1, 0}, {1, 0, 0}, {0, 0, 0}};
    SampleAnswer answer;
    answer.address = address(level, axes[0].texel[0], axes[1].texel[0], 0);
    for (std::size_t i = 0; i < 4; ++i) answer.value[i] = texel(level, axes, kCorners[i])[site_.channel];
    return answer;
  }

  const SampleRequest& r_;
  const Image& image_;
  const Sampler& sampler_;
  const TextureSite& site_;
  bool floats_, normalized_ = false, outside_ = false;
  std::array<std::uint32_t, 3> place_{}; ///< x, y, z: bits of floats or integers
  std::array<double, 2> face_place_{};   ///< on the face of a cube, from 0 to 1
  std::uint32_t slice_ = 0, sample_ = 0;
};

} // namespace

std::int64_t fixed_level(float level) {
  constexpr double kLimit = 1000;
  return std::isnan(level) ? 0
                           : static_cast<std::int64_t>(std::clamp(static_cast<double>(level), -kLimit, kLimit) * kOne);
}

// log2 of the longer of the two gradients, in texels. The hardware estimates the longer axis of the footprint that both
// span: this is the same along one axis, and up to half a level more otherwise. For cubes, it uses the face.
std::int64_t level_of_gradients(const Image& image, const TextureSite& site, bool normalized, const Gradients& both) {
  double longest = 0;
  const std::uint32_t size[] = {image.width, image.height, image.depth};
  const int dimensions = site.is_cube() ? 3 : site.dimensions();
  for (const auto& g : both) {
    double square = 0;
    for (int axis = 0; axis < dimensions; ++axis) {
      const double scale = !normalized ? 1.0 : site.is_cube() ? size[0] / 2.0 : size[axis];
      const double d = static_cast<double>(g[static_cast<std::size_t>(axis)]) * scale;
      square += d * d;
    }
    longest = std::max(longest, square);
  }
  const double level = longest == 0 ? -1000 : std::log2(longest) / 2;
  return fixed_level(static_cast<float>(level + 0.5 / kOne));
}

LevelChoice level_at(const Image& image, const Sampler& sampler, std::int64_t level) {
  level += fixed_level(sampler.level_bias);
  level = std::max(std::min(level, fixed_level(sampler.highest_level)), fixed_level(sampler.lowest_level));
  level = std::clamp<std::int64_t>(level, 0, (image.levels - 1) * kOne);
  if (!sampler.linear_levels || !reads_floats(image, sampler))
    return {static_cast<std::uint32_t>((level + kOne / 2) / kOne), 0};
  return {static_cast<std::uint32_t>(level / kOne), static_cast<std::int32_t>(level % kOne)};
}

TexelReading::TexelReading(const Image& image, const Sampler& sampler)
    : known(isa::is_float(image.type) || isa::bits(image.type) < 32 || !is_normalized(image, sampler)),
      floats(reads_floats(image, sampler)), colors(sampler.srgb ? srgb_colors().data() : nullptr) {
  for (const Addressing mode : sampler.addressing) has_border = has_border || mode == Addressing::border;
  if (!has_border) return;
  border = border_texel(image, sampler);
  for (std::size_t c = 0; c < 4; ++c)
    if (floats && isa::is_integer(image.type))
      wide_border[c] = static_cast<std::uint32_t>(fraction_of_16_bits(image.type, as_float(border[c])));
}

SampleAnswer sample(const SampleRequest& request) { return Sampling(request).run(); }

} // namespace warplens::exec
