// Loads and stores. Compiled once per level.
#include "emulator/exec/access.hpp"
#include "emulator/exec/memory_handlers.hpp"

#include <cstring>

namespace warplens::exec::WARPLENS_LEVEL {

namespace {

// Element type M in memory, R in the register, V elements per lane; the registers are op->dst[0], dst[1], src[1],
// src[2] for a load, and src[1], src[2], src[3], dst[0] for a store.
inline std::uint32_t loaded(const Op* op, int element) {
  const std::uint32_t offsets[] = {op->dst[0], op->dst[1], op->src[1], op->src[2]};
  return offsets[element];
}
inline std::uint32_t stored(const Op* op, int element) {
  const std::uint32_t offsets[] = {op->src[1], op->src[2], op->src[3], op->dst[0]};
  return offsets[element];
}

template <class M> inline M read(const std::byte* p) {
  M value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

template <class M, class R, int V, bool watched> const Op* load(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  if (mask == 0) return op + 1;
  HostAccess host;
  if (!resolve<watched>(op, warp, mask, host)) return nullptr;
  constexpr int kBytes = V * sizeof(M);
  if (mask == kFullMask && host.regular && (host.stride == kBytes || host.stride == 0)) {
    for (int e = 0; e < V; ++e) {
      R* const d = row<R>(warp, loaded(op, e));
      const std::byte* const p = host.base + e * sizeof(M);
      if (host.stride == 0) {
        const R value = static_cast<R>(read<M>(p));
        for (int i = 0; i < kWarpSize; ++i) d[i] = value;
      } else {
        for (int i = 0; i < kWarpSize; ++i) d[i] = static_cast<R>(read<M>(p + i * kBytes));
      }
    }
    return op + 1;
  }
  for (Mask m = mask; m != 0; m &= m - 1) {
    const int i = __builtin_ctz(m);
    const std::byte* const p = host.at(i);
    for (int e = 0; e < V; ++e) row<R>(warp, loaded(op, e))[i] = static_cast<R>(read<M>(p + e * sizeof(M)));
  }
  return op + 1;
}

template <class M, class R, int V, bool watched> const Op* store(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  if (mask == 0) return op + 1;
  HostAccess host;
  if (!resolve<watched>(op, warp, mask, host)) return nullptr;
  constexpr int kBytes = V * sizeof(M);
  if (mask == kFullMask && host.regular && host.stride == kBytes) {
    for (int e = 0; e < V; ++e) {
      const R* const s = row<R>(warp, stored(op, e));
      std::byte* const p = host.base + e * sizeof(M);
      for (int i = 0; i < kWarpSize; ++i) {
        const M value = static_cast<M>(s[i]);
        std::memcpy(p + i * kBytes, &value, sizeof value);
      }
    }
    return op + 1;
  }
  // In lane order: where lanes write the same place, the last one stays.
  for (Mask m = mask; m != 0; m &= m - 1) {
    const int i = __builtin_ctz(m);
    std::byte* const p = host.at(i);
    for (int e = 0; e < V; ++e) {
      const M value = static_cast<M>(row<R>(warp, stored(op, e))[i]);
      std::memcpy(p + e * sizeof(M), &value, sizeof value);
    }
  }
  return op + 1;
}

// A kernel parameter at a fixed place: one scalar for all lanes.
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
    if (key.kind == MemoryHandlerKey::Kind::load) return key.watched ? load<M, R, V, true> : load<M, R, V, false>;
    return key.watched ? store<M, R, V, true> : store<M, R, V, false>;
  };
  switch (key.vector) {
  case 1: return by_vector(std::integral_constant<int, 1>{});
  case 2: return by_vector(std::integral_constant<int, 2>{});
  case 4: return by_vector(std::integral_constant<int, 4>{});
  default: return nullptr;
  }
}

template <class M> Handler pick_register(const MemoryHandlerKey& key) {
  if (key.register_bytes < static_cast<int>(sizeof(M))) return nullptr;
  constexpr bool is_signed = std::is_signed_v<M>;
  switch (key.register_bytes) {
  case 1:
    if constexpr (sizeof(M) <= 1) return pick<M, std::conditional_t<is_signed, std::int8_t, std::uint8_t>>(key);
    break;
  case 2:
    if constexpr (sizeof(M) <= 2) return pick<M, std::conditional_t<is_signed, std::int16_t, std::uint16_t>>(key);
    break;
  case 4:
    if constexpr (sizeof(M) <= 4) return pick<M, std::conditional_t<is_signed, std::int32_t, std::uint32_t>>(key);
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

Handler vector_move(int total_bytes, int element_bytes, bool packs) {
  switch (total_bytes * 16 + element_bytes) {
  case 2 * 16 + 1: return pack_or_unpack<std::uint16_t, std::uint8_t>(packs);
  case 4 * 16 + 1: return pack_or_unpack<std::uint32_t, std::uint8_t>(packs);
  case 4 * 16 + 2: return pack_or_unpack<std::uint32_t, std::uint16_t>(packs);
  case 8 * 16 + 2: return pack_or_unpack<std::uint64_t, std::uint16_t>(packs);
  case 8 * 16 + 4: return pack_or_unpack<std::uint64_t, std::uint32_t>(packs);
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
  default: return nullptr;
  }
}

} // namespace warplens::exec::WARPLENS_LEVEL
