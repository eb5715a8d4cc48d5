// SPDX-License-Identifier: Apache-2.0
// Loads and stores. Compiled once per level.
#include "emulator/exec/access/memory_handlers.hpp"
#include "emulator/exec/access/access.hpp"
#include "emulator/exec/access/collisions.hpp"
#include "emulator/exec/access/element_rows.hpp"

#include <array>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace warplens::exec::WARPLENS_LEVEL {

namespace {

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

// A handler is short functions that end with a call of the next one: what only rare accesses need, such as aligned
// buffers, would cost the others a larger frame.

// Some lanes, or addresses of any kind.
template <class M, class R, int V>
[[gnu::noinline]] const Op* load_lanes(const Op* op, Warp* warp, Mask mask, HostAccess& host) {
  if (host.regular) spread(host, mask);
  for (int e = 0; e < V; ++e) {
    R* const d = row<R>(warp, loaded<V>(op, e));
    alignas(64) R fresh[kWarpSize];
    constexpr int kCount = kGathered<R>;
    for (int i = 0; i < kWarpSize; i += kCount)
      gather<M>((mask == kFullMask ? d : fresh) + i,
                [&](int k) { return reinterpret_cast<const std::byte*>(host.lane[i + k]) + e * sizeof(M); },
                std::make_integer_sequence<int, kCount>{});
    if (mask != kFullMask) copy_some(d, fresh, mask);
  }
  return op + 1;
}

template <class M, class R, int V> [[gnu::noinline]] const Op* load_warp(const Op* op, Warp* warp, Mask mask) {
  HostAccess host;
  if (!resolve(op, warp, mask, host)) return nullptr;
  if (mask != kFullMask || !host.regular) return load_lanes<M, R, V>(op, warp, mask, host);
  if constexpr (kTransposed<M, R, V>) {
    if (host.stride[0] == 16 && host.stride[1] == 16) {
      load_transposed<M, R, V>(op, warp, 0, host.base);
      load_transposed<M, R, V>(op, warp, kHalf, host.base + host.half);
      return op + 1;
    }
  }
  for (int e = 0; e < V; ++e) {
    R* const d = row<R>(warp, loaded<V>(op, e));
    const std::byte* const p = host.base + e * sizeof(M);
    load_half<M, R, V>(d, p, host.stride[0]);
    load_half<M, R, V>(d + kHalf, p + host.half, host.stride[1]);
  }
  return op + 1;
}

template <class M, class R, int V> [[gnu::noinline]] const Op* load_lane(const Op* op, Warp* warp, Mask mask) {
  if (mask == 0) return op + 1;
  const int lane = __builtin_ctz(mask);
  const std::byte* const p = reach_only(op, warp, mask, lane);
  if (p == nullptr) return load_warp<M, R, V>(op, warp, mask);
  for (int e = 0; e < V; ++e) row<R>(warp, loaded<V>(op, e))[lane] = static_cast<R>(read<M>(p + e * sizeof(M)));
  return op + 1;
}

template <class M, class R, int V> const Op* load(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  return few(mask) ? load_lane<M, R, V>(op, warp, mask) : load_warp<M, R, V>(op, warp, mask);
}

// Lanes that may overlap, some lanes, or addresses of any kind.
template <class M, class R, int V>
[[gnu::noinline]] const Op* store_lanes(const Op* op, Warp* warp, Mask mask, HostAccess& host) {
  constexpr int kBytes = V * sizeof(M);
  if (mask == kFullMask) {
    if (host.regular)
      spread(host, mask);
    else if (op->site->space != isa::Space::shared)
      fetch_lines(host.lane);
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

// Lanes of one half of the warp between those of the other, so far apart that none overlap: the two of a pair, which
// are probably in one line of the cache, one after the other.
inline bool are_interleaved(const HostAccess& host, std::int64_t bytes) {
  const auto length = [](std::int64_t distance) { return distance < 0 ? -distance : distance; };
  return host.stride[0] == host.stride[1] && length(host.half) >= bytes &&
         length(host.half) + bytes <= length(host.stride[0]);
}
template <class M, class R, int V>
[[gnu::noinline]] const Op* store_interleaved(const Op* op, Warp* warp, const HostAccess& host) {
  for (int i = 0; i < kHalf; ++i)
    for (const int lane : {i, kHalf + i})
      for (int e = 0; e < V; ++e)
        write(host.at(lane) + e * sizeof(M), static_cast<M>(row<R>(warp, stored<V>(op, e))[lane]));
  return op + 1;
}

template <class M, class R, int V> [[gnu::noinline]] const Op* store_warp(const Op* op, Warp* warp, Mask mask) {
  HostAccess host;
  if (!resolve(op, warp, mask, host)) return nullptr;
  constexpr int kBytes = V * sizeof(M);
  if (mask != kFullMask || !host.regular) return store_lanes<M, R, V>(op, warp, mask, host);
  if (host.stride[0] == kBytes && host.stride[1] == kBytes) {
    store_sequences<M, R, V>(op, warp, host.base, host.half);
    return op + 1;
  }
  const bool apart = host.stride[0] == host.stride[1] && host.half == kHalf * host.stride[0] &&
                     (host.stride[0] >= kBytes || host.stride[0] <= -kBytes); // no two lanes overlap
  if (!apart)
    return are_interleaved(host, kBytes) ? store_interleaved<M, R, V>(op, warp, host)
                                         : store_lanes<M, R, V>(op, warp, mask, host);
  store_apart<M, R, V>(op, warp, host);
  return op + 1;
}

template <class M, class R, int V> [[gnu::noinline]] const Op* store_lane(const Op* op, Warp* warp, Mask mask) {
  if (mask == 0) return op + 1;
  const int lane = __builtin_ctz(mask);
  std::byte* const p = reach_only(op, warp, mask, lane);
  if (p == nullptr) return store_warp<M, R, V>(op, warp, mask);
  for (int e = 0; e < V; ++e) write(p + e * sizeof(M), static_cast<M>(row<R>(warp, stored<V>(op, e))[lane]));
  return op + 1;
}

template <class M, class R, int V> const Op* store(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  return few(mask) ? store_lane<M, R, V>(op, warp, mask) : store_warp<M, R, V>(op, warp, mask);
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

template <class M, class R> Handler pick(const MemoryHandlerKey& key) {
  if (key.kind == MemoryHandlerKey::Kind::param) return load_param<M, R>;
  const auto by_vector = [&]<int V>(std::integral_constant<int, V>) -> Handler {
    constexpr bool kMayBeWhole = V * sizeof(M) == 16 || (V > 1 && V * sizeof(M) == 8);
    if (key.kind == MemoryHandlerKey::Kind::load) {
      if constexpr (kMayBeWhole)
        if (key.whole) return load_whole<M, R, V>;
      return load<M, R, V>;
    }
    if constexpr (std::is_signed_v<M>) {
      return nullptr; // memory_handler() takes the unsigned type for stores
    } else {
      if constexpr (kMayBeWhole)
        if (key.whole) return store_whole<M, R, V>;
      return store<M, R, V>;
    }
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
