// SPDX-License-Identifier: Apache-2.0
// Synchronisation: fences, release and acquire patterns (manual, 8.8), barriers, mbarriers, asynchronous copies.
#include "emulator/exec/block/warp_groups.hpp"
#include "emulator/exec/checks/race/engine.hpp"

namespace warplens::exec::race {

void Engine::tick(Block& block, std::uint32_t warp) { block.warp(warp).epoch = ++now_; }

void Engine::fence(Block& block, std::uint32_t warp, Mask lanes, const Meaning& meaning) {
  for (const int i : EachLane(lanes)) {
    LaneState& lane = block.lane(warp, i);
    if (meaning.acquires) {
      for (const Distance d : {Distance::cta, Distance::cluster, Distance::grid}) {
        if (!covers(meaning.scope, d)) continue;
        Clock& observed = lane.observed[static_cast<std::size_t>(d)];
        lane.known.learn(observed);
        observed.clear();
      }
      lane.acquired = true;
    }
    if (!meaning.releases) continue;
    lane.fenced = block.published(warp, i, now_);
    lane.fence = meaning.scope;
  }
  tick(block, warp);
}

// The strong operations of a warp on locations that carry releases. What is released goes with the value: a plain store
// ends it, an atomic operation continues it (observation order).
void Engine::synchronise(const Current& at, const Meaning& meaning) {
  const Touch& t = at.touch;
  const bool writes = t.kind != AccessKind::load, strong = meaning.strong;
  const bool fenced = at.block.warp(at.warp).lanes != nullptr;
  auto& locations = at.memory.locations;
  if (t.run != 0 || (!strong && (!writes || locations.empty()))) return;
  if (strong && locations.empty() && !(writes && (meaning.releases || fenced))) return;
  const std::uint32_t step = strong ? meaning.element_bytes : 1;
  for (const int lane : EachLane(t.mask)) {
    const std::uint64_t first = t.address(lane);
    if (!strong) {
      if (at.memory.shadow.line(first).synchronises)
        for (std::uint64_t a = first; a < first + t.lane_bytes; ++a) locations.erase(a);
      continue;
    }
    for (std::uint64_t a = first; a < first + t.lane_bytes; a += step) {
      const auto found = locations.find(a);
      if (found != locations.end() && (t.kind == AccessKind::load || t.kind == AccessKind::atomic))
        observe(at.block, at.warp, lane, found->second, meaning);
      if (!writes) continue;
      const bool releases = meaning.releases || (fenced && at.block.lane(at.warp, lane).fence != Scope::none);
      if (found == locations.end() && !releases) continue;
      at.memory.shadow.line(a).synchronises = true;
      release(at, lane, locations[a], meaning);
    }
  }
  if (meaning.releases) tick(at.block, at.warp);
}

void Engine::observe(Block& block, std::uint32_t warp, int lane, const Location& location, const Meaning& meaning) {
  for (const Location::Entry& e : location.entries) {
    const Distance apart = e.many                                       ? Distance::cta
                           : e.cta == block.cta()                       ? Distance::cta
                           : e.cluster == grid_.cluster_of(block.cta()) ? Distance::cluster
                                                                        : Distance::grid;
    if (e.bytes != meaning.element_bytes || !covers(e.write, apart) || !covers(meaning.scope, apart)) continue;
    if (!covers(e.release, apart)) continue;
    LaneState& reader = block.lane(warp, lane);
    if (meaning.acquires) {
      reader.known.learn(e.clock);
      reader.acquired = true;
    } else {
      reader.observed[static_cast<std::size_t>(apart)].learn(e.clock);
    }
  }
}

void Engine::release(const Current& at, int lane, Location& location, const Meaning& meaning) {
  const std::uint64_t cta = at.block.cta(), cluster = grid_.cluster_of(cta);
  const auto thread = at.warp * kWarpSize + static_cast<std::uint32_t>(lane);
  if (at.touch.kind != AccessKind::atomic && at.touch.kind != AccessKind::reduction) // 8.8: a later store of the same
    std::erase_if(location.entries, [&](const Location::Entry& e) { // thread belongs to the release pattern
      return e.many || e.cta != cta || e.thread != thread;
    });
  const auto bytes = static_cast<std::uint8_t>(meaning.element_bytes);
  const auto add = [&](const Clock& clock, Scope scope) {
    const bool wide = scope >= Scope::gpu && meaning.scope >= Scope::gpu;
    for (Location::Entry& e : location.entries) {
      const bool same_kind =
          e.bytes == bytes && (wide ? e.release >= Scope::gpu && e.write >= Scope::gpu
                                    : e.release == scope && e.write == meaning.scope && e.cta == cta);
      if (!same_kind) continue;
      e.many = e.many || (wide && e.cta != cta);
      e.thread = thread;
      return e.clock.learn(clock);
    }
    location.entries.push_back({clock, scope, meaning.scope, cta, cluster, thread, bytes, false});
  };
  if (meaning.releases) add(at.block.published(at.warp, lane, now_), meaning.scope);
  if (!at.block.warp(at.warp).lanes) return;
  const LaneState& state = at.block.lane(at.warp, lane);
  if (state.fence != Scope::none && !(meaning.releases && meaning.scope >= state.fence)) add(state.fenced, state.fence);
}

void Engine::sync_warp(Block& block, std::uint32_t warp, Mask lanes, Mask live) {
  block.sync_warp(warp, lanes, live, now_);
  tick(block, warp);
}

void Engine::barrier(Block& block, const BarrierArrival& arrival, std::uint32_t number, std::uint32_t threads) {
  const Time now = now_;
  tick(block, arrival.warp);
  block.arrive(arrival, number, threads, now);
}

// barrier.cluster: a relaxed arrival releases only what a fence before it does.
void Engine::cluster_arrive(Block& block, std::uint32_t warp, Mask lanes, const Meaning& meaning) {
  Clock& sum = cluster_phases_[{grid_.cluster_of(block.cta()), block.warp(warp).cluster_phase}];
  if (meaning.releases) {
    block.publish(warp, lanes, now_, sum);
  } else if (block.warp(warp).lanes) {
    for (const int lane : EachLane(lanes))
      if (const LaneState& state = block.lane(warp, lane); state.fence >= Scope::cluster) sum.learn(state.fenced);
  }
  tick(block, warp);
}

void Engine::cluster_wait(Block& block, std::uint32_t warp, Mask lanes, Mask live) {
  WarpState& w = block.warp(warp);
  const Clock& sum = cluster_phases_[{grid_.cluster_of(block.cta()), w.cluster_phase}];
  if (lanes == live && !w.lanes)
    w.known.learn(sum);
  else
    for (const int lane : EachLane(lanes)) lesson_.teach(block.lane(warp, lane).known, sum);
  w.cluster_waited |= lanes;
  if ((live & ~w.cluster_waited) != 0) return;
  w.cluster_waited = 0;
  ++w.cluster_phase;
}

void Engine::commit(Block& block, std::uint32_t warp, Mask lanes, bool bulk) {
  if (!block.warp(warp).copies) return;
  for (const int lane : EachLane(lanes)) {
    LaneCopies& copies = block.copies(warp, lane);
    (bulk ? copies.bulk : copies.each).commit();
  }
  tick(block, warp); // the next group is a later one
}

void Engine::wait(Block& block, std::uint32_t warp, Mask lanes, bool bulk, std::uint32_t running) {
  if (!block.warp(warp).copies) return;
  for (const int lane : EachLane(lanes)) {
    LaneCopies& copies = block.copies(warp, lane);
    (bulk ? copies.bulk : copies.each).wait(running);
  }
  tick(block, warp);
}

void Engine::commit_products(Block& block, std::uint32_t warp) {
  block.warp(warp).products.commit();
  tick(block, warp); // what all warps of the group have issued until now is earlier than the next group
}

// A group of products is one of the four warps (9.7.15.7.2): when it is complete, so is what each of them has read.
void Engine::wait_for_products(Block& block, std::uint32_t warp, Mask lanes, Mask live, std::uint32_t running) {
  LaneCopies::Groups& products = block.warp(warp).products;
  products.wait(running);
  const Time first = products.first(), until = first == LaneCopies::Groups::kNone ? now_ : std::min(now_, first - 1);
  Clock done;
  const std::uint32_t group = warp / kGroupWarps * kGroupWarps;
  for (std::uint32_t w = group; w < std::min(group + kGroupWarps, warps_); ++w)
    done.learn({who_thread(block.first_warp() + w, kReadingLane), {0, until}});
  block.learn(warp, lanes, live, done);
  tick(block, warp);
}

void Engine::mbarrier_arrive(Block& block, std::uint32_t warp, Mask lanes, Memory& memory, std::uint64_t address,
                             const Meaning& meaning, bool completes) {
  Phases& phases = memory.mbarriers[address];
  const bool copies = meaning.step != Step::mbarrier_arrive && meaning.step != Step::mbarrier_other;
  if (copies || meaning.releases) {
    block.publish(warp, lanes, now_, phases.current);
  } else if (block.warp(warp).lanes) {
    for (const int lane : EachLane(lanes))
      if (const LaneState& state = block.lane(warp, lane); state.fence != Scope::none)
        phases.current.learn(state.fenced);
  }
  if (copies) // their completion arrives: they have finished
    for (const int lane : EachLane(lanes))
      phases.current.learn({who_thread(block.first_warp() + warp, lane), {now_, now_}});
  if (!completes) return;
  phases.complete.learn(phases.current);
  phases.current.clear();
}

void Engine::mbarrier_wait(Block& block, std::uint32_t warp, int lane, Memory& memory, std::uint64_t address,
                           const Meaning& meaning) {
  const auto found = memory.mbarriers.find(address);
  if (found == memory.mbarriers.end()) return;
  LaneState& state = block.lane(warp, lane);
  const Distance apart = memory.cta == block.cta() ? Distance::cta : Distance::cluster;
  lesson_.teach(meaning.acquires ? state.known : state.observed[static_cast<std::size_t>(apart)],
                found->second.complete);
}

} // namespace warplens::exec::race
