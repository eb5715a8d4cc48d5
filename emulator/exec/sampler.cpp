#include "emulator/exec/sampler.hpp"

#include "emulator/exec/filter.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace warplens::exec {

namespace {

using Mode = TextureSite::Mode;

constexpr int kWeightBits = 8;
constexpr std::int64_t kOne = 1 << kWeightBits;

float as_float(std::uint32_t bits) { return std::bit_cast<float>(bits); }

// ---- one axis -----------------------------------------------------------------------------------------------------

/// Two neighbouring texels along an axis, and how much the second one counts, of kOne.
struct Axis {
  std::int64_t texel[2]{};
  bool beyond[2]{};
  std::int64_t weight = 0;
};

// A texel's number brought into the texture; `beyond` where it reads the border.
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

// A coordinate in units of 1/256 texel, rounded for filtering, cut off for the nearest texel. What is no number is 0;
// what is too large stays out of range; subnormal numbers are 0. Normalised coordinates have 21 bits after the point,
// in large textures 22: measured for up to 1000 and for 20000 texels.
std::int64_t fixed_point(float coordinate, std::int64_t size, bool normalized, bool linear) {
  constexpr double kLimit = 1 << 24;
  constexpr int kFraction = 21;
  constexpr std::int64_t kLarge = 16384;
  if (std::isnan(coordinate) || std::fpclassify(coordinate) == FP_SUBNORMAL) return 0;
  double texels = std::clamp(static_cast<double>(coordinate), -kLimit, kLimit);
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
    const Levels levels = choose_levels();
    SampleAnswer answer = at_level(levels.first);
    if (levels.weight != 0) {
      const Texel second = at_level(levels.first + 1).value;
      const Corners weights = corner_weights({levels.weight, 0, 0});
      for (std::size_t c = 0; c < 4; ++c) answer.value[c] = weighted_sum(image_, weights, {answer.value[c], second[c]});
    }
    return answer;
  }

private:
  // The coordinates of the spelling as x, y, z and a slice.
  void unpack() {
    std::size_t next = 0;
    if (site_.is_array()) slice_ = std::min(r_.coordinate[next++], image_.layers - 1);
    if (site_.is_multi_sample()) sample_ = std::min(r_.coordinate[next++], image_.samples - 1);
    for (std::size_t axis = 0; next < 4 && axis < 3; ++axis, ++next) place_[axis] = r_.coordinate[next];
    normalized_ = sampler_.normalized && !sampler_.unnormalized_forced && site_.float_coordinates;
    if (site_.is_cube()) project();
  }

  // The face of the largest coordinate (CUDA C++ Programming Guide, "Cubemap Textures"), and the place on it.
  void project() {
    const float x = as_float(place_[0]), y = as_float(place_[1]), z = as_float(place_[2]);
    const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
    std::uint32_t face = 0;
    float s = 0, t = 0, m = 0;
    if (az >= ax && az >= ay) {
      face = std::signbit(z) ? 5 : 4;
      m = az, s = std::signbit(z) ? -x : x, t = -y;
    } else if (ay >= ax) {
      face = std::signbit(y) ? 3 : 2;
      m = ay, s = x, t = std::signbit(y) ? -z : z;
    } else {
      face = std::signbit(x) ? 1 : 0;
      m = ax, s = std::signbit(x) ? z : -z, t = -y;
    }
    slice_ = slice_ * 6 + face;
    place_[0] = std::bit_cast<std::uint32_t>((s / m + 1) / 2);
    place_[1] = std::bit_cast<std::uint32_t>((t / m + 1) / 2);
    normalized_ = true;
  }

  // ---- levels ------------------------------------------------------------------------------------------------------

  struct Levels {
    std::uint32_t first = 0;
    std::int64_t weight = 0; ///< of the next one, of kOne
  };

  Levels choose_levels() const {
    const double last = image_.levels - 1;
    if (!site_.float_coordinates && site_.mode == Mode::level) {
      const auto level = static_cast<std::int32_t>(r_.level);
      return {static_cast<std::uint32_t>(std::clamp(level, 0, static_cast<std::int32_t>(last))), 0};
    }
    double level = 0;
    if (site_.mode == Mode::level) level = as_float(r_.level);
    if (site_.mode == Mode::gradient) level = level_of_gradient();
    level = std::clamp<double>(level + sampler_.level_bias, sampler_.lowest_level, sampler_.highest_level);
    level = std::clamp(std::isnan(level) ? 0 : level, 0.0, last);
    const auto fixed = static_cast<std::int64_t>(std::floor(level * kOne));
    if (!sampler_.linear_levels) return {static_cast<std::uint32_t>((fixed + kOne / 2) / kOne), 0};
    const auto first = static_cast<std::uint32_t>(fixed / kOne);
    return {first, first == image_.levels - 1 ? 0 : fixed % kOne};
  }

