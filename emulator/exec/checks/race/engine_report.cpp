// SPDX-License-Identifier: Apache-2.0
// From two records that race to a value that names both threads, the bytes, and what is missing.
#include "emulator/exec/checks/race/engine.hpp"

namespace warplens::exec::race {

namespace {

// The first two lanes, one of each mask, for which `wrong` holds.
template <class Wrong> std::pair<int, int> first_pair(Mask first, Mask second, Wrong wrong) {
  for (const int b : EachLane(second))
    for (const int a : EachLane(first))
      if (wrong(a, b)) return {a, b};
  return {__builtin_ctz(first), __builtin_ctz(second)};
}

} // namespace

// Of granules that no synchronisation orders, those that race: all but strong writes that the thread has observed.
std::uint32_t Engine::report_all(const Current& at, History& history, const Record& old, const Record& record,
                                 std::uint32_t granules, std::uint64_t address, std::uint32_t granule) {
  std::uint32_t racing = granules;
  if (old.strong() && old.writes())
    for (const int i : EachLane(granules)) {
      const Mask seen = observed(at, history, old, record, i, granule);
      if (seen == 0) continue;
      const int place = i * static_cast<int>(granule);
      Record rest = old; // by the other lanes
      rest.what &= ~(Record::kSequence | Record::kMirrored);
      rest.lanes = old.lanes_at(place) & ~seen;
      granules &= ~(1u << i);
      if (rest.lanes == 0 || in_order(at, rest, rest.lanes, record.lanes_at(place)))
        racing &= ~(1u << i);
      else
        report(at, rest, record, 1u << i, address, granule);
    }
  report(at, old, record, granules, address, granule);
  return racing;
}

// Granules in a row with the same two lanes are reported together.
void Engine::report(const Current& at, const Record& old, const Record& record, std::uint32_t granules,
                    std::uint64_t address, std::uint32_t granule) {
  const bool before = old.time <= begin_;
  const auto lanes_of = [&](int i) {
    const int place = i * static_cast<int>(granule);
    return first_pair(old.lanes_at(place), record.lanes_at(place),
                      [&](int a, int b) { return before || !in_order(at, old, Mask{1} << a, Mask{1} << b); });
  };
  std::pair<int, int> lanes{-1, -1};
  int from = -1, last = -1;
  const auto flush = [&] {
    if (from >= 0)
      tell(at, old, record, lanes, address + static_cast<std::uint64_t>(from) * granule,
           static_cast<std::uint64_t>(last - from + 1) * granule);
  };
  for (const int i : EachLane(granules)) {
    const std::pair<int, int> these = lanes_of(i);
    if (from < 0 || these != lanes || i != last + 1) {
      flush();
      from = i;
      lanes = these;
    }
    last = i;
  }
  flush();
}

void Engine::tell(const Current& at, const Record& old, const Record& record, std::pair<int, int> lanes,
                  std::uint64_t address, std::uint64_t bytes) {
  Race race;
  const auto thread = [](std::uint32_t warp, std::uint32_t warps, int lane) {
    return warp % warps * kWarpSize + static_cast<std::uint32_t>(lane);
  };
  const bool before = old.time <= begin_;
  const Timeline::Operation operation = before ? timeline_.at(old.time) : Timeline::Operation{};
  const std::uint32_t warps = before ? std::max(1u, operation.warps) : warps_;
  race.earlier = {before ? operation.number : 0, old.instruction(), old.warp / warps,
                  thread(old.warp, warps, lanes.first), old.access()};
  race.later = {0, record.instruction(), at.block.cta(), at.warp * kWarpSize + static_cast<std::uint32_t>(lanes.second),
                record.access()};
  race.space = at.memory.space;
  race.address = address;
  race.bytes = bytes;
  race.missing = missing(at, old, record, lanes);
  const bool stores = old.access() == AccessKind::store && record.access() == AccessKind::store;
  if (stores && !old.asynchronous() && !record.asynchronous()) {
    const bool one_instruction = old.time == record.time && old.warp == record.warp;
    race.same_value =
        one_instruction ? at.values.same(lanes.first, lanes.second) : at.values.stores_what_is_there(lanes.second);
  }
  races_.add(race);
}

// Several lanes of one store at one address.
void Engine::one_address(const Current& at, const Record& record) {
  if (record.access() != AccessKind::store || record.strong() || !record.several_lanes()) return;
  const int first = __builtin_ctz(record.lanes);
  int other = __builtin_ctz(record.lanes & (record.lanes - 1));
  for (const int lane : EachLane(record.lanes))
    if (!at.values.same(first, lane)) {
      other = lane;
      break;
    }
  tell(at, record, record, {first, other}, at.touch.address(first), at.touch.lane_bytes);
}

Missing Engine::missing(const Current& at, const Record& old, const Record& record, std::pair<int, int> lanes) const {
  if (old.time <= begin_) return Missing::stream;
  if (old.strong() && record.strong()) return old.size() != record.size() ? Missing::size : Missing::scope;
  const bool same_warp = old.warp == record.warp;
  if (same_warp && lanes.first == lanes.second) return Missing::wait;
  if (same_warp)
    return old.time == record.time && old.instruction() == record.instruction() ? Missing::barrier
                                                                                : Missing::warp_barrier;
  return missing_message(at, old, lanes);
}

// Between threads that are not in one warp.
Missing Engine::missing_message(const Current& at, const Record& old, std::pair<int, int> lanes) const {
  const std::uint64_t cta = old.warp / warps_;
  const Thread other{cta, old.warp, lanes.first};
  const WarpState& w = at.block.warp(at.warp);
  if (w.lanes) {
    const LaneState& state = (*w.lanes)[static_cast<std::size_t>(lanes.second)];
    for (const Clock& observed : state.observed)
      if (observed.of_thread(other).time >= old.time) return Missing::acquire;
  }
  const Distance apart = distance(cta, at.block.cta());
  if (apart == Distance::cta) return at.memory.mbarriers.empty() ? Missing::barrier : Missing::mbarrier;
  if (at.memory.space == isa::Space::shared) return Missing::cluster_barrier;
  if (old.strong()) return Missing::atomic;
  if (w.lanes && (*w.lanes)[static_cast<std::size_t>(lanes.second)].acquired) return Missing::release;
  return grid_.cooperative ? Missing::grid_barrier : Missing::nothing;
}

} // namespace warplens::exec::race
