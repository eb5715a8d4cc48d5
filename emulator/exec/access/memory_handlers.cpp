// SPDX-License-Identifier: Apache-2.0
// Loads and stores. Compiled once per level.
#include "emulator/exec/access/memory_handlers.hpp"
#include "emulator/exec/access/access.hpp"
#include "emulator/exec/access/collisions.hpp"

#include <array>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace warplens::exec::WARPLENS_LEVEL {

namespace {

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

// Addresses of all lanes of a regular access; inactive lanes get the address of an active one.
inline void spread(HostAccess& host, Mask mask) {
  const int first = __builtin_ctz(mask);
  const auto base = reinterpret_cast<std::uint64_t>(host.base);
  for (int h = 0; h < 2; ++h) {
    std::uint64_t at = base + static_cast<std::uint64_t>(h * host.half); // sums: products of 64 bits are slow
    for (int i = 0; i < 16; ++i, at += static_cast<std::uint64_t>(host.stride[h])) host.lane[16 * h + i] = at;
  }
  const std::uint64_t safe = host.lane[first];
  for (int i = 0; i < kWarpSize; ++i) host.lane[i] = (mask >> i & 1) != 0 ? host.lane[i] : safe;
}

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

// Half a warp from arbitrary addresses.
template <class M, class R> inline void gather_half(R* d, const std::byte* p, std::int64_t stride) {
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

template <class M, class R, int V> const Op* load(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  if (few(mask)) {
    if (mask == 0) return op + 1;
    const int lane = __builtin_ctz(mask);
    if (const std::byte* const p = reach_only(op, warp, mask, lane)) {
      for (int e = 0; e < V; ++e) row<R>(warp, loaded<V>(op, e))[lane] = static_cast<R>(read<M>(p + e * sizeof(M)));
      return op + 1;
    }
  }
  HostAccess host;
  if (!resolve(op, warp, mask, host)) return nullptr;
  if constexpr (kTransposed<M, R, V>) {
    if (mask == kFullMask && host.regular && host.stride[0] == 16 && host.stride[1] == 16) {
      load_transposed<M, R, V>(op, warp, 0, host.base);
      load_transposed<M, R, V>(op, warp, kHalf, host.base + host.half);
      return op + 1;
    }
  }
  if (mask == kFullMask && host.regular) {
    for (int e = 0; e < V; ++e) {
      R* const d = row<R>(warp, loaded<V>(op, e));
      const std::byte* const p = host.base + e * sizeof(M);
      load_half<M, R, V>(d, p, host.stride[0]);
      load_half<M, R, V>(d + kHalf, p + host.half, host.stride[1]);
    }
    return op + 1;
  }
  if (host.regular) spread(host, mask);
  for (int e = 0; e < V; ++e) {
    R* const d = row<R>(warp, loaded<V>(op, e));
    alignas(64) R fresh[kWarpSize];
    constexpr int kCount = kGathered<R>;
    for (int i = 0; i < kWarpSize; i += kCount)
      gather<M>((mask == kFullMask ? d : fresh) + i,
                [&](int k) { return reinterpret_cast<const std::byte*>(host.lane[i + k]) + e * sizeof(M); },
                std::make_integer_sequence<int, kCount>{});
    if (mask == kFullMask) continue;
    for (int i = 0; i < kWarpSize; ++i) d[i] = (mask >> i & 1) != 0 ? fresh[i] : d[i];
  }
  return op + 1;
}

template <class M, class R, int V> const Op* store(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  if (few(mask)) {
    if (mask == 0) return op + 1;
    const int lane = __builtin_ctz(mask);
    if (std::byte* const p = reach_only(op, warp, mask, lane)) {
      for (int e = 0; e < V; ++e) write(p + e * sizeof(M), static_cast<M>(row<R>(warp, stored<V>(op, e))[lane]));
      return op + 1;
    }
  }
  HostAccess host;
  if (!resolve(op, warp, mask, host)) return nullptr;
  constexpr int kBytes = V * sizeof(M);
  if (mask == kFullMask && host.regular && host.stride[0] == kBytes && host.stride[1] == kBytes) {
    if constexpr (kTransposed<M, R, V>) { // the second half last, as in for_each_storing_lane
      store_transposed<M, R, V>(op, warp, 0, host.base);
      store_transposed<M, R, V>(op, warp, kHalf, host.base + host.half);
      return op + 1;
    }
    for (int e = 0; e < V; ++e) {
      const R* const s = row<R>(warp, stored<V>(op, e));
      std::byte* const p = host.base + e * sizeof(M);
      if constexpr (lanes_together(kBytes) == kWarpSize) { // the halves may overlap
        store_half<M, R, V>(s + kHalf, p + host.half);
        store_half<M, R, V>(s, p);
      } else {
        store_half<M, R, V>(s, p);
        store_half<M, R, V>(s + kHalf, p + host.half);
      }
    }
    return op + 1;
  }
  const bool apart = host.stride[0] == host.stride[1] && host.half == kHalf * host.stride[0] &&
                     (host.stride[0] >= kBytes || host.stride[0] <= -kBytes); // no two lanes overlap
  if (mask == kFullMask && host.regular && apart) {
    store_apart<M, R, V>(op, warp, host);
    return op + 1;
  }
  if (mask == kFullMask) {
    if (host.regular) spread(host, mask);
    for (int e = 0; e < V; ++e) {
      const R* const s = row<R>(warp, stored<V>(op, e));
      for_each_storing_lane<kBytes>(
          [&](int i) { write(reinterpret_cast<std::byte*>(host.lane[i]) + e * sizeof(M), static_cast<M>(s[i])); });
    }
    return op + 1;
  }
  for_each_storing_lane(mask, kBytes, [&](int i) {
    for (int e = 0; e < V; ++e) write(host.at(i) + e * sizeof(M), static_cast<M>(row<R>(warp, stored<V>(op, e))[i]));
  });
  return op + 1;
}

// The move of 16 aligned bytes between a register and memory. Processors with AVX move them at once (Intel's manual,
// volume 3, 9.1.1; AMD's, volume 2, 7.3.2), 64-bit Arm processors with FEAT_LSE2 as well (Arm's manual, B2.2.1).
#if defined(__AVX__)
#define WARPLENS_LOAD_WHOLE "vmovdqa %1, %0"
#define WARPLENS_STORE_WHOLE "vmovdqa %1, %0"
#define WARPLENS_VECTOR_REGISTER "x"
#elif defined(__SSE2__)
#define WARPLENS_LOAD_WHOLE "movdqa %1, %0"
#define WARPLENS_STORE_WHOLE "movdqa %1, %0"
#define WARPLENS_VECTOR_REGISTER "x"
#elif defined(__aarch64__)
#define WARPLENS_LOAD_WHOLE "ldr %q0, %1"
#define WARPLENS_STORE_WHOLE "str %q1, %0"
#define WARPLENS_VECTOR_REGISTER "w"
#endif
using Whole [[gnu::vector_size(16), gnu::may_alias]] = std::uint64_t;

// Eight or sixteen aligned bytes at once.
template <int bytes> inline std::array<std::byte, bytes> read_at_once(const std::byte* p) {
  std::array<std::byte, bytes> value;
#if defined(WARPLENS_LOAD_WHOLE)
  if constexpr (bytes == 16) {
    Whole whole; // an intrinsic is an ordinary load, which compilers may replace by one for each element
    asm volatile(WARPLENS_LOAD_WHOLE : "=" WARPLENS_VECTOR_REGISTER(whole) : "m"(*reinterpret_cast<const Whole*>(p)));
    std::memcpy(value.data(), &whole, sizeof whole);
    return value;
  }
#endif
  for (int i = 0; i < bytes; i += 8) {
    const std::uint64_t part = __atomic_load_n(reinterpret_cast<const std::uint64_t*>(p + i), __ATOMIC_RELAXED);
    std::memcpy(value.data() + i, &part, sizeof part);
  }
  return value;
}

template <std::size_t bytes> inline void write_at_once(std::byte* p, const std::array<std::byte, bytes>& value) {
#if defined(WARPLENS_STORE_WHOLE)
  if constexpr (bytes == 16) {
    Whole whole;
    std::memcpy(&whole, value.data(), sizeof whole);
    asm volatile(WARPLENS_STORE_WHOLE : "=m"(*reinterpret_cast<Whole*>(p)) : WARPLENS_VECTOR_REGISTER(whole));
    return;
  }
#endif
  for (std::size_t i = 0; i < bytes; i += 8) {
    std::uint64_t part;
    std::memcpy(&part, value.data() + i, sizeof part);
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(p + i), part, __ATOMIC_RELAXED);
  }
}

// Programs publish a state and its value with one vector store, and wait for them with vector loads.
template <class M, class R, int V> const Op* load_whole(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  if (mask == 0) return op + 1;
  HostAccess host;
  if (!resolve(op, warp, mask, host)) return nullptr;
  for (const int i : EachLane(mask)) {
    const auto value = read_at_once<V * sizeof(M)>(host.at(i));
    for (int e = 0; e < V; ++e)
      row<R>(warp, loaded<V>(op, e))[i] = static_cast<R>(read<M>(value.data() + e * sizeof(M)));
  }
  return op + 1;
}

template <class M, class R, int V> const Op* store_whole(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  if (mask == 0) return op + 1;
  HostAccess host;
  if (!resolve(op, warp, mask, host)) return nullptr;
  for_each_storing_lane(mask, V * sizeof(M), [&](int i) {
    std::array<std::byte, V * sizeof(M)> value;
    for (int e = 0; e < V; ++e) write(value.data() + e * sizeof(M), static_cast<M>(row<R>(warp, stored<V>(op, e))[i]));
    write_at_once(host.at(i), value);
  });
  return op + 1;
}

// A kernel parameter at a fixed offset: one scalar for all lanes.
template <class M, class R> const Op* load_param(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  const R value = static_cast<R>(read<M>(warp->worker->launch.params.data() + op->imm));
  R* const d = row<R>(warp, op->dst[0]);
  for (int i = 0; i < kWarpSize; ++i) d[i] = (mask >> i & 1) != 0 ? value : d[i];
  return op + 1;
}

template <class M, class R> Handler pick(const MemoryHandlerKey& key) {
  if (key.kind == MemoryHandlerKey::Kind::param) return load_param<M, R>;
  const auto by_vector = [&]<int V>(std::integral_constant<int, V>) -> Handler {
    if constexpr (V * sizeof(M) == 16 || (V > 1 && V * sizeof(M) == 8)) {
      if (key.whole && key.kind == MemoryHandlerKey::Kind::load) return load_whole<M, R, V>;
      if (key.whole) return store_whole<M, R, V>;
    }
    if (key.kind == MemoryHandlerKey::Kind::load) return load<M, R, V>;
    return store<M, R, V>;
  };
  if constexpr (sizeof(M) == 16) return key.vector == 1 ? by_vector(std::integral_constant<int, 1>{}) : nullptr;
  switch (key.vector) {
  case 1: return by_vector(std::integral_constant<int, 1>{});
  case 2: return by_vector(std::integral_constant<int, 2>{});
  case 4: return by_vector(std::integral_constant<int, 4>{});
  case 8:
    if constexpr (sizeof(M) <= 4) return by_vector(std::integral_constant<int, 8>{});
    return nullptr;
  default: return nullptr;
  }
}

// The sign of M matters where the register is wider.
template <class M> Handler pick_register(const MemoryHandlerKey& key) {
  if (key.register_bytes < static_cast<int>(sizeof(M))) return nullptr;
  if constexpr (std::is_signed_v<M>)
    if (key.register_bytes == sizeof(M)) return pick_register<std::make_unsigned_t<M>>(key);
  constexpr bool is_signed = std::is_signed_v<M>;
  switch (key.register_bytes) {
  case 1:
    if constexpr (sizeof(M) < 1 || (sizeof(M) == 1 && !is_signed))
      return pick<M, std::conditional_t<is_signed, std::int8_t, std::uint8_t>>(key);
    break;
  case 2:
    if constexpr (sizeof(M) < 2 || (sizeof(M) == 2 && !is_signed))
      return pick<M, std::conditional_t<is_signed, std::int16_t, std::uint16_t>>(key);
    break;
  case 4:
    if constexpr (sizeof(M) < 4 || (sizeof(M) == 4 && !is_signed))
      return pick<M, std::conditional_t<is_signed, std::int32_t, std::uint32_t>>(key);
    break;
  case 8: return pick<M, std::conditional_t<is_signed, std::int64_t, std::uint64_t>>(key);
  default: break;
  }
  return nullptr;
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

template <class Whole, class Part> Handler pack_or_unpack(bool packs) {
  return packs ? pack<Whole, Part> : unpack<Whole, Part>;
}

} // namespace

bool resolve_access(const Op* op, Warp* warp, Mask mask, HostAccess& host) { return resolve(op, warp, mask, host); }

Handler vector_move(int total_bytes, int element_bytes, bool packs) {
  switch (total_bytes * 16 + element_bytes) {
  case 2 * 16 + 1: return pack_or_unpack<std::uint16_t, std::uint8_t>(packs);
  case 4 * 16 + 1: return pack_or_unpack<std::uint32_t, std::uint8_t>(packs);
  case 4 * 16 + 2: return pack_or_unpack<std::uint32_t, std::uint16_t>(packs);
  case 8 * 16 + 2: return pack_or_unpack<std::uint64_t, std::uint16_t>(packs);
  case 8 * 16 + 4: return pack_or_unpack<std::uint64_t, std::uint32_t>(packs);
  case 16 * 16 + 4: return pack_or_unpack<unsigned __int128, std::uint32_t>(packs);
  case 16 * 16 + 8: return pack_or_unpack<unsigned __int128, std::uint64_t>(packs);
  default: return nullptr;
  }
}

Handler memory_handler(const MemoryHandlerKey& key) {
  const bool sign = isa::is_signed(key.type) && key.kind != MemoryHandlerKey::Kind::store;
  switch (isa::bytes(key.type)) {
  case 1: return sign ? pick_register<std::int8_t>(key) : pick_register<std::uint8_t>(key);
  case 2: return sign ? pick_register<std::int16_t>(key) : pick_register<std::uint16_t>(key);
  case 4: return sign ? pick_register<std::int32_t>(key) : pick_register<std::uint32_t>(key);
  case 8: return pick_register<std::uint64_t>(key);
  case 16: return pick<unsigned __int128, unsigned __int128>(key);
  default: return nullptr;
  }
}

} // namespace warplens::exec::WARPLENS_LEVEL
