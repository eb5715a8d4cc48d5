// From a row of addresses to host memory: classify the shape once, check bounds and alignment, tell the watcher.
// Compiled per level. The load uses the shape, the analyzers use it.
#pragma once

#include "emulator/exec/cta.hpp"

namespace warplens::exec {

/// The rare cases, compiled once (access.cpp). Each returns false after setting the worker's trap.
struct Addresses {
  std::uint64_t lane[kWarpSize]; ///< filled only where `regular` is false or somebody asks
  std::uint64_t base = 0;        ///< of lane 0, extrapolated where it is inactive
  std::int64_t stride = 0;
  bool regular = true;
};

/// Host addresses of an access that passed its checks.
struct HostAccess {
  std::byte* base = nullptr; ///< of lane 0
  std::int64_t stride = 0;
  bool regular = true;
  std::byte* lane[kWarpSize]; ///< where not regular
  [[nodiscard]] std::byte* at(int i) const { return regular ? base + i * stride : lane[i]; }
};

bool resolve_slowly(const Op* op, Warp* warp, Mask mask, Addresses& a, HostAccess& host);
void observe(Warp* warp, const MemorySite& site, isa::Space space, Mask mask, const Addresses& a);
/// Fills `lane` from base and stride.
void expand(Addresses& a, bool address32);

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
  A difference = 0;
  if (mask == kFullMask) {
    for (int i = 0; i < kWarpSize; ++i) difference |= values[i] ^ (base + static_cast<A>(i) * stride);
  } else {
    for (int i = 0; i < kWarpSize; ++i) {
      const A on = A{0} - static_cast<A>(mask >> i & 1);
      difference |= (values[i] ^ (base + static_cast<A>(i) * stride)) & on;
    }
  }
  a.regular = difference == 0;
  a.stride = static_cast<Signed>(stride);
  a.base = static_cast<A>(base + static_cast<A>(offset));
  if (!a.regular)
    for (int i = 0; i < kWarpSize; ++i) a.lane[i] = static_cast<A>(values[i] + static_cast<A>(offset));
}

// Regular accesses are served here; irregular ones, generic ones into a window, and every trap in access.cpp.
template <bool watched> inline bool resolve(const Op* op, Warp* warp, Mask mask, HostAccess& host) {
  const MemorySite& site = *op->site;
  Addresses a;
  if (site.address32) classify(row<std::uint32_t>(warp, op->src[0]), op->imm, mask, a);
  else classify(row<std::uint64_t>(warp, op->src[0]), op->imm, mask, a);
  const std::uint64_t misaligned = (a.base | static_cast<std::uint64_t>(a.stride)) & (site.lane_bytes - 1u);
  if (!a.regular || misaligned != 0) return resolve_slowly(op, warp, mask, a, host);
  const std::uint64_t first = a.base + static_cast<std::uint64_t>(__builtin_ctz(mask) * a.stride);
  const std::uint64_t last = a.base + static_cast<std::uint64_t>((31 - __builtin_clz(mask)) * a.stride);
  const std::uint64_t low = a.stride < 0 ? last : first, high = (a.stride < 0 ? first : last) + site.lane_bytes;
  const Cta& cta = *warp->cta;
  host.stride = a.stride;
  switch (site.space) {
  case isa::Space::shared:
    if (low >= high || high > cta.shared_bytes) break;
    host.base = cta.shared + a.base;
    if constexpr (watched) warp->worker->watch->regular(site, isa::Space::shared, mask, a.base, a.stride);
    return true;
  case isa::Space::local:
    if (low >= high || high > cta.program.local_bytes) break;
    host.base = cta.local + std::uint64_t{warp->index} * kWarpSize * cta.local_stride + a.base;
    host.stride += static_cast<std::int64_t>(cta.local_stride);
    if constexpr (watched) warp->worker->watch->regular(site, isa::Space::local, mask, a.base, a.stride);
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
    if constexpr (watched) warp->worker->watch->regular(site, space, mask, a.base, a.stride);
    return true;
  }
  default: break;
  }
  return resolve_slowly(op, warp, mask, a, host);
}

} // namespace WARPLENS_LEVEL
} // namespace warplens::exec
