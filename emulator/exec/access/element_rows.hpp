// SPDX-License-Identifier: Apache-2.0
// Moves elements between memory and rows: the parts of loads, stores and vector moves that know no bounds. Compiled per
// level, for the handlers and for compiled kernels (exec/compile).
#pragma once

#include "emulator/exec/access/access.hpp"
#include "emulator/exec/access/collisions.hpp"
#include "emulator/exec/state/vectors.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace warplens::exec::WARPLENS_LEVEL {

// Element type M in memory, R in the register, V elements per lane; the registers of up to four are op->dst[0], dst[1],
// src[1], src[2] for a load, and src[1], src[2], src[3], dst[0] for a store; of eight they are in the site.
template <int V> inline std::uint32_t loaded(const Op* op, int element) {
  if constexpr (V > 4) return op->site->to[static_cast<unsigned>(element)];
  const std::uint32_t offsets[] = {op->dst[0], op->dst[1], op->src[1], op->src[2]};
  return offsets[element];
}
template <int V> inline std::uint32_t stored(const Op* op, int element) {
  if constexpr (V > 4) return op->site->from[static_cast<unsigned>(element)];
  const std::uint32_t offsets[] = {op->src[1], op->src[2], op->src[3], op->dst[0]};
  return offsets[element];
}

