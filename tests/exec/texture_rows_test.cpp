// SPDX-License-Identifier: Apache-2.0
// Sampling in rows, at every level, compared with single samples: random textures, formats, modes and coordinates.
#include "emulator/exec/decode/levels.hpp"
#include "emulator/exec/texture/filter.hpp"
#include "emulator/exec/texture/sampler.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

namespace warplens::exec {
namespace texture_rows_test {

using isa::Type;
using Geometry = TextureSite::Geometry;
using Mode = TextureSite::Mode;

constexpr std::uint32_t kRow = 4 * kWarpSize;

struct FreeWarp {
  void operator()(Warp* warp) const { std::free(warp); }
};

/// One instruction with all its inputs.
class Question {
public:
  explicit Question(std::mt19937& random) : random_(random), warp_(new_warp()) {
    choose_image();
    choose_sampler();
    choose_site();
    for (int lane = 0; lane < kWarpSize; ++lane) choose_operands(lane);
    mask_ = pick(3) == 0 ? word() | 1u << pick(32) : kFullMask;
  }

  [[nodiscard]] SampleRowsRequest request() const { return {&image_, &sampler_, &site_, warp_.get(), mask_, true}; }
  /// Whether all lanes have to be answered in rows: nothing is rare about it.
  [[nodiscard]] bool is_common() const {
    return finite_ && !(image_.memory && image_.dimensions == 1 && site_.float_coordinates) &&
           !(sampler_.linear_levels && !site_.float_coordinates) &&
           !(image_.depths && site_.compare != 0 && image_.type != Type::f32);
  }
  [[nodiscard]] std::string text() const {
    std::string s = "geometry " + std::to_string(static_cast<int>(site_.geometry)) + " mode " +
                    std::to_string(static_cast<int>(site_.mode)) + " type " + std::string(isa::name(image_.type)) +
                    " x" + std::to_string(image_.channels) + " size " + std::to_string(image_.width) + "," +
                    std::to_string(image_.height) + "," + std::to_string(image_.depth) +
                    (sampler_.linear ? " linear" : "") + (sampler_.linear_levels ? " linear levels" : "") +
                    (sampler_.normalized ? " normalized" : "") + (sampler_.srgb ? " srgb" : "") +
                    (site_.float_coordinates ? "" : " integers") + " addressing";
    for (const Addressing a : sampler_.addressing) s += " " + std::to_string(static_cast<int>(a));
    return s;
  }
  [[nodiscard]] const TextureSite& site() const { return site_; }
  [[nodiscard]] std::uint32_t word(std::uint32_t offset, int lane) const {
    return offset == 0 ? 0 : row<std::uint32_t>(warp_.get(), offset)[lane];
  }
  [[nodiscard]] Mask mask() const { return mask_; }

private:
  static Warp* new_warp() {
    constexpr std::size_t kBytes = kRegisterFile + 40 * kRow;
    void* const memory = std::aligned_alloc(64, kBytes);
    std::memset(memory, 0, kBytes);
    return new (memory) Warp;
  }

  std::uint32_t pick(std::uint32_t count) { return static_cast<std::uint32_t>(random_() % count); }
  std::uint32_t word() { return static_cast<std::uint32_t>(random_()); }
  bool maybe() { return pick(2) != 0; }

  void choose_image() {
    constexpr Type kTypes[] = {Type::u8, Type::s8, Type::u16, Type::s16, Type::u32, Type::s32, Type::f16, Type::f32};
    constexpr Geometry kGeometries[] = {Geometry::d1,  Geometry::d2,  Geometry::d3,   Geometry::a1d,
                                        Geometry::a2d, Geometry::d2,  Geometry::cube, Geometry::acube,
                                        Geometry::d2,  Geometry::a2d, Geometry::d3};
    site_.geometry = kGeometries[pick(std::size(kGeometries))];
    image_.dimensions = static_cast<std::uint8_t>(site_.dimensions());
    image_.type = kTypes[pick(std::size(kTypes))];
    image_.channels = 1u << pick(3);
    const bool integer = isa::is_integer(image_.type);
    image_.normalized = integer && isa::bits(image_.type) < 32 && pick(4) == 0;
    const auto size = [&] { return pick(20) == 0 ? 20000 / (1 + 300 * (image_.dimensions - 1u)) : 1 + pick(9); };
    image_.width = size();
    image_.height = image_.dimensions > 1 ? size() : 1;
    image_.depth = image_.dimensions > 2 ? size() : 1;
    image_.layered = site_.is_array();
    image_.cube = site_.is_cube();
    if (image_.cube) image_.height = image_.width;
    image_.layers = image_.layered ? 1 + pick(4) : 1;
    image_.levels = pick(3) == 0 ? 1 + pick(3) : 1;
    image_.depths = pick(8) == 0;
    image_.memory = pick(10) == 0 && !image_.layered && !image_.cube && image_.dimensions < 3 && image_.levels == 1;
    if (image_.memory && image_.dimensions == 2)
      image_.pitch = (std::uint64_t{image_.width} * image_.texel_bytes() + 31) / 32 * 32;
    image_.lay_out();
    texels_.resize(image_.bytes());
    image_.address = reinterpret_cast<std::uint64_t>(texels_.data());
    finite_ = !isa::is_float(image_.type) || pick(4) != 0;
    const std::uint32_t spread = 1 + pick(24), middle = 115 + pick(20), subnormal = pick(8);
    const auto bytes = static_cast<std::size_t>(isa::bytes(image_.type));
    for (std::size_t at = 0; at + bytes <= texels_.size(); at += bytes) {
      std::uint32_t bits = word();
      if (finite_ && image_.type == Type::f32)
        bits = (bits & 0x807fffff) | (subnormal == 0 ? bits >> 23 & 1 : middle + (bits >> 23) % spread) << 23;
      if (finite_ && image_.type == Type::f16) bits = (bits & 0x83ff) | ((bits >> 10) % std::min(30u, spread)) << 10;
      if (isa::is_float(image_.type) && pick(16) == 0)
        bits = image_.type == Type::f32 ? bits & 0x80000000 : bits & 0x8000;
      std::memcpy(texels_.data() + at, &bits, bytes);
    }
  }

