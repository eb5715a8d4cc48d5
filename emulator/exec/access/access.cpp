// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/access/access.hpp"

#include "emulator/base/checked.hpp"
#include "emulator/exec/block/cluster.hpp"
#include "emulator/exec/block/control.hpp"
#include "emulator/exec/block/faults.hpp"
#include "emulator/exec/block/paths.hpp"

#include <algorithm>

namespace warplens::exec {

Located locate(const Warp* warp, const MemorySite& site, std::uint64_t address) {
  const auto in_shared = [&](std::uint64_t shared) -> Located {
    return {isa::Space::shared, warp->cta->cluster->place(*warp->cta, shared)};
  };
  if (site.space == isa::Space::shared) return in_shared(address);
  if (site.space != isa::Space::generic) return {site.space, address};
  if (site.address32) {
    if (address - kSharedWindow32 < kWindowSize32) return in_shared(address - kSharedWindow32);
    if (address - kLocalWindow32 < kWindowSize32) return {isa::Space::local, address - kLocalWindow32};
  } else {
    if (address - kSharedWindow < kWindowSize) return in_shared(address - kSharedWindow);
    if (address - kLocalWindow < kWindowSize) return {isa::Space::local, address - kLocalWindow};
    if (address - kParamWindow < kWindowSize) return {isa::Space::param, address - kParamWindow};
  }
  return {isa::Space::global, address};
}

namespace {

// The trap that a lane causes by a forbidden access.
Trap access_of(Warp* warp, const MemorySite& site, Located where, int lane, std::uint64_t bytes) {
  Trap t = trap_at(warp, Trap::Kind::out_of_bounds, site.instruction, lane);
  t.space = where.space;
  t.access = site.kind;
  // An access that is too long for this field is reported by its beginning.
  t.lane_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, 0xffff'ffffu));
  t.address = where.offset;
  if (where.space == isa::Space::shared && warp->cta->cluster->has_exited(where.offset))
    t.finding = ToolFinding::Kind::exited_block;
  return t;
}

// For synccheck: an access to another block of the cluster before any cluster barrier.
void note_unstarted(Warp* warp, const MemorySite& site, std::uint64_t offset, int lane, std::uint64_t bytes) {
  const Cta& cta = *warp->cta;
  const std::uint64_t rank = offset / kClusterStride;
  if (rank == 0 || rank > cta.cluster->ctas.size() || cta.cluster->has_met()) return;
  ToolFinding finding{ToolFinding::Kind::cluster_barrier, thread_at(*warp, site.instruction, lane), {}, {}};
  finding.at.space = isa::Space::shared;
  finding.at.access = site.kind;
  finding.at.bytes = bytes;
  finding.at.address = offset;
  finding.detail = "no cluster barrier has shown that the other block has started";
  warp->worker->findings.add(std::move(finding));
}

// The host address of a lane's `bytes`, or nullptr if the lane may not access them.
std::byte* host_address(Warp* warp, const MemorySite& site, Located where, int lane, std::uint64_t bytes) {
  const Cta& cta = *warp->cta;
  const Launch& launch = warp->worker->launch;
  const auto within = [&](std::uint64_t size) { return warplens::within(where.offset, bytes, size); };
  switch (where.space) {
  case isa::Space::shared:
    if (launch.tools.memcheck && cta.cluster->has_exited(where.offset)) return nullptr;
    if (launch.tools.synccheck) note_unstarted(warp, site, where.offset, lane, bytes);
    return cta.cluster->shared(cta, where.offset, bytes, site.cluster);
  case isa::Space::local: {
    const std::uint64_t thread = std::uint64_t{warp->index} * kWarpSize + lane;
    return within(cta.local_bytes) ? cta.local + thread * cta.local_stride + where.offset : nullptr;
  }
  case isa::Space::param: // of the kernel, shared by all threads: read-only
    return site.kind == AccessKind::load && within(launch.params.size())
               ? const_cast<std::byte*>(launch.params.data()) + where.offset
               : nullptr;
  default: break;
  }
  if (!warp->worker->find_region(site.index, where.offset, where.offset + bytes) &&
      !warp->worker->passes(access_of(warp, site, where, lane, bytes), bytes))
    return nullptr;
  return reinterpret_cast<std::byte*>(where.offset);
}

} // namespace

std::byte* reach(Warp* warp, const MemorySite& site, std::uint64_t address, std::uint16_t bytes, int lane) {
  return host_address(warp, site, locate(warp, site, address), lane, bytes);
}

namespace {

// A lane's distance from lane 0 in a regular access; strides may be long enough to run around the address space.
std::uint64_t distance(const Sequences& a, int lane) {
  const auto lanes = static_cast<std::uint64_t>(lane % 16);
  if (lane < 16) return lanes * static_cast<std::uint64_t>(a.stride[0]);
  return static_cast<std::uint64_t>(a.half) + lanes * static_cast<std::uint64_t>(a.stride[1]);
}

} // namespace

// Reports an access within one space to the watcher.
static void observe(Warp* warp, const MemorySite& site, isa::Space space, Mask mask, const Sequences& a,
                    const std::uint64_t* lanes) {
  if (!warp->worker->watch) return;
  if (a.regular) {
    warp->worker->watch->regular(*warp, site, space, mask, a.base, a.stride, a.half);
    return;
  }
  const std::uint64_t first = lanes[__builtin_ctz(mask)];
  std::int64_t offsets[kWarpSize]{};
  for (int i = 0; i < kWarpSize; ++i)
    if ((mask >> i & 1) != 0) offsets[i] = static_cast<std::int64_t>(lanes[i] - first);
  warp->worker->watch->irregular(*warp, site, space, mask, first, offsets);
}

bool resolve_slowly(const Op* op, Warp* warp, Mask mask, Sequences a, HostAccess& host) {
  const MemorySite& site = *op->site;
  std::uint64_t lanes[kWarpSize];
  for (int lane = 0; lane < kWarpSize; ++lane) lanes[lane] = address_in(op, warp, lane);
  host.regular = false;
  Mask in_space[4]{};                              // global, shared, local, param
  std::uint64_t low = ~std::uint64_t{0}, high = 0; // of the places in shared memory
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    const Located where = locate(warp, site, lanes[lane]);
    if ((where.offset & (site.lane_bytes - 1u)) != 0) {
      Trap trap = access_of(warp, site, where, lane, site.lane_bytes);
      trap.kind = Trap::Kind::misaligned;
      trap.finding.reset();
      if (!drops(warp, trap)) return stop_with(warp, std::move(trap)) != nullptr;
      host.lane[lane] = reinterpret_cast<std::uint64_t>(warp->worker->nowhere);
      continue;
    }
    std::byte* const p = host_address(warp, site, where, lane, site.lane_bytes);
    if (p == nullptr) {
      Trap trap = access_of(warp, site, where, lane, site.lane_bytes);
      if (!drops(warp, trap)) return stop_with(warp, std::move(trap)) != nullptr;
      host.lane[lane] = reinterpret_cast<std::uint64_t>(warp->worker->nowhere);
      continue;
    }
    host.lane[lane] = reinterpret_cast<std::uint64_t>(p);
    lanes[lane] = where.offset;
    const int slot = where.space == isa::Space::shared  ? 1
                     : where.space == isa::Space::local ? 2
                     : where.space == isa::Space::param ? 3
                                                        : 0;
    in_space[slot] |= Mask{1} << lane;
    if (slot == 1) low = std::min(low, where.offset);
    if (slot == 1) high = std::max(high, where.offset);
  }
  if (low < kClusterStride && high >= kClusterStride) a.regular = false; // its own memory has other places
  for (int lane = 0; lane < kWarpSize; ++lane)
    if ((mask >> lane & 1) == 0) host.lane[lane] = host.lane[__builtin_ctz(mask)];
  // The offsets within a space keep their differences, so a regular access stays regular there.
  constexpr isa::Space spaces[] = {isa::Space::global, isa::Space::shared, isa::Space::local, isa::Space::param};
  for (int s = 0; s < 4; ++s) {
    if (in_space[s] == 0) continue;
    const int first = __builtin_ctz(in_space[s]);
    a.base = lanes[first] - distance(a, first);
    a.regular = a.regular && in_space[s] == mask;
    const bool constant = s == 0 && site.space == isa::Space::constant;
    observe(warp, site, constant ? isa::Space::constant : spaces[s], in_space[s], a, lanes);
  }
  return true;
}

