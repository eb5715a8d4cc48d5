// SPDX-License-Identifier: Apache-2.0
// Texels of 32 lanes: gathered by their size, taken apart into channels, read as numbers; texel.cpp has the formats.
// Compiled per level.
#pragma once

#include "emulator/exec/texture/sample_axes.hpp"

#include "emulator/isa/semantics/formats.hpp"

#include <bit>
#include <cstring>

namespace warplens::exec::WARPLENS_LEVEL {

/// The meaning of the bits of a channel.
enum class Meaning : std::uint8_t {
  plain,    ///< themselves
  half,     ///< f16
  fraction, ///< an integer, of the largest one
  color     ///< the same, from sRGB
};

/// The 32-bit words of a texel; those of 1 and 2 bytes are the lower bits of one.
using TexelWords = Row<std::uint32_t>[4];

template <class Word>
inline void gather(const std::byte* base, const Row<std::uint32_t>& offset, Row<std::uint32_t>& to) {
#pragma GCC unroll 8
  for (int i = 0; i < kWarpSize; ++i) {
    Word word;
    std::memcpy(&word, base + offset[i], sizeof word);
    to[i] = word;
  }
}

// All four words of texels of 16 bytes: four lanes at a time, as their transpose.
inline void gather_quads(const std::byte* base, const Row<std::uint32_t>& offset, TexelWords& to) {
  using Quad [[gnu::vector_size(16)]] = std::uint32_t;
  for (int i = 0; i < kWarpSize; i += 4) {
    Quad q[4];
    for (int k = 0; k < 4; ++k) std::memcpy(&q[k], base + offset[i + k], sizeof q[k]);
    const Quad low01 = __builtin_shufflevector(q[0], q[1], 0, 4, 1, 5),
               low23 = __builtin_shufflevector(q[2], q[3], 0, 4, 1, 5),
               high01 = __builtin_shufflevector(q[0], q[1], 2, 6, 3, 7),
               high23 = __builtin_shufflevector(q[2], q[3], 2, 6, 3, 7);
    const Quad words[4] = {
        __builtin_shufflevector(low01, low23, 0, 1, 4, 5), __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
        __builtin_shufflevector(high01, high23, 0, 1, 4, 5), __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
    for (int w = 0; w < 4; ++w) std::memcpy(&to[w][i], &words[w], sizeof words[w]);
  }
}

/// Reads the words that hold the channels of `wanted` (a bit for each).
inline void read_words(const std::byte* base, const Row<std::uint32_t>& offset, unsigned channel_bytes,
                       unsigned channels, unsigned wanted, TexelWords& to) {
  const unsigned bytes = channel_bytes * channels;
  if (bytes == 1) return gather<std::uint8_t>(base, offset, to[0]);
  if (bytes == 2) return gather<std::uint16_t>(base, offset, to[0]);
  if (bytes == 16 && wanted == 15) return gather_quads(base, offset, to);
  for (unsigned word = 0; word < bytes / 4; ++word) {
    const unsigned in_word = channel_bytes == 4 ? 1u << word : channel_bytes == 2 ? 3u << 2 * word : 15u;
    if ((wanted & in_word) != 0) gather<std::uint32_t>(base + 4 * word, offset, to[word]);
  }
}

/// A channel as an integer of 32 bits, its sign extended.
inline void extract(const TexelWords& words, isa::Type type, unsigned channel, Row<std::uint32_t>& to) {
  const auto take = [&](auto narrow) {
    using Narrow = decltype(narrow);
    constexpr unsigned kPerWord = 4 / sizeof(Narrow);
    const Row<std::uint32_t>& word = words[channel / kPerWord];
    const unsigned shift = channel % kPerWord * 8 * sizeof(Narrow);
    each_lane([&](int i) {
      to[i] = static_cast<std::uint32_t>(static_cast<std::int32_t>(static_cast<Narrow>(word[i] >> shift)));
    });
  };
  switch (type) {
  case isa::Type::u8: return take(std::uint8_t{});
  case isa::Type::s8: return take(std::int8_t{});
  case isa::Type::f16:
  case isa::Type::u16: return take(std::uint16_t{});
  case isa::Type::s16: return take(std::int16_t{});
  default: return take(std::uint32_t{});
  }
}

/// Integers as written to registers.
inline void read_channel(Meaning meaning, isa::Type type, const float* colors, Row<std::uint32_t>& row) {
  switch (meaning) {
  case Meaning::plain: return;
  case Meaning::half:
    return each_lane([&](int i) {
      row[i] = std::bit_cast<std::uint32_t>(isa::WARPLENS_LEVEL::widened_value<isa::Type::f16>(row[i]));
    });
  case Meaning::fraction: {
    const float one =
        isa::is_signed(type) ? (isa::bits(type) == 8 ? 127.0f : 32767.0f) : (isa::bits(type) == 8 ? 255.0f : 65535.0f);
    return each_lane([&](int i) {
      const float x = static_cast<float>(static_cast<std::int32_t>(row[i])) / one;
      row[i] = std::bit_cast<std::uint32_t>(x < -1.0f ? -1.0f : x);
    });
  }
  case Meaning::color:
#pragma GCC unroll 8
    for (int i = 0; i < kWarpSize; ++i) row[i] = std::bit_cast<std::uint32_t>(colors[row[i]]);
  }
}

/// Fractions as filters add them: integers of 16 bits, as fraction_of_16_bits() has them.
inline void widen_fraction(isa::Type type, Row<std::uint32_t>& row) {
  const auto widened = [&](auto widen) {
    each_lane([&](int i) { row[i] = static_cast<std::uint32_t>(widen(static_cast<std::int32_t>(row[i]))); });
  };
  switch (type) {
  case isa::Type::u8: return widened([](std::int32_t v) { return v * 257; });
  case isa::Type::s8:
    return widened([](std::int32_t v) {
      v = v < -127 ? -127 : v;
      return v * 258 + (v > 63 ? 1 : 0) - (v < -63 ? 1 : 0);
    });
  case isa::Type::s16: return widened([](std::int32_t v) { return v < -32767 ? -32767 : v; });
  default: return;
  }
}

} // namespace warplens::exec::WARPLENS_LEVEL
