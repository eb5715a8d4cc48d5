// SPDX-License-Identifier: Apache-2.0
// From a row of addresses to host memory: classifies the shape once, checks bounds and alignment, notifies the watcher.
// Compiled per level. Both the load and the analyzers use the shape.
#pragma once

#include "emulator/exec/block/cta.hpp"
#include "emulator/exec/state/vectors.hpp"

#include <algorithm>
#include <cstring>

namespace warplens::exec {

/// The addresses of a warp access, if they are regular. In two-dimensional blocks of 16 columns, each half-warp is a
/// separate sequence, so each half has its own stride. If the strides agree, the whole warp is one sequence.
struct Sequences {
  std::uint64_t base = 0;   ///< of lane 0, extrapolated if it is inactive
  std::int64_t stride[2]{}; ///< of lanes 0 to 15 and of lanes 16 to 31
  std::int64_t half = 0;    ///< lane 16's distance from lane 0
  bool regular = true;      ///< base and strides describe all addresses
};

/// Host addresses of an access that passed its checks.
struct HostAccess {
  std::byte* base = nullptr; ///< of lane 0
  std::int64_t stride[2]{};
  std::int64_t half = 0;
  bool regular = true;
  /// If not regular. Inactive lanes have the address of an active one, or its equivalent in their own local memory.
  std::uint64_t lane[kWarpSize];
  [[nodiscard]] std::byte* at(int i) const {
    if (!regular) return reinterpret_cast<std::byte*>(lane[i]);
    return i < 16 ? base + i * stride[0] : base + half + (i - 16) * stride[1];
  }
};

/// One lane's address: its actual space and the offset there (for global: the address itself; for shared: the place,
/// as Cluster::place() says).
struct Located {
  isa::Space space{};
  std::uint64_t offset = 0;
};
Located locate(const Warp* warp, const MemorySite& site, std::uint64_t address);

/// The rare cases, compiled once (access.cpp). Returns false after setting the worker's trap. `a` is passed by value,
/// so that it stays in registers where this is not called.
bool resolve_slowly(const Op* op, Warp* warp, Mask mask, Sequences a, HostAccess& host);
/// Host address of one lane's bytes, outside any instruction; nullptr if the lane may not access them.
std::byte* reach(Warp* warp, const MemorySite& site, std::uint64_t address, std::uint16_t bytes, int lane);
/// For instructions that handle lanes separately: the address in one lane of an op's address row, …
std::uint64_t address_in(const Op* op, Warp* warp, int lane);
/// … and the memory there. `bytes` is nullptr where none were asked for and there are none.
struct Reached {
  std::byte* bytes = nullptr;
  isa::Space space{};       ///< after generic addresses are resolved
  std::uint64_t offset = 0; ///< in that space
};
/// Returns false after setting the worker's trap. If memcheck drops the access, there are no bytes.
bool reach(const Op* op, Warp* warp, int lane, std::uint64_t address, std::uint64_t bytes, unsigned alignment,
           Reached& reached);
/// Reports a long run of bytes to the watcher, as accesses of whole warps to consecutive pieces of the site's size.
void observe_run(const Op* op, Warp* warp, const Reached& at, std::uint64_t bytes, bool counts = true);

namespace WARPLENS_LEVEL {

// Asks for the lines of all lanes at once. Stores and locked operations take effect in order: each would wait for its
// own line.
inline void fetch_lines(const std::uint64_t* host_addresses) {
  for (int i = 0; i < kWarpSize; ++i) __builtin_prefetch(reinterpret_cast<const void*>(host_addresses[i]));
}

// Whether each half of a row is an arithmetic sequence. Compares the differences of neighbours: constructing the
// expected addresses takes longer.
template <class A> inline bool two_sequences(const A* values, A first, A second) {
  constexpr int kWide = kVectorBytes / sizeof(A), kParts = kWarpSize / kWide;
  using Part = Vector<A, kWide>;
  const auto part = [values](int i) {
    Part lanes;
    std::memcpy(&lanes, values + i * kWide, sizeof lanes);
    return lanes;
  };
  Part differing{}, inner = Part{} + static_cast<A>(-1), here = part(0);
  inner[kWide - 1] = 0; // the last lane of a half has no successor there
  for (int i = 0; i < kParts; ++i) {
    const bool ends_half = (i + 1) % (kParts / 2) == 0;
    const Part following = i + 1 < kParts ? part(i + 1) : here;
    const Part wrong =
        (successors(here, following, std::make_index_sequence<kWide>{}) - here) ^ (i < kParts / 2 ? first : second);
    differing |= ends_half ? wrong & inner : wrong;
    here = following;
  }
  return !any_bit(differing);
}

// Of a full warp.
template <class A> inline Sequences sequences_of_all(const A* values, std::int64_t offset) {
  using Signed = std::make_signed_t<A>;
  const A first = values[1] - values[0], second = values[17] - values[16], half = values[16] - values[0];
  Sequences a;
  a.base = static_cast<A>(values[0] + static_cast<A>(offset));
  a.stride[0] = static_cast<Signed>(first);
  a.stride[1] = static_cast<Signed>(second);
  a.half = static_cast<Signed>(half);
  // One sequence, also where 16 strides exceed an address.
  if (first == second && half == static_cast<A>(16 * first))
    a.half = static_cast<std::int64_t>(std::uint64_t{16} * static_cast<std::uint64_t>(a.stride[0]));
  a.regular = two_sequences(values, first, second);
  return a;
}

// Of some lanes, as one sequence. Not inlined: it needs so many registers that full warps would pay for saving them.
template <class A> [[gnu::noinline]] Sequences sequence_of_some(const A* values, std::int64_t offset, Mask mask) {
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
  // The bits in which the addresses of active lanes differ from a sequence. Additions compute the sequence, as 64-bit
  // multiplications would take longer than everything else.
  const auto differing = [&](A place, A step) {
    A bits = 0;
    for (int i = 0; i < kWarpSize; ++i, place += step)
      bits |= (values[i] ^ place) & (A{0} - static_cast<A>(mask >> i & 1));
    return bits;
  };
  Sequences a;
  a.base = static_cast<A>(base + static_cast<A>(offset));
  a.stride[0] = a.stride[1] = static_cast<Signed>(stride);
  a.half = static_cast<std::int64_t>(std::uint64_t{16} * static_cast<std::uint64_t>(a.stride[0]));
  a.regular = (stride == 0 ? differing(base, 0) : differing(base, stride)) == 0;
  return a;
}

// Whether the active lanes' addresses form an arithmetic sequence, or one in each half of a full warp.
template <class A> inline Sequences classify(const A* values, std::int64_t offset, Mask mask) {
  return mask == kFullMask ? sequences_of_all(values, offset) : sequence_of_some(values, offset, mask);
}

// The lowest address and the end of a regular access. If low is not below high, the access exceeds the end of the
// address space, or its strides are so long that it may wrap around and end where it began.
struct AddressSpan {
  std::uint64_t low, high;
};
inline AddressSpan extent(const Sequences& a, Mask mask, unsigned lane_bytes) {
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
  // Two by two: the compiler would load an array of four as a vector, which stalls until its words are stored.
  const std::uint64_t low = std::min(std::min(p, p_end), std::min(second, q_end)),
                      high = std::max(std::max(p, p_end), std::max(second, q_end));
  return {low, high + lane_bytes};
}

// A memory region that may contain a whole access.
struct Place {
  isa::Space space{};               ///< after generic addresses are resolved
  std::uint64_t begin = 1, end = 0; ///< addresses
  std::uint64_t window = 0;         ///< added to the offset in its space to form an address
  std::uint64_t origin = 0;         ///< host address of offset 0, for lane 0
  std::uint64_t stride = 0;         ///< between the origins of consecutive lanes: in local memory

