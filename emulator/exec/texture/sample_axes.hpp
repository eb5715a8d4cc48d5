// SPDX-License-Identifier: Apache-2.0
// Coordinates in rows: their texels on an axis, and the weights. sampler.cpp explains them; the arithmetic
// is the same, in double precision, where every step is exact or rounded once. Compiled per level.
#pragma once

#include "emulator/base/loops.hpp"
#include "emulator/exec/texture/texture_rows.hpp"

#include <cfloat>
#include <cstring>

namespace warplens::exec::WARPLENS_LEVEL {

template <class F> [[gnu::always_inline]] inline void each_lane(F&& f) {
  WARPLENS_INDEPENDENT
  for (int i = 0; i < kWarpSize; ++i) f(i);
}

// By whole vectors: the compiler would turn a loop into a string instruction, which is slower than everything else.
template <class T> inline void fill(Row<T>& row, T value) {
  using Vector [[gnu::vector_size(32)]] = T;
  const Vector same = Vector{} + value;
  for (std::size_t i = 0; i < sizeof row.of; i += sizeof same)
    std::memcpy(reinterpret_cast<std::byte*>(row.of) + i, &same, sizeof same);
}

template <class T> inline void copy(const Row<T>& from, Row<T>& to) {
  using Vector [[gnu::vector_size(32)]] = T;
  for (std::size_t i = 0; i < sizeof to.of; i += sizeof(Vector)) {
    Vector part;
    std::memcpy(&part, reinterpret_cast<const std::byte*>(from.of) + i, sizeof part);
    std::memcpy(reinterpret_cast<std::byte*>(to.of) + i, &part, sizeof part);
  }
}

/// Two neighbouring texels along an axis, and the weight of the second one, out of 256.
struct AxisRows {
  Row<std::int32_t> texel[2], weight;
  Row<std::uint32_t> beyond[2]; ///< ~0 where the border is read; only with Addressing::border
  bool border = false;
};

/// Coordinates as numbers of texels, rounded down, and what is left of them, of 256.
struct Places {
  Row<double> first;
  Row<std::int32_t> weight;
};

template <bool normalized>
inline void find_places(const Row<double>& coordinate, std::int32_t size, bool linear, Places& to) {
  constexpr double kLimit = 1 << 24;
  const double steps = size > 16384 ? 0x1p22 : 0x1p21, scale = size;
  const double rounding = linear ? 0.5 : 0, middle = linear ? 128 : 0;
  each_lane([&](int i) {
    double c = coordinate[i];
    c = __builtin_fabs(c) >= static_cast<double>(FLT_MIN) ? c : 0;
    c = c < -kLimit ? -kLimit : c;
    c = c > kLimit ? kLimit : c;
    if constexpr (normalized) c = __builtin_floor(c * steps) * (1 / steps) * scale;
    const double fixed = __builtin_floor(c * 256 + rounding) - middle;
    const double whole = __builtin_floor(fixed * (1.0 / 256));
    to.first[i] = whole;
    to.weight[i] = static_cast<std::int32_t>(fixed - whole * 256);
  });
}

// What is left of `x` after whole multiples of `size`. The quotient is below 2^26 and differs from a larger integer by
// 1 / size at least, so that rounding it does not reach that integer.
inline double remainder(double x, double size) { return x - size * __builtin_floor(x / size); }

inline double mirrored(double at, double size) { return at < size ? at : 2 * size - 1 - at; }

/// The texels of `first` and of the next.
inline void address_texels(const Row<double>& first, std::int32_t count, Addressing mode, AxisRows& a) {
  const double size = count;
  const auto texels = [&](auto texel) {
    each_lane([&](int i) {
      const auto [zero, one] = texel(first[i]);
      a.texel[0][i] = static_cast<std::int32_t>(zero);
      a.texel[1][i] = static_cast<std::int32_t>(one);
    });
  };
  struct Pair {
    double zero, one;
  };
  a.border = mode == Addressing::border;
  switch (mode) {
  case Addressing::wrap:
    return texels([&](double x) {
      const double zero = remainder(x, size), one = zero + 1;
      return Pair{zero, one == size ? 0 : one};
    });
  case Addressing::mirror:
    return texels([&](double x) {
      const double zero = remainder(x, 2 * size), one = zero + 1;
      return Pair{mirrored(zero, size), mirrored(one == 2 * size ? 0 : one, size)};
    });
  case Addressing::border:
    each_lane([&](int i) {
      const double x = first[i];
      a.beyond[0][i] = x < 0 || x >= size ? ~0u : 0;
      a.beyond[1][i] = x < -1 || x >= size - 1 ? ~0u : 0;
    });
    [[fallthrough]];
  case Addressing::clamp: break;
  }
  texels([&](double x) {
    const auto bounded = [&](double v) {
      v = v < 0 ? 0 : v;
      return v > size - 1 ? size - 1 : v;
    };
    return Pair{bounded(x), bounded(x + 1)};
  });
}

/// Coordinates of a cube as those of a face, from 0 to 1, and its number: Sampling::project().
inline void project(const float* of_x, const float* of_y, const float* of_z, Row<double>& across, Row<double>& down,
                    Row<std::uint32_t>& face) {
  const auto flushed = [](float v) { return __builtin_fabsf(v) < FLT_MIN ? 0.0f : v; };
  const auto larger = [](float a, float b) { return a > b || b != b ? a : b; };
  const auto size = [](float v) { return v != v ? -1.0f : __builtin_fabsf(v); };
  const auto fraction = [](float v) {
    const double cut = __builtin_floor(static_cast<double>(v) * 0x1p20) * 0x1p-20 + 1;
    return (v != v ? 1.0 : cut) / 2;
  };
  Row<float> s, t;
  each_lane([&](int i) {
    float x = flushed(of_x[i]), y = flushed(of_y[i]), z = flushed(of_z[i]);
    const float scale = 1 / larger(__builtin_fabsf(x), larger(__builtin_fabsf(y), __builtin_fabsf(z)));
    x *= scale, y *= scale, z *= scale;
    const bool is_z = size(z) >= size(x) && size(z) >= size(y), is_y = !is_z && size(y) >= size(x);
    const float major = is_z ? z : is_y ? y : x;
    const float sign = major < 0 ? -1.0f : 1.0f;
    s[i] = is_z ? sign * x : is_y ? x : -sign * z;
    t[i] = is_y ? sign * z : -y;
    face[i] = (is_z ? 4u : is_y ? 2u : 0u) + (major < 0 ? 1u : 0u);
  });
  each_lane([&](int i) {
    across[i] = fraction(s[i]);
    down[i] = fraction(t[i]);
  });
}

} // namespace warplens::exec::WARPLENS_LEVEL
