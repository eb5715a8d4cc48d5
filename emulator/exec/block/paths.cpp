// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/block/paths.hpp"

#include "emulator/exec/block/barriers.hpp"
#include "emulator/exec/block/cta.hpp"
#include "emulator/exec/block/membermasks.hpp"
#include "emulator/exec/block/sync_checks.hpp"

#include <algorithm>

namespace warplens::exec {

namespace {

// After this many turns at a meeting place, lanes continue without the others: those may count while they wait, so that
// the warp never repeats itself. The number is large enough for long loops of some lanes.
constexpr std::uint32_t kPatience = 10'000;

constexpr std::size_t kNone = ~std::size_t{0};

// The waiting paths that could continue.
struct Choice {
  std::size_t highest = kNone, lowest = kNone;         ///< paths with all their lanes
  std::size_t highest_met = kNone, lowest_any = kNone; ///< meeting places with some; either of the two
  Mask met = 0;                                        ///< the lanes at meeting places
};

Choice choose(const Warp* warp) {
  const std::vector<Path>& waiting = warp->paths->waiting;
  Choice choice;
  Mask above = 0;
  for (std::size_t i = waiting.size(); i-- > 0;) {
    const Path& path = waiting[i];
    const Mask mask = path.mask & warp->live, free = mask & ~above;
    above |= mask;
    if (free == 0 || path.wait == Wait::barrier || path.wait == Wait::arrived) continue;
    if (path.wait == Wait::members && !members_wait(warp, path)) continue;
    choice.lowest_any = i;
    if (free == mask) {
      if (choice.highest == kNone) choice.highest = i;
      choice.lowest = i;
    } else {
      if (choice.highest_met == kNone) choice.highest_met = i;
      choice.met |= free;
    }
  }
  return choice;
}

// Makes a waiting path the running one, limited to its lanes that are in no path above it. Returns where it continues.
const Op* take(Warp* warp, std::size_t index) {
  Paths& paths = *warp->paths;
  if (paths.waiting[index].wait == Wait::members) {
    run_members(warp, index);
    index = paths.waiting.size() - 1; // the resumed path is on top
  }
  Mask above = 0;
  for (std::size_t i = index + 1; i < paths.waiting.size(); ++i) above |= paths.waiting[i].mask;
  const Path path = paths.waiting[index];
  const Mask free = path.mask & warp->live & ~above;
  if (checks_sync(warp) && free != (path.mask & warp->live)) note_left_behind(warp, path, free);
  if (free == (path.mask & warp->live))
    paths.waiting.erase(paths.waiting.begin() + static_cast<std::ptrdiff_t>(index));
  else
    paths.waiting[index].mask &= ~free;
  activate(warp, free);
  paths.rejoin = path.rejoin;
  return path.next;
}

const Op* stop(Warp* warp, WarpState state) {
  activate(warp, 0);
  warp->state = state;
  return nullptr;
}

} // namespace

const Op* next_path(Warp* warp) {
  if (warp->live == 0) {
    warp->paths->waiting.clear();
    if (warp->state != WarpState::done) ++warp->cta->done_warps;
    return stop(warp, WarpState::done);
  }
  activate(warp, 0);
  Choice choice = choose(warp);
  if (choice.highest == kNone && choice.highest_met == kNone && arrive_parked(warp)) choice = choose(warp);
  if (warp->state == WarpState::trapped) return nullptr;
  const std::size_t chosen = choice.highest != kNone ? choice.highest : choice.highest_met;
  if (chosen == kNone) return stop(warp, WarpState::stuck);
  const Op* const next = take(warp, chosen);
  if (warp->state != WarpState::in_group) return next;
  warp->next = next; // the instruction at which its lanes met waits for other warps
  return nullptr;
}

void change_path(Warp* warp) {
  Paths& paths = *warp->paths;
  ++paths.turns;
  paths.waiting.push_back({warp->next, paths.rejoin, warp->active});
  const Choice choice = choose(warp);
  paths.met_turns = choice.met != 0 && choice.met == paths.met ? paths.met_turns + 1 : 0;
  paths.met = choice.met;
  if (paths.met_turns >= kPatience) paths.impatient = true;
  warp->next = take(warp, paths.impatient ? choice.lowest_any : choice.lowest);
}

void park(const Op* op, Warp* warp, Mask lanes, Wait wait, std::uint8_t barrier) {
  warp->paths->waiting.push_back({op, warp->paths->rejoin, lanes, wait, barrier});
  activate(warp, warp->active & ~lanes);
}

std::vector<std::uint32_t> calls_of(const Warp& warp, int lane) {
  std::vector<std::uint32_t> calls;
  const std::vector<Path>& waiting = warp.paths->waiting;
  for (auto path = waiting.rbegin(); path != waiting.rend(); ++path)
    if (path->call && (path->mask >> lane & 1) != 0) calls.push_back(path->next->instruction);
  return calls;
}

ThreadAccess thread_at(const Warp& warp, std::uint32_t instruction, int lane) {
  return {.instruction = instruction,
          .cta = warp.cta->number,
          .thread = warp.index * kWarpSize + static_cast<std::uint32_t>(lane),
          .calls = calls_of(warp, lane)};
}

void resume(Paths& paths, const std::function<bool(const Path&)>& chosen) {
  std::vector<Path>& waiting = paths.waiting;
  const auto first = std::stable_partition(waiting.begin(), waiting.end(), [&](const Path& p) { return !chosen(p); });
  auto end = first;
  for (auto p = first; p != waiting.end(); ++p) {
    const Path path{p->next + 1, p->rejoin, p->mask};
    const auto same = std::find_if(
        first, end, [&](const Path& other) { return other.next == path.next && other.rejoin == path.rejoin; });
    if (same != end)
      same->mask |= path.mask;
    else
      *end++ = path;
  }
  waiting.erase(end, waiting.end());
}

} // namespace warplens::exec