  [[nodiscard]] std::uint64_t host(std::uint64_t address) const { return origin + (address - window); }
  [[nodiscard]] bool has_regions() const { return space == isa::Space::global || space == isa::Space::constant; }
};

// The region of `address`, as far as it is known without a search.
inline Place place_of(Warp* warp, const MemorySite& site, std::uint64_t address) {
  const Cta& cta = *warp->cta;
  Place place;
  place.space = site.space;
  if (site.space == isa::Space::generic) {
    const std::uint64_t shared = site.address32 ? kSharedWindow32 : kSharedWindow,
                        local = site.address32 ? kLocalWindow32 : kLocalWindow;
    place.space = address < shared ? isa::Space::global : address < local ? isa::Space::shared : isa::Space::local;
    place.window = address < shared ? 0 : address < local ? shared : local;
  }
  if (place.space == isa::Space::shared) {
    place.window += cta.shared_begin;
    place.begin = place.window;
    place.end = place.window + cta.shared_bytes;
    place.origin = reinterpret_cast<std::uint64_t>(cta.shared);
  } else if (place.space == isa::Space::local) {
    place.begin = place.window;
    place.end = place.window + cta.local_bytes;
    place.stride = cta.local_stride;
    place.origin =
        reinterpret_cast<std::uint64_t>(cta.local) + std::uint64_t{warp->index} * kWarpSize * cta.local_stride;
  } else if (place.has_regions()) {
    const Worker::Region& region = warp->worker->regions[site.index];
    place.begin = region.begin;
    place.end = region.end;
  }
  return place;
}

// Whether all bytes from `low` to `high` are there, or in another allocation of that space.
inline bool holds(const Place& place, Warp* warp, const MemorySite& site, std::uint64_t low, std::uint64_t high) {
  if (low >= place.begin && low < high && high <= place.end) return true;
  return place.has_regions() && warp->worker->find_region(site.index, low, high);
}

inline bool holds_lanes(const Place& place, Warp* warp, const MemorySite& site, const std::uint64_t* lanes) {
  std::uint64_t low = lanes[0], high = low;
  for (int i = 1; i < kWarpSize; ++i) {
    low = std::min(low, lanes[i]);
    high = std::max(high, lanes[i]);
  }
  return holds(place, warp, site, low, high + site.lane_bytes);
}

// The addresses of all lanes, also of inactive ones.
inline void addresses_of(const Op* op, Warp* warp, std::uint64_t* lanes) {
  const auto fill = [&]<class A>(const A* values) {
    for (int i = 0; i < kWarpSize; ++i) lanes[i] = static_cast<A>(values[i] + static_cast<A>(op->imm));
  };
  if (op->site->address32)
    fill(row<std::uint32_t>(warp, op->src[0]));
  else
    fill(row<std::uint64_t>(warp, op->src[0]));
}

// Irregular accesses within one region.
[[gnu::noinline]] inline bool resolve_irregular(const Op* op, Warp* warp, Mask mask, HostAccess& host) {
  const MemorySite& site = *op->site;
  std::uint64_t lanes[kWarpSize];
  addresses_of(op, warp, lanes);
  const std::uint64_t first = lanes[__builtin_ctz(mask)];
  const Place place = place_of(warp, site, first);
  const std::uint64_t last = place.end - site.lane_bytes; // the last address at which a lane's bytes may begin
  std::uint64_t outside = last - place.begin, bits = 0;
  for (int i = 0; i < kWarpSize; ++i) {
    const std::uint64_t address = (mask >> i & 1) != 0 ? lanes[i] : first;
    lanes[i] = address;
    host.lane[i] = place.host(address) + static_cast<unsigned>(i) * place.stride;
    outside |= (address - place.begin) | (last - address); // a negative difference sets the sign bit
    bits |= address;
  }
  host.regular = false;
  const bool inside = static_cast<std::int64_t>(outside) >= 0 || holds_lanes(place, warp, site, lanes);
  if ((bits & (site.lane_bytes - 1u)) != 0 || !inside) return resolve_slowly(op, warp, mask, {.regular = false}, host);
  if (warp->worker->watch) [[unlikely]] { // keeps the path without a watcher straight
    // The watcher takes so long that the processor does not reach the access itself before it is over.
    fetch_lines(host.lane);
    std::int64_t offsets[kWarpSize];
    for (int i = 0; i < kWarpSize; ++i) offsets[i] = static_cast<std::int64_t>(lanes[i] - first);
    warp->worker->watch->irregular(*warp, site, place.space, mask, first - place.window, offsets);
  }
  return true;
}

// What address_in() returns.
inline std::uint64_t lane_address(const Op* op, Warp* warp, int lane) {
  const auto offset = static_cast<std::uint64_t>(op->imm);
  if (op->site->address32) return static_cast<std::uint32_t>(offset + row<std::uint32_t>(warp, op->src[0])[lane]);
  return offset + row<std::uint64_t>(warp, op->src[0])[lane];
}

// What reach() finds, without its calls where the bytes are in a region that is known without a search.
inline bool reach_known(const Op* op, Warp* warp, int lane, std::uint64_t address, std::uint64_t bytes,
                        unsigned alignment, Reached& reached) {
  const Place place = place_of(warp, *op->site, address);
  const std::uint64_t offset = address - place.window, end = address + bytes;
  if (address < place.begin || address >= end || end > place.end || offset % alignment != 0)
    return reach(op, warp, lane, address, bytes, alignment, reached);
  const std::uint64_t host = place.host(address) + static_cast<unsigned>(lane) * place.stride;
  reached = {reinterpret_cast<std::byte*>(host), place.space, offset};
  return true;
}

// Host address of the bytes of the only acting lane; nullptr if resolve() is needed.
inline std::byte* reach_only(const Op* op, Warp* warp, Mask mask, int lane) {
  const MemorySite& site = *op->site;
  const std::uint64_t address = lane_address(op, warp, lane), end = address + site.lane_bytes;
  const Place place = place_of(warp, site, address);
  if ((address & (site.lane_bytes - 1u)) != 0 || !holds(place, warp, site, address, end)) return nullptr;
  constexpr std::int64_t kNoStride[2]{};
  if (warp->worker->watch) [[unlikely]]
    warp->worker->watch->regular(*warp, site, place.space, mask, address - place.window, kNoStride, 0);
  return reinterpret_cast<std::byte*>(place.host(address) + static_cast<unsigned>(lane) * place.stride);
}

// Handles accesses within one region. All others, and every trap, are in access.cpp.
inline bool resolve(const Op* op, Warp* warp, Mask mask, HostAccess& host) {
  const MemorySite& site = *op->site;
  const Sequences a = site.address32 ? classify(row<std::uint32_t>(warp, op->src[0]), op->imm, mask)
                                     : classify(row<std::uint64_t>(warp, op->src[0]), op->imm, mask);
  if (!a.regular) return resolve_irregular(op, warp, mask, host);
  const std::uint64_t misaligned =
      (a.base | static_cast<std::uint64_t>(a.stride[0] | a.stride[1] | a.half)) & (site.lane_bytes - 1u);
  if (misaligned != 0) return resolve_slowly(op, warp, mask, a, host);
  const auto [low, high] = extent(a, mask, site.lane_bytes);
  const Place place = place_of(warp, site, low);
  if (!holds(place, warp, site, low, high)) return resolve_slowly(op, warp, mask, a, host);
  host.base = reinterpret_cast<std::byte*>(place.host(a.base));
  const auto stride = static_cast<std::int64_t>(place.stride);
  host.stride[0] = a.stride[0] + stride;
  host.stride[1] = a.stride[1] + stride;
  host.half = a.half + kWarpSize / 2 * stride;
  if (warp->worker->watch) [[unlikely]]
    warp->worker->watch->regular(*warp, site, place.space, mask, a.base - place.window, a.stride, a.half);
  return true;
}

} // namespace WARPLENS_LEVEL
} // namespace warplens::exec
