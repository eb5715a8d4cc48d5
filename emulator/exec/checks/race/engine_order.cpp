// SPDX-License-Identifier: Apache-2.0
// Which of two accesses happens before the other: causality order (manual, 8.9), and morally strong operations.
#include "emulator/exec/checks/race/engine.hpp"

namespace warplens::exec::race {

Distance Engine::distance(std::uint64_t cta, std::uint64_t other) const {
  if (cta == other) return Distance::cta;
  return grid_.cluster_of(cta) == grid_.cluster_of(other) ? Distance::cluster : Distance::grid;
}

// 8.7.1: each scope includes the other's thread, and both overlap completely. Elements are aligned to their size, so
// that those of the same size do.
bool Engine::morally_strong(const Record& old, const Record& record) const {
  if (!old.strong() || !record.strong() || old.size() != record.size()) return false;
  const bool other_launch = old.time <= begin_ || record.time <= begin_;
  const Distance apart = other_launch ? Distance::grid : distance(old.warp / warps_, record.warp / warps_);
  return covers(old.scope(), apart) && covers(record.scope(), apart);
}

bool Engine::in_order(const Current& at, const Record& old, Mask first, Mask second) const {
  const std::uint64_t cta = old.warp / warps_;
  const bool same_warp = old.warp == at.block.first_warp() + at.warp;
  for (const int b : EachLane(second))
    for (const int a : EachLane(first)) {
      if (same_warp && a == b) { // program order, but copies go on
        if (!old.asynchronous()) continue;
        const bool completes = meanings_[old.instruction()].completes_elsewhere();
        if (!completes && old.time <= at.block.copies_done(at.warp, b, now_)) continue;
      }
      if (!at.block.knows(at.warp, b, {cta, old.warp, a}, old.time, old.asynchronous())) return false;
    }
  return true;
}

// The granules that both accessed in no order.
std::uint32_t Engine::unordered(const Current& at, const Record& old, const Record& record, std::uint32_t common,
                                std::uint32_t granule) const {
  if (old.time <= at.memory.since) return 0; // of an earlier block: also if it is asynchronous
  if (old.time <= begin_) return timeline_.precedes(old.time) ? 0 : common;
  const WarpState& w = at.block.warp(at.warp);
  const auto until = [&](const Moment& m) { return old.asynchronous() ? m.copies : m.time; };
  if (at.block.holds(old.warp)) {
    if (old.time <= until(w.block)) return 0;
    if (old.warp == record.warp) {
      if (old.time <= until(w.warp)) return 0;
      if (!old.asynchronous() && (old.same_lanes(record) || (grid_.lockstep && old.time < record.time))) return 0;
    }
  }
  if (old.warp != record.warp && !w.lanes && w.known.empty()) return common;
  std::uint32_t found = 0;
  for (const int i : EachLane(common)) {
    const int place = i * static_cast<int>(granule);
    if (!in_order(at, old, old.lanes_at(place), record.lanes_at(place))) found |= 1u << i;
  }
  return found;
}

// The lanes whose strong writes are before this access, because their values, or what atomic operations made of them,
// were read by a thread whose read happens before the access: 8.9.2 and 8.9.5. A store in between ends the chain.
// Those that may have been read by what is forgotten count, too: no race is invented.
Mask Engine::observed(const Current& at, History& history, const Record& old, const Record& record, int granule,
                      std::uint32_t granule_bytes) const {
  const std::uint32_t bit = 1u << granule;
  const int place = granule * static_cast<int>(granule_bytes);
  if (old.time <= std::max(history.writes.lost(), history.reads.lost())) return old.lanes_at(place);
  Time stored = ~Time{0};
  history.writes.visit([&](const Record& r) {
    if ((r.granules & bit) != 0 && r.access() == AccessKind::store && r.time > old.time)
      stored = std::min(stored, r.time);
  });
  Mask found = 0;
  const auto look = [&](const Record& r) {
    const bool reads = r.access() == AccessKind::atomic || r.access() == AccessKind::load;
    if ((r.granules & bit) == 0 || !reads || r.time < old.time || r.time >= stored || !morally_strong(old, r)) return;
    Record one = r;
    one.what &= ~(Record::kSequence | Record::kMirrored);
    for (const int lane : EachLane(r.lanes_at(place))) {
      one.lanes = Mask{1} << lane;
      if (unordered(at, one, record, bit, granule_bytes) == 0)
        found |= r.time > old.time ? ~Mask{0} : one.lanes - 1; // the lanes of an instruction come one after the other
    }
  };
  history.writes.visit(look);
  history.reads.visit(look);
  return found & old.lanes_at(place);
}

} // namespace warplens::exec::race
