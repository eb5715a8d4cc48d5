// SPDX-License-Identifier: Apache-2.0
// initcheck: asynchronous copies. Their loads come before their stores; the two are matched here.
#include "emulator/exec/access/async_copy.hpp"
#include "emulator/exec/checks/init_checker.hpp"

namespace warplens::exec {

using isa::Space;

void InitChecker::step(const WarpStep& step) {
  const ir::Instruction& i = program_.function->instructions[step.instruction];
  const isa::Family family = program_.module->spellings[i.form].entry->family;
  if (family == isa::Family::warp && step.after && step.warp->followed) return shuffle(step);
  if (family != isa::Family::async_copy && family != isa::Family::bulk_copy) return;
  const auto place = std::tuple(step.of.cta, step.of.warp, step.instruction);
  if (step.after) {
    moving_.erase(place);
    return;
  }
  Moving& moving = moving_[place];
  moving = {};
  moving.op = step.op;
  moving.lanes = step.mask;
  moving.bulk = family == isa::Family::bulk_copy;
  moving.reduces = moving.bulk && (step.op->extra & kBulkReduces) != 0;
  moving.stored = true; // the next load begins a copy
}

void InitChecker::load_to_copy(const WarpAccess& a) {
  Moving& moving = moving_.at({a.of.cta, a.of.warp, a.site->instruction});
  const unsigned bytes = a.site->lane_bytes;
  if (moving.reduces) { // it computes with the values
    if (unwritten(a, bytes)) report(a, sites_[a.site->index], bytes);
    return;
  }
  moving.space = a.space;
  if (moving.bulk) return load_to_bulk(a);
  const bool dirty = unwritten(a, bytes);
  moving.dirty = moving.dirty || dirty;
  moving.loaded |= a.mask;
  const auto* const counts = moving.op->extra == static_cast<std::uint32_t>(CopySource::bytes)
                                 ? row<std::uint32_t>(const_cast<Warp*>(a.warp), moving.op->src[1])
                                 : nullptr;
  for (const int lane : EachLane(a.mask)) {
    moving.from[lane] = a.address(lane);
    moving.bytes[lane] = counts == nullptr ? bytes : counts[lane];
  }
}

// One lane's bytes, in pieces.
void InitChecker::load_to_bulk(const WarpAccess& a) {
  Moving& moving = moving_.at({a.of.cta, a.of.warp, a.site->instruction});
  const auto count = static_cast<unsigned>(__builtin_popcount(a.mask)) * std::uint64_t{a.site->lane_bytes};
  if (moving.stored) {
    const auto* const sizes = row<std::uint32_t>(const_cast<Warp*>(a.warp), moving.op->src[1]);
    while (moving.lanes != 0 && sizes[__builtin_ctz(moving.lanes)] == 0) moving.lanes &= moving.lanes - 1;
    moving.lane = moving.lanes == 0 ? 0 : __builtin_ctz(moving.lanes);
    moving.lanes &= moving.lanes - 1;
    moving.stored = moving.dirty = false;
    moving.from[0] = a.lanes.base;
    moving.bytes[0] = 0;
  }
  moving.bytes[0] += count;
  moving.dirty = moving.dirty || unwritten(a, a.site->lane_bytes);
}

void InitChecker::store_copied(const WarpAccess& a) {
  Moving& moving = moving_.at({a.of.cta, a.of.warp, a.site->instruction});
  write(a, a.site->lane_bytes);
  if (!moving.bulk) {
    if (!moving.dirty) return;
    for (const int lane : EachLane(a.mask & moving.loaded))
      carry(a, moving, lane, moving.from[lane], a.address(lane), moving.bytes[lane]);
    return;
  }
  // A multicast writes to the same offset in each block.
  const std::uint64_t to = a.space == Space::shared ? a.lanes.base % kClusterStride : a.lanes.base;
  if (!moving.stored) moving.to = to;
  moving.stored = true;
  const auto count = static_cast<unsigned>(__builtin_popcount(a.mask)) * std::uint64_t{a.site->lane_bytes};
  if (moving.dirty) carry(a, moving, moving.lane, moving.from[0] + (to - moving.to), a.lanes.base, count);
}

// Makes bytes of a copy unwritten, as far as those of its source are.
void InitChecker::carry(const WarpAccess& a, const Moving& moving, int lane, std::uint64_t from, std::uint64_t to,
                        std::uint64_t bytes) {
  const Warp& warp = *a.warp;
  for (std::uint64_t i = 0; i < bytes;) {
    if (!unwritten_bytes(warp, lane, moving.space, from + i, 1)) {
      ++i;
      continue;
    }
    std::uint64_t end = i + 1;
    while (end < bytes && unwritten_bytes(warp, lane, moving.space, from + end, 1)) ++end;
    if (a.space != Space::shared) {
      memory_.shadow().fresh(to + i, end - i);
    } else if (const SharedPlace place = shared_at(warp, to + i); place.shadow != nullptr) {
      place.shadow->forget(place.offset, end - i);
      if (to < kClusterStride && moving.space == Space::global)
        brought(a, {to + i, to + end, from + i, a.site->instruction,
                    warp.index * kWarpSize + static_cast<std::uint32_t>(lane)});
    }
    i = end;
  }
}

void InitChecker::brought(const WarpAccess& a, const init::Brought& bytes) {
  std::vector<init::Brought>& list = block(a.of.cta).brought;
  std::erase_if(list, [&](const init::Brought& b) { return b.begin >= bytes.begin && b.end <= bytes.end; });
  list.push_back(bytes);
}

} // namespace warplens::exec