template <class M> inline M read(const std::byte* p) {
  M value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

template <class M> inline void write(std::byte* p, M value) { std::memcpy(p, &value, sizeof value); }

constexpr int kHalf = kWarpSize / 2;

// Converts the values of half a warp to the other type. Whole vectors are written because the next instruction loads
// them as vectors: smaller stores would prevent store forwarding.
template <class From, class To> inline void copy_half(To* to, const From* from) {
  constexpr int kCount = std::min<int>(kHalf, kVectorBytes / std::max(sizeof(From), sizeof(To)));
  for (int i = 0; i < kHalf; i += kCount) {
    Vector<From, kCount> values;
    std::memcpy(&values, reinterpret_cast<const std::byte*>(from) + i * sizeof(From), sizeof values);
    const Vector<To, kCount> converted = __builtin_convertvector(values, Vector<To, kCount>);
    std::memcpy(reinterpret_cast<std::byte*>(to) + i * sizeof(To), &converted, sizeof converted);
  }
}

template <class R> inline void fill_half(R* d, R value) {
  constexpr int kCount = std::min<int>(kHalf, kVectorBytes / sizeof(R));
  const Vector<R, kCount> same = Vector<R, kCount>{} + value;
  for (int i = 0; i < kHalf; i += kCount) std::memcpy(d + i, &same, sizeof same);
}

// The values of consecutive lanes, each from its own address. They are combined before they are written, too.
template <class M, class R, class Place, int... I>
inline void gather(R* d, Place place, std::integer_sequence<int, I...>) {
  if constexpr (sizeof(R) == 16) {
    ((d[I] = static_cast<R>(read<M>(place(I)))), ...);
  } else {
    const Vector<R, sizeof...(I)> values = {static_cast<R>(read<M>(place(I)))...};
    std::memcpy(d, &values, sizeof values);
  }
}
template <class R>
constexpr int kGathered = sizeof(R) < 4 ? 8 : 16 / static_cast<int>(std::min<std::size_t>(sizeof(R), 8));

// Half a warp with any stride. Not inlined: otherwise, the compiler computes the addresses also for loads that do not
// need them.
template <class M, class R> [[gnu::noinline]] void gather_half(R* d, const std::byte* p, std::int64_t stride) {
  constexpr int kCount = kGathered<R>;
  for (int i = 0; i < kHalf; i += kCount, p += kCount * stride)
    gather<M>(
        d + i, [&](int k) { return p + k * stride; }, std::make_integer_sequence<int, kCount>{});
}

// Half a warp from consecutive addresses, from a single one, or with any stride.
template <class M, class R, int V> inline void load_half(R* d, const std::byte* p, std::int64_t stride) {
  if (stride == 0)
    fill_half(d, static_cast<R>(read<M>(p)));
  else if (stride != V * static_cast<std::int64_t>(sizeof(M)))
    gather_half<M>(d, p, stride);
  else if constexpr (V == 1)
    copy_half(d, reinterpret_cast<const M*>(p));
  else
    for (int i = 0; i < kHalf; ++i) d[i] = static_cast<R>(read<M>(p + i * V * sizeof(M)));
}

template <class M, class R, int V> inline void store_half(const R* s, std::byte* p) {
  if constexpr (V == 1)
    copy_half(reinterpret_cast<M*>(p), s);
  else
    for (int i = 0; i < kHalf; ++i) write(p + i * V * sizeof(M), static_cast<M>(s[i]));
}

// Words that form 16 bytes are in memory lane by lane and in registers element by element: the words of as many lanes
// form a square, which is transposed.
template <class M, class R, int V>
constexpr bool kTransposed = (V == 2 || V == 4) && sizeof(M) == sizeof(R) && V * sizeof(M) == 16;

template <class M, int V> inline void transpose(Vector<M, V> (&rows)[V]) {
  if constexpr (V == 2) {
    const Vector<M, 2> first = __builtin_shufflevector(rows[0], rows[1], 0, 2);
    rows[1] = __builtin_shufflevector(rows[0], rows[1], 1, 3);
    rows[0] = first;
  } else {
    const Vector<M, 4> a = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5),
                       b = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7),
                       c = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5),
                       d = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
    rows[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    rows[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    rows[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    rows[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
  }
}

// Half a warp, whose lanes' elements follow one another.
template <class M, class R, int V>
inline void load_transposed(const Op* op, Warp* warp, int first_lane, const std::byte* p) {
  for (int i = first_lane; i < first_lane + kHalf; i += V, p += V * 16) {
    Vector<M, V> square[V];
    std::memcpy(square, p, sizeof square);
    transpose<M, V>(square);
    for (int e = 0; e < V; ++e) std::memcpy(row<R>(warp, loaded<V>(op, e)) + i, &square[e], 16);
  }
}
template <class M, class R, int V>
inline void store_transposed(const Op* op, Warp* warp, int first_lane, std::byte* p) {
  for (int i = first_lane; i < first_lane + kHalf; i += V, p += V * 16) {
    Vector<M, V> square[V];
    for (int e = 0; e < V; ++e) std::memcpy(&square[e], row<R>(warp, stored<V>(op, e)) + i, 16);
    transpose<M, V>(square);
    std::memcpy(p, square, sizeof square);
  }
}

// All lanes, as two sequences of half a warp without gaps.
template <class M, class R, int V>
inline void store_sequences(const Op* op, Warp* warp, std::byte* base, std::int64_t half) {
  constexpr int kBytes = V * sizeof(M);
  if constexpr (kTransposed<M, R, V>) { // the second half last, as in for_each_storing_lane
    store_transposed<M, R, V>(op, warp, 0, base);
    store_transposed<M, R, V>(op, warp, kHalf, base + half);
  } else {
    for (int e = 0; e < V; ++e) {
      const R* const s = row<R>(warp, stored<V>(op, e));
      std::byte* const p = base + e * sizeof(M);
      if constexpr (lanes_together(kBytes) == kWarpSize) { // the halves may overlap
        store_half<M, R, V>(s + kHalf, p + half);
        store_half<M, R, V>(s, p);
      } else {
        store_half<M, R, V>(s, p);
        store_half<M, R, V>(s + kHalf, p + half);
      }
    }
  }
}

// All lanes, each to its own address. Elements that fit in a word are combined first.
template <class M, class R, int V> inline void store_apart(const Op* op, Warp* warp, const HostAccess& host) {
  const std::int64_t stride = host.stride[0];
  if constexpr (V > 1 && V * sizeof(M) <= 8) {
    using Whole = std::conditional_t<V * sizeof(M) == 8, std::uint64_t, std::uint32_t>; // also of two bytes
    Whole whole[kWarpSize]{};
    for (int e = 0; e < V; ++e) {
      const R* const s = row<R>(warp, stored<V>(op, e));
      for (int i = 0; i < kWarpSize; ++i)
        whole[i] |= static_cast<Whole>(static_cast<std::make_unsigned_t<M>>(s[i])) << 8 * sizeof(M) * e;
    }
    std::byte* p = host.base;
    for (int i = 0; i < kWarpSize; ++i, p += stride) std::memcpy(p, &whole[i], V * sizeof(M));
  } else {
    for (int e = 0; e < V; ++e) {
      const R* const s = row<R>(warp, stored<V>(op, e));
      std::byte* p = host.base + e * sizeof(M);
      for (int i = 0; i < kWarpSize; ++i, p += stride) write(p, static_cast<M>(s[i]));
    }
  }
}

// A kernel parameter at a fixed offset: one scalar for all lanes.
template <class M, class R> const Op* load_param(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  const R value = static_cast<R>(read<M>(warp->worker->launch.params.data() + op->imm));
  R* const d = row<R>(warp, op->dst[0]);
  if (mask == kFullMask) {
    fill_half(d, value);
    fill_half(d + kHalf, value);
  } else {
    for (int i = 0; i < kWarpSize; ++i) d[i] = (mask >> i & 1) != 0 ? value : d[i];
  }
  return op + 1;
}

// One element of a vector move, `imm` bits from the low end: into the whole, or out of it.
template <class Whole, class Part> const Op* pack(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  const Whole keep = static_cast<Whole>(~(static_cast<Whole>(static_cast<Part>(~Part{0})) << op->imm));
  Whole* const d = row<Whole>(warp, op->dst[0]);
  const Part* const s = row<Part>(warp, op->src[0]);
  for (int i = 0; i < kWarpSize; ++i) {
    const auto value = static_cast<Whole>((d[i] & keep) | static_cast<Whole>(static_cast<Whole>(s[i]) << op->imm));
    d[i] = (mask >> i & 1) != 0 ? value : d[i];
  }
  return op + 1;
}

template <class Whole, class Part> const Op* unpack(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  Part* const d = row<Part>(warp, op->dst[0]);
  const Whole* const s = row<Whole>(warp, op->src[0]);
  for (int i = 0; i < kWarpSize; ++i) d[i] = (mask >> i & 1) != 0 ? static_cast<Part>(s[i] >> op->imm) : d[i];
  return op + 1;
}

} // namespace warplens::exec::WARPLENS_LEVEL