std::uint64_t address_in(const Op* op, Warp* warp, int lane) {
  const bool narrow = op->site->address32;
  const std::uint64_t sum = lane_word(warp, op->src[0], narrow ? 4 : 8, lane) + static_cast<std::uint64_t>(op->imm);
  return narrow ? sum & 0xffff'ffffu : sum;
}

bool reach(const Op* op, Warp* warp, int lane, std::uint64_t address, std::uint64_t bytes, unsigned alignment,
           Reached& reached) {
  const MemorySite& site = *op->site;
  const Located where = locate(warp, site, address);
  const bool aligned = where.offset % alignment == 0;
  reached = {aligned ? host_address(warp, site, where, lane, bytes) : nullptr, where.space, where.offset};
  if (aligned && (bytes == 0 || reached.bytes != nullptr)) return true;
  Trap trap = access_of(warp, site, where, lane, bytes);
  if (!aligned) {
    trap.kind = Trap::Kind::misaligned;
    trap.lane_bytes = warp->worker->launch.tools.memcheck ? trap.lane_bytes : alignment;
  }
  return drops(warp, trap) || stop_with(warp, std::move(trap)) != nullptr;
}

void observe_run(const Op* op, Warp* warp, const Reached& at, std::uint64_t bytes, bool counts) {
  if (!warp->worker->watch) return;
  const std::uint64_t each = op->site->lane_bytes, warp_bytes = kWarpSize * each;
  for (std::uint64_t done = 0; done < bytes; done += warp_bytes) {
    const std::uint64_t lanes = std::min<std::uint64_t>(kWarpSize, (bytes - done + each - 1) / each);
    const Mask mask = lanes == kWarpSize ? kFullMask : (Mask{1} << lanes) - 1;
    const auto stride = static_cast<std::int64_t>(each);
    const std::int64_t strides[] = {stride, stride};
    AccessWatch& watch = *warp->worker->watch;
    if (counts)
      watch.regular(*warp, *op->site, at.space, mask, at.offset + done, strides, 16 * stride);
    else
      watch.uncounted(*warp, *op->site, at.space, mask, at.offset + done, strides, 16 * stride);
  }
}

} // namespace warplens::exec
