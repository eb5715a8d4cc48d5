// From a row of addresses to host memory: classify the shape once, check bounds and alignment, tell the watcher.
// Compiled per level. The load uses the shape, the analyzers use it.
#pragma once

#include "emulator/exec/cta.hpp"

#include <algorithm>

namespace warplens::exec {

/// The addresses of a warp access. Two-dimensional blocks of 16 columns make each half-warp a sequence of its own, so
/// the two halves have strides of their own; where they agree the whole warp is one sequence.
struct Addresses {
  std::uint64_t lane[kWarpSize]; ///< filled only where `regular` is false or somebody asks
  std::uint64_t base = 0;        ///< of lane 0, extrapolated where it is inactive
  std::int64_t stride[2]{};      ///< of lanes 0 to 15 and of lanes 16 to 31
  std::int64_t half = 0;         ///< lane 16's distance from lane 0
  bool regular = true;           ///< base and strides say it all
};

/// Host addresses of an access that passed its checks.
struct HostAccess {
  std::byte* base = nullptr; ///< of lane 0
  std::int64_t stride[2]{};
  std::int64_t half = 0;
  bool regular = true;
  std::uint64_t lane[kWarpSize]; ///< where not regular; inactive lanes have the address of an active one
  [[nodiscard]] std::byte* at(int i) const {
    if (!regular) return reinterpret_cast<std::byte*>(lane[i]);
    return i < 16 ? base + i * stride[0] : base + half + (i - 16) * stride[1];
  }
};

/// The rare cases, compiled once (access.cpp). Returns false after setting the worker's trap.
bool resolve_slowly(const Op* op, Warp* warp, Mask mask, Addresses& a, HostAccess& host);
/// Where one lane's bytes lie, outside of any instruction; nullptr where they are not its to touch.
std::byte* reach(Warp* warp, const MemorySite& site, std::uint64_t address, std::uint16_t bytes, int lane);
/// Fills `lane` from base and stride.
void expand(Addresses& a, bool address32);

/// For instructions whose lanes go their own ways: the address in one lane of an op's address row, …
std::uint64_t address_in(const Op* op, Warp* warp, int lane);
/// … and the memory there. `bytes` is nullptr where none were asked for and there are none.
struct Reached {
  std::byte* bytes = nullptr;
  isa::Space space{};       ///< after generic addresses are resolved
  std::uint64_t offset = 0; ///< in that space
};
/// Returns false after setting the worker's trap.
bool reach(const Op* op, Warp* warp, int lane, std::uint64_t address, std::uint64_t bytes, unsigned alignment,
           Reached& reached);
/// Tells the watcher of a long run of bytes, as accesses of whole warps to consecutive pieces of the site's size.
void observe_run(const Op* op, Warp* warp, const Reached& at, std::uint64_t bytes);

namespace WARPLENS_LEVEL {

// Are the active lanes' addresses an arithmetic sequence?
template <class A> inline void classify(const A* values, std::int64_t offset, Mask mask, Addresses& a) {
  using Signed = std::make_signed_t<A>;
  const int first = __builtin_ctz(mask);
  const Mask rest = mask & (mask - 1);
  A stride = 0;
  if (rest != 0) {
    const int second = __builtin_ctz(rest);
    const auto distance = static_cast<Signed>(values[second] - values[first]);
    const int lanes = second - first;
    stride = static_cast<A>(lanes == 1 ? distance : distance / lanes);
  }
  const A base = values[first] - static_cast<A>(first) * stride;
  // The bits in which the addresses of active lanes differ from place(lane).
  const auto differing = [&](auto place) {
    A bits = 0;
    if (mask == kFullMask) {
      for (int i = 0; i < kWarpSize; ++i) bits |= values[i] ^ place(i);
    } else {
      for (int i = 0; i < kWarpSize; ++i) bits |= (values[i] ^ place(i)) & (A{0} - static_cast<A>(mask >> i & 1));
    }
    return bits;
  };
  // All lanes at one place is frequent, and needs no multiplications: those of 64 bits take longer than all the rest.
  A difference = stride == 0 ? differing([&](int) { return base; })
                             : differing([&](int i) { return static_cast<A>(base + static_cast<A>(i) * stride); });
  a.base = static_cast<A>(base + static_cast<A>(offset));
  a.stride[0] = a.stride[1] = static_cast<Signed>(stride);
  a.half = static_cast<std::int64_t>(std::uint64_t{16} * static_cast<std::uint64_t>(a.stride[0]));
  a.regular = difference == 0;
  if (a.regular) return;
  if (mask == kFullMask) {
    const A second = values[17] - values[16];
    difference = 0;
    for (int i = 0; i < 16; ++i)
      difference |= (values[i] ^ (base + static_cast<A>(i) * stride)) |
                    (values[16 + i] ^ (values[16] + static_cast<A>(i) * second));
    a.stride[1] = static_cast<Signed>(second);
    a.half = static_cast<Signed>(static_cast<A>(values[16] - base));
    a.regular = difference == 0;
    if (a.regular) return;
  }
  for (int i = 0; i < kWarpSize; ++i) a.lane[i] = static_cast<A>(values[i] + static_cast<A>(offset));
}

// The lowest address and the end of a regular access. Where low is not below high, the access runs past the end of the
// address space, or its strides are so long that it may run around it and end where it began.
struct Extent {
  std::uint64_t low, high;
};
inline Extent extent(const Addresses& a, Mask mask, unsigned lane_bytes) {
  constexpr std::uint64_t kLong = std::uint64_t{1} << 58; // 31 times as much is still a signed number
  const auto is_long = [](std::int64_t stride) { return static_cast<std::uint64_t>(stride) + kLong > 2 * kLong; };
  if (is_long(a.stride[0]) || is_long(a.stride[1])) return {1, 0};
  const auto first = static_cast<std::int64_t>(__builtin_ctz(mask)),
             last = static_cast<std::int64_t>(31 - __builtin_clz(mask));
  const std::uint64_t p = a.base + static_cast<std::uint64_t>(first * a.stride[0]);
  if (a.half == 16 * a.stride[0] && a.stride[0] == a.stride[1]) {
    const std::uint64_t q = a.base + static_cast<std::uint64_t>(last * a.stride[0]);
    return {p < q ? p : q, (p < q ? q : p) + lane_bytes};
  }
  const std::uint64_t second = a.base + static_cast<std::uint64_t>(a.half);
  const std::uint64_t p_end = a.base + static_cast<std::uint64_t>(15 * a.stride[0]),
                      q_end = second + static_cast<std::uint64_t>(15 * a.stride[1]);
  // Two by two: of an array of four the least is taken by a vector, which waits until its words are stored.
  const std::uint64_t low = std::min(std::min(p, p_end), std::min(second, q_end)),
                      high = std::max(std::max(p, p_end), std::max(second, q_end));
  return {low, high + lane_bytes};
}

// Irregular accesses that lie in one allocation, or in shared memory.
template <bool watched>
[[gnu::noinline]] bool resolve_irregular(const Op* op, Warp* warp, Mask mask, Addresses& a, HostAccess& host) {
  const MemorySite& site = *op->site;
  const std::uint64_t first = a.lane[__builtin_ctz(mask)];
  std::uint64_t low = first, high = first, bits = first;
  for (int i = 0; i < kWarpSize; ++i) {
    const std::uint64_t address = (mask >> i & 1) != 0 ? a.lane[i] : first;
    a.lane[i] = address;
    low = address < low ? address : low;
    high = address > high ? address : high;
    bits |= address;
  }
  const std::uint64_t end = high + site.lane_bytes;
  if ((bits & (site.lane_bytes - 1u)) != 0 || end < high) return resolve_slowly(op, warp, mask, a, host);
  std::uint64_t origin = 0;
  isa::Space space = site.space;
  if (space == isa::Space::shared) {
    if (end > warp->cta->shared_bytes) return resolve_slowly(op, warp, mask, a, host);
    origin = reinterpret_cast<std::uint64_t>(warp->cta->shared);
  } else if (space == isa::Space::global || space == isa::Space::constant ||
             (space == isa::Space::generic && end <= (site.address32 ? kSharedWindow32 : kSharedWindow))) {
    const Worker::Region& region = warp->worker->regions[site.index];
    if ((low < region.begin || end > region.end) && !warp->worker->find_region(site.index, low, end))
      return resolve_slowly(op, warp, mask, a, host);
    if (space == isa::Space::generic) space = isa::Space::global;
  } else {
    return resolve_slowly(op, warp, mask, a, host);
  }
  host.regular = false;
  for (int i = 0; i < kWarpSize; ++i) host.lane[i] = origin + a.lane[i];
  if constexpr (watched) {
    std::int64_t offsets[kWarpSize];
    for (int i = 0; i < kWarpSize; ++i) offsets[i] = static_cast<std::int64_t>(a.lane[i] - first);
    warp->worker->watch->irregular(*warp, site, space, mask, first, offsets);
  }
  return true;
}

// Regular accesses are served here; irregular ones, generic ones into a window, and every trap in access.cpp.
template <bool watched> inline bool resolve(const Op* op, Warp* warp, Mask mask, HostAccess& host) {
  const MemorySite& site = *op->site;
  Addresses a;
  if (site.address32)
    classify(row<std::uint32_t>(warp, op->src[0]), op->imm, mask, a);
  else
    classify(row<std::uint64_t>(warp, op->src[0]), op->imm, mask, a);
  if (!a.regular) return resolve_irregular<watched>(op, warp, mask, a, host);
  const std::uint64_t misaligned =
      (a.base | static_cast<std::uint64_t>(a.stride[0] | a.stride[1] | a.half)) & (site.lane_bytes - 1u);
  if (misaligned != 0) return resolve_slowly(op, warp, mask, a, host);
  const auto [low, high] = extent(a, mask, site.lane_bytes);
  if (low >= high) return resolve_slowly(op, warp, mask, a, host);
  const Cta& cta = *warp->cta;
  host.stride[0] = a.stride[0];
  host.stride[1] = a.stride[1];
  host.half = a.half;
  switch (site.space) {
  case isa::Space::shared:
    if (high > cta.shared_bytes) break;
    host.base = cta.shared + a.base;
    if constexpr (watched)
      warp->worker->watch->regular(*warp, site, isa::Space::shared, mask, a.base, a.stride, a.half);
    return true;
  case isa::Space::local:
    if (high > cta.local_stride) break;
    host.base = cta.local + std::uint64_t{warp->index} * kWarpSize * cta.local_stride + a.base;
    for (std::int64_t& stride : host.stride) stride += static_cast<std::int64_t>(cta.local_stride);
    host.half += 16 * static_cast<std::int64_t>(cta.local_stride);
    if constexpr (watched) warp->worker->watch->regular(*warp, site, isa::Space::local, mask, a.base, a.stride, a.half);
    return true;
  case isa::Space::generic:
    if (low >= (site.address32 ? kSharedWindow32 : kSharedWindow)) break;
    [[fallthrough]];
  case isa::Space::global:
  case isa::Space::constant: {
    const Worker::Region& region = warp->worker->regions[site.index];
    if ((low < region.begin || high > region.end) && !warp->worker->find_region(site.index, low, high)) break;
    host.base = reinterpret_cast<std::byte*>(a.base);
    const isa::Space space = site.space == isa::Space::constant ? isa::Space::constant : isa::Space::global;
    if constexpr (watched) warp->worker->watch->regular(*warp, site, space, mask, a.base, a.stride, a.half);
    return true;
  }
  default: break;
  }
  return resolve_slowly(op, warp, mask, a, host);
}

} // namespace WARPLENS_LEVEL
} // namespace warplens::exec