  void choose_sampler() {
    for (Addressing& a : sampler_.addressing) a = static_cast<Addressing>(pick(4));
    sampler_.linear = maybe();
    sampler_.linear_levels = maybe();
    sampler_.normalized = maybe();
    sampler_.unnormalized_forced = pick(16) == 0;
    sampler_.read_normalized = maybe();
    sampler_.srgb = pick(4) == 0;
    sampler_.level_bias = pick(3) == 0 ? static_cast<float>(pick(300)) / 100 - 1 : 0;
    sampler_.lowest_level = pick(3) == 0 ? static_cast<float>(pick(300)) / 100 : 0;
    sampler_.highest_level = static_cast<float>(pick(400)) / 100;
    for (float& c : sampler_.border) c = static_cast<float>(pick(300)) / 100 - 1;
  }

  void choose_site() {
    site_.float_coordinates = image_.cube || pick(4) != 0;
    const bool gathers = image_.dimensions == 2 && site_.float_coordinates && pick(5) == 0;
    constexpr Mode kModes[] = {Mode::plain, Mode::plain, Mode::base, Mode::level, Mode::gradient};
    site_.mode = gathers ? Mode::gather : kModes[pick(std::size(kModes))];
    if (!site_.float_coordinates && site_.mode == Mode::gradient) site_.mode = Mode::level;
    site_.channel = static_cast<std::uint8_t>(pick(4));
    site_.type = pick(8) == 0 ? Type::f16x2 : Type::f32;
    site_.elements = site_.type == Type::f16x2 ? 2 : 4;
    std::uint32_t next = kRegisterFile;
    const auto take = [&](std::uint32_t& offset) { offset = next += kRow; };
    for (std::uint32_t& c : site_.coordinate) take(c);
    for (std::size_t i = 0; i < site_.elements; ++i)
      if (pick(5) != 0) take(site_.value[i]);
    if (site_.mode == Mode::level) take(site_.level);
    if (pick(4) == 0) take(site_.compare);
    for (std::size_t i = 0; i < image_.dimensions && i < 3; ++i) {
      if (!image_.cube && pick(4) == 0) take(site_.offset[i]);
      if (site_.mode == Mode::gradient)
        for (auto& g : site_.gradient) take(g[i]);
    }
    if (site_.mode == Mode::gradient && image_.cube)
      for (auto& g : site_.gradient) take(g[2]);
    same_level_ = maybe();
    steady_level_ = static_cast<float>(pick(300)) / 100;
  }

  // Mostly about the size of the texture; sometimes anything.
  std::uint32_t coordinate(float size) {
    constexpr std::uint32_t kCorners[] = {0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000,
                                          0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7f7fffff, 0xff7fffff,
                                          0x4b800000, 0xcb800000, 0x4f000000, 0x5f000000, 0x3f800000, 0xbf800000};
    const std::uint32_t kind = pick(12);
    if (kind == 0) return kCorners[pick(std::size(kCorners))];
    if (kind == 1) return word();
    if (kind < 4) return std::bit_cast<std::uint32_t>(static_cast<float>(pick(64)) * size / 32 - size / 2);
    return std::bit_cast<std::uint32_t>((static_cast<float>(pick(1 << 20)) * 0x1p-19f - 0.5f) * size);
  }