  // log2 of the longer of the two gradients, in texels.
  [[nodiscard]] double level_of_gradient() const {
    double longest = 0;
    const std::uint32_t size[] = {image_.width, image_.height, image_.depth};
    const int dimensions = site_.is_cube() ? 3 : site_.dimensions();
    for (const auto& g : r_.gradient) {
      double square = 0;
      for (int axis = 0; axis < dimensions; ++axis) {
        const double scale = !normalized_ ? 1.0 : site_.is_cube() ? size[0] / 2.0 : size[axis];
        const double d = static_cast<double>(g[static_cast<std::size_t>(axis)]) * scale;
        square += d * d;
      }
      longest = std::max(longest, square);
    }
    return longest == 0 ? -1000 : std::log2(longest) / 2;
  }

  // ---- texels of a level -------------------------------------------------------------------------------------------

  [[nodiscard]] static std::int64_t extent(const ImageLevel& level, std::size_t axis) {
    return axis == 0 ? level.width : axis == 1 ? level.height : level.depth;
  }

  // Integers name a texel; floats a place, of which the nearest texels count.
  [[nodiscard]] Axis along(std::size_t axis, const ImageLevel& level, bool linear) const {
    const std::int64_t size = extent(level, axis);
    Axis a;
    std::int64_t first = static_cast<std::int32_t>(place_[axis]);
    if (site_.float_coordinates) {
      const std::int64_t fixed =
          fixed_point(as_float(place_[axis]), size, normalized_, linear) - (linear ? kOne / 2 : 0);
      first = fixed >> kWeightBits;
      a.weight = linear ? fixed & (kOne - 1) : 0;
    }
    first += r_.offset[axis];
    for (int i = 0; i < 2; ++i) a.texel[i] = addressed(first + i, size, addressing(axis), a.beyond[i]);
    // The place itself is clamped: at the edge a single texel counts.
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
    if (site_.compare != 0) t[0] = std::bit_cast<std::uint32_t>(r_.compare <= as_float(t[0]) ? 1.0f : 0.0f);
    return t;
  }

  [[nodiscard]] std::array<Axis, 3> footprint(const ImageLevel& level, bool linear) const {
    std::array<Axis, 3> axes{};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(site_.dimensions()); ++axis)
      axes[axis] = along(axis, level, linear);
    return axes;
  }

  [[nodiscard]] SampleAnswer at_level(std::uint32_t number) const {
    const ImageLevel& level = image_.level[number];
    const bool linear = sampler_.linear && floats_ && site_.float_coordinates;
    const std::array<Axis, 3> axes = footprint(level, linear);
    SampleAnswer answer;
    answer.address = address(level, axes[0].texel[0], axes[1].texel[0], axes[2].texel[0]);
    answer.value = linear ? filtered(level, axes) : texel(level, axes, std::array{0, 0, 0}.data());
    return answer;
  }

  // ---- filtering ---------------------------------------------------------------------------------------------------

  [[nodiscard]] Texel filtered(const ImageLevel& level, const std::array<Axis, 3>& axes) const {
    const Corners weights = corner_weights({axes[0].weight, axes[1].weight, axes[2].weight});
    std::array<std::array<std::uint32_t, 8>, 4> words{};
    for (std::size_t i = 0; i < 8; ++i) {
      if (weights[i] == 0) continue;
      const int which[] = {static_cast<int>(i & 1), static_cast<int>(i >> 1 & 1), static_cast<int>(i >> 2)};
      const Texel t = texel(level, axes, which);
      for (std::size_t c = 0; c < 4; ++c) words[c][i] = t[c];
    }
    Texel result{};
    for (std::size_t c = 0; c < 4; ++c) result[c] = weighted_sum(image_, weights, words[c]);
    return result;
  }

  // tld4 (9.7.10.2): a channel of the four texels that linear filtering would take, counter-clockwise from the lower
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
  bool floats_, normalized_ = false;
  std::array<std::uint32_t, 3> place_{}; ///< x, y, z: bits of floats or integers
  std::uint32_t slice_ = 0, sample_ = 0;
};

} // namespace

SampleAnswer sample(const SampleRequest& request) { return Sampling(request).run(); }

} // namespace warplens::exec
