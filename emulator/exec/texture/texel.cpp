// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/texture/texel.hpp"

#include "emulator/isa/semantics/formats.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace warplens::exec {

namespace {

using isa::Type;

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

/// The largest magnitude of an integer type, which represents 1.
float unit(Type type) {
  return static_cast<float>((std::uint64_t{1} << (isa::bits(type) - (isa::is_signed(type) ? 1 : 0))) - 1);
}

std::int64_t integer(Type type, std::uint64_t raw) {
  const int rest = 64 - isa::bits(type);
  return isa::is_signed(type) ? static_cast<std::int64_t>(raw << rest) >> rest : static_cast<std::int64_t>(raw);
}

// IEC 61966-2-1, in 8 digits or steps of 2^-14.
float from_srgb(float x) {
  const float exact = x <= 0.04045f ? x / 12.92f : std::pow((x + 0.055f) / 1.055f, 2.4f);
  if (exact == 0) return 0;
  constexpr int kDigits = 8, kLeast = -14;
  const int unit = std::max(std::ilogb(exact) + 1 - kDigits, kLeast);
  return std::ldexp(std::round(std::ldexp(exact, -unit)), unit);
}

std::uint32_t channel(const Image& image, const Sampler& sampler, std::uint64_t raw, std::uint32_t which) {
  if (image.type == Type::f16) return bits_of(isa::scalar::widened_value<Type::f16>(static_cast<std::uint16_t>(raw)));
  if (image.type == Type::f32) return static_cast<std::uint32_t>(raw);
  const std::int64_t value = integer(image.type, raw);
  if (!is_normalized(image, sampler)) return static_cast<std::uint32_t>(value);
  const float x = std::max(static_cast<float>(value) / unit(image.type), -1.0f);
  const bool linear = !sampler.srgb || image.type != Type::u8 || which == 3;
  return bits_of(linear ? x : srgb_colors()[static_cast<std::size_t>(value)]);
}

// A fraction as an integer, NaN as 0: the nearest one, ties towards 0.
std::uint64_t nearest_fraction(Type type, float x) {
  const float one = std::isnan(x) ? 0.0f : std::clamp(x, isa::is_signed(type) ? -1.0f : 0.0f, 1.0f);
  const double steps = static_cast<double>(one) * static_cast<double>(unit(type));
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(std::copysign(std::ceil(std::fabs(steps) - 0.5), steps)));
}

// A word as a channel of the format, clamped to its range. Stores truncate halves.
std::uint64_t stored(const Image& image, std::uint32_t word) {
  const float x = std::bit_cast<float>(word);
  if (image.type == Type::f32) return word;
  if (image.type == Type::f16 && std::isnan(x)) return 0x7e00;
  if (image.type == Type::f16) return isa::scalar::narrowed<Type::f16, isa::scalar::Rounding::zero>(x);
  if (image.normalized) return nearest_fraction(image.type, x);
  const bool is_signed = isa::is_signed(image.type);
  const std::int64_t most = static_cast<std::int64_t>(unit(image.type)), least = is_signed ? -most - 1 : 0;
  const std::int64_t value = is_signed ? static_cast<std::int32_t>(word) : static_cast<std::int64_t>(word);
  return static_cast<std::uint64_t>(std::clamp(value, least, most));
}

} // namespace

std::uint32_t half_of(std::uint32_t single) {
  return isa::scalar::narrowed<Type::f16, isa::scalar::Rounding::nearest>(std::bit_cast<float>(single));
}

bool is_normalized(const Image& image, const Sampler& sampler) {
  return image.normalized || (sampler.read_normalized && isa::is_integer(image.type) && isa::bits(image.type) < 32);
}

const std::array<float, 256>& srgb_colors() {
  static const std::array<float, 256> colors = [] {
    std::array<float, 256> list{};
    for (std::size_t i = 0; i < list.size(); ++i) list[i] = from_srgb(static_cast<float>(i) / 255.0f);
    return list;
  }();
  return colors;
}

bool reads_floats(const Image& image, const Sampler& sampler) {
  return isa::is_float(image.type) || is_normalized(image, sampler);
}

Texel read_texel(const Image& image, const Sampler& sampler, const std::byte* from) {
  Texel texel{};
  const auto size = static_cast<std::size_t>(isa::bytes(image.type));
  for (std::uint32_t c = 0; c < image.channels; ++c) {
    std::uint64_t raw = 0;
    std::memcpy(&raw, from + c * size, size);
    texel[c] = channel(image, sampler, raw, c);
  }
  return texel;
}

// The border's colour is kept in the format: as its nearest fraction, or as the low bits of a float.
Texel border_texel(const Image& image, const Sampler& sampler) {
  Texel texel{};
  for (std::size_t c = 0; c < 4; ++c) {
    const float color = sampler.border[c];
    const std::uint64_t raw = is_normalized(image, sampler) ? nearest_fraction(image.type, color)
                              : image.type == Type::f16     ? half_of(bits_of(color))
                                                            : bits_of(color);
    texel[c] = channel(image, sampler, raw & ((std::uint64_t{1} << isa::bits(image.type)) - 1), 3);
  }
  return texel;
}

void write_texel(const Image& image, std::byte* to, const Texel& texel, int count) {
  const auto size = static_cast<std::size_t>(isa::bytes(image.type));
  for (std::uint32_t c = 0; c < image.channels; ++c) {
    const std::uint64_t raw = stored(image, c < static_cast<std::uint32_t>(count) ? texel[c] : 0);
    std::memcpy(to + c * size, &raw, size);
  }
}

} // namespace warplens::exec