  std::uint32_t integer(std::uint32_t size) {
    const std::uint32_t kind = pick(10);
    if (kind == 0) return word();
    if (kind == 1) return pick(2) == 0 ? 0x7fffffff : 0x80000000;
    return pick(size + 4) - (kind < 4 ? 2 : 0);
  }

  void choose_operands(int lane) {
    const auto set = [&](std::uint32_t offset, std::uint32_t bits) {
      if (offset != 0) row<std::uint32_t>(warp_.get(), offset)[lane] = bits;
    };
    const bool unit = sampler_.normalized && !sampler_.unnormalized_forced;
    const std::uint32_t sizes[] = {image_.width, image_.height, image_.depth};
    std::size_t next = 0;
    if (site_.is_array()) set(site_.coordinate[next++], pick(10) == 0 ? word() : pick(5));
    for (std::size_t axis = 0; next < 4 && axis < 3; ++axis, ++next) {
      const float size = image_.cube || unit ? 2 : static_cast<float>(sizes[axis]);
      set(site_.coordinate[next], site_.float_coordinates ? coordinate(size) : integer(sizes[axis]));
    }
    const float level = same_level_ ? steady_level_ : static_cast<float>(pick(400)) / 100 - 0.5f;
    set(site_.level, site_.float_coordinates ? std::bit_cast<std::uint32_t>(level) : pick(5) - 1);
    set(site_.compare, std::bit_cast<std::uint32_t>(static_cast<float>(pick(100)) / 50));
    for (std::size_t i = 0; i < 3; ++i) {
      set(site_.offset[i], pick(4) == 0 ? word() : pick(16) - 8);
      for (const auto& g : site_.gradient) set(g[i], coordinate(2));
    }
  }

  std::mt19937& random_;
  std::unique_ptr<Warp, FreeWarp> warp_;
  Image image_;
  Sampler sampler_;
  TextureSite site_;
  std::vector<std::byte> texels_;
  Mask mask_ = 0;
  bool finite_ = true, same_level_ = false;
  float steady_level_ = 0;
};

bool is_wanted(const TextureSite& site, std::size_t channel) {
  return site.value[site.type == Type::f16x2 ? channel / 2 : channel] != 0;
}

TEST(TextureRows, AnswerAsLanesDo) {
  std::mt19937 random(20261);
  std::size_t common = 0, answered_lanes = 0;
  for (int n = 0; n < 20000; ++n) {
    const Question question(random);
    const SampleRowsRequest request = question.request();
    SampledRows wanted;
    sample_lanes(request, question.mask(), wanted);
    for (const Level& level : levels()) {
      SampledRows got;
      const Mask answered = level.sample(request, got);
      ASSERT_EQ(answered & ~question.mask(), 0u) << question.text();
      if (question.is_common()) {
        ++common;
        ASSERT_EQ(answered, question.mask()) << level.name << ", question " << n << ": " << question.text();
      }
      for (Mask m = answered; m != 0; m &= m - 1) {
        const int lane = __builtin_ctz(m);
        ++answered_lanes;
        const auto where = [&] {
          std::string text = std::string(level.name) + ", question " + std::to_string(n) + ", lane " +
                             std::to_string(lane) + ": " + question.text() + " at";
          for (const std::uint32_t c : question.site().coordinate)
            text += " " + std::to_string(std::bit_cast<float>(question.word(c, lane)));
          return text;
        };
        ASSERT_EQ(got.address[lane], wanted.address[lane]) << where();
        for (std::size_t c = 0; c < 4; ++c)
          if (is_wanted(question.site(), c)) {
            ASSERT_EQ(got.value[c][lane], wanted.value[c][lane]) << where() << ", channel " << c;
          }
      }
    }
  }
  EXPECT_GT(common, 10000u);
  EXPECT_GT(answered_lanes, 300000u);
}

// What add_fractions() of filter_rows.hpp relies on: bytes as integers of 16 bits, all of them.
TEST(TextureRows, FractionsOfBytesAreIntegers) {
  for (int v = 0; v < 256; ++v) EXPECT_EQ(fraction_of_16_bits(Type::u8, static_cast<float>(v) / 255), v * 257);
  for (int v = -128; v < 128; ++v) {
    const int bounded = std::max(v, -127), expected = bounded * 258 + (bounded > 63) - (bounded < -63);
    EXPECT_EQ(fraction_of_16_bits(Type::s8, std::max(static_cast<float>(v) / 127, -1.0f)), expected);
  }
  for (int v = 0; v < 65536; ++v) EXPECT_EQ(fraction_of_16_bits(Type::u16, static_cast<float>(v) / 65535), v);
  for (int v = -32768; v < 32768; ++v)
    EXPECT_EQ(fraction_of_16_bits(Type::s16, std::max(static_cast<float>(v) / 32767, -1.0f)), std::max(v, -32767));
}

} // namespace texture_rows_test
} // namespace warplens::exec
