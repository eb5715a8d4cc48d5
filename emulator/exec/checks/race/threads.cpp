// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/checks/race/threads.hpp"

namespace warplens::exec::race {

void LaneCopies::Groups::commit() {
  begun.push_back(open);
  open = kNone;
}

// The first groups complete in order (manual, cp.async.wait_group).
void LaneCopies::Groups::wait(std::uint32_t still_running) {
  if (begun.size() > still_running) begun.erase(begun.begin(), begun.end() - still_running);
}

Time LaneCopies::Groups::first() const {
  Time first = open;
  for (const Time t : begun) first = std::min(first, t);
  return first;
}

Block::Block(std::uint64_t cta, std::uint32_t first_warp, std::uint32_t warps, bool lockstep)
    : cta_(cta), first_warp_(first_warp), lockstep_(lockstep), warps_(warps) {}

const Clock& Block::known(std::uint32_t warp, int lane) const {
  const WarpState& w = warps_[warp];
  return w.lanes ? (*w.lanes)[static_cast<std::size_t>(lane)].known : w.known;
}

bool Block::knows(std::uint32_t warp, int lane, const Thread& other, Time time, bool copy) const {
  const auto reaches = [&](Moment until) { return time <= (copy ? until.copies : until.time); };
  const WarpState& w = warps_[warp];
  if (holds(other.warp) && (reaches(w.block) || (other.warp == first_warp_ + warp && reaches(w.warp)))) return true;
  const Clock& clock = known(warp, lane);
  return !clock.empty() && reaches(clock.of_thread(other));
}

Time Block::copies_done(std::uint32_t warp, int lane, Time now) const {
  const WarpState& w = warps_[warp];
  if (!w.copies) return now;
  const LaneCopies& copies = (*w.copies)[static_cast<std::size_t>(lane)];
  const Time first = std::min(copies.each.first(), copies.bulk.first());
  return first == LaneCopies::Groups::kNone ? now : std::min(now, first - 1);
}

Moment Block::moment(std::uint32_t warp, Mask lanes, Time now) const {
  Moment at{now, now};
  if (warps_[warp].copies)
    for (const int lane : EachLane(lanes)) at.copies = std::min(at.copies, copies_done(warp, lane, now));
  return at;
}

// Warps and lanes start copies at different times: the moment of all of them is that of the slowest.
Clock Block::running_copies(std::uint32_t warp, Mask lanes, Moment at) const {
  Clock clock;
  if (at.copies == at.time) return clock;
  clock.learn({who_warp(first_warp_ + warp), at});
  for (const int lane : EachLane(lanes)) {
    const Time done = copies_done(warp, lane, at.time);
    const bool matters = done > at.copies && (*warps_[warp].copies)[static_cast<std::size_t>(lane)].last > at.copies;
    if (matters) clock.learn({who_thread(first_warp_ + warp, lane), {at.time, done}});
  }
  return clock;
}

Clock Block::published(std::uint32_t warp, int lane, Time now) const {
  Clock clock = known(warp, lane);
  publish_own(warp, lane, now, clock);
  return clock;
}

void Block::publish(std::uint32_t warp, Mask lanes, Time now, Clock& to) const {
  const Clock* last = nullptr;
  for (const int lane : EachLane(lanes)) {
    const Clock& its = known(warp, lane);
    if (last == nullptr || !its.same(*last)) to.learn(its);
    last = &its;
  }
  for (const int lane : EachLane(lanes)) publish_own(warp, lane, now, to);
}

// Of the own block.
void Block::publish_own(std::uint32_t warp, int lane, Time now, Clock& to) const {
  const WarpState& w = warps_[warp];
  if (w.block.time != 0) to.learn({who_cta(cta_), w.block});
  if (w.warp.time > w.block.time) to.learn({who_warp(first_warp_ + warp), w.warp});
  to.learn({who_thread(first_warp_ + warp, lane), {now, copies_done(warp, lane, now)}});
}

LaneState& Block::lane(std::uint32_t warp, int lane) {
  WarpState& w = warps_[warp];
  if (!w.lanes) {
    w.lanes = std::make_unique<std::array<LaneState, kWarpSize>>();
    for (LaneState& each : *w.lanes) each.known = w.known;
    w.known.clear();
  }
  return (*w.lanes)[static_cast<std::size_t>(lane)];
}

LaneCopies& Block::copies(std::uint32_t warp, int lane) {
  auto& copies = warps_[warp].copies;
  if (!copies) copies = std::make_unique<std::array<LaneCopies, kWarpSize>>();
  return (*copies)[static_cast<std::size_t>(lane)];
}

void Block::learn(std::uint32_t warp, Mask lanes, Mask live, const Clock& clock) {
  if (clock.empty()) return;
  WarpState& w = warps_[warp];
  Lesson lesson;
  if (!w.lanes && lanes == live)
    w.known.learn(clock);
  else
    for (const int i : EachLane(lanes)) lesson.teach(lane(warp, i).known, clock);
}

void Block::sync_warp(std::uint32_t warp, Mask lanes, Mask live, Time now) {
  WarpState& w = warps_[warp];
  if (lanes == live) {
    const Moment at = moment(warp, lanes, now);
    w.warp.raise(at);
    learn(warp, lanes, live, running_copies(warp, lanes, at));
  }
  if (lanes == live && !w.lanes) return;
  Clock sum;
  for (const int i : EachLane(lanes)) sum.learn(known(warp, i));
  if (lanes != live)
    for (const int i : EachLane(lanes))
      sum.learn({who_thread(first_warp_ + warp, i), {now, copies_done(warp, i, now)}});
  learn(warp, lanes, live, sum);
}

void Block::arrive(const BarrierArrival& arrival, std::uint32_t number, std::uint32_t threads, Time now) {
  if (number >= kBarriers) return;
  Barrier& b = barriers_[number];
  b.threads = std::max(b.threads, threads);
  b.last = now;
  const auto same = [&](const Arrived& a) { return a.who.warp == arrival.warp && a.who.waits == arrival.waits; };
  const auto at = std::find_if(b.arrived.begin(), b.arrived.end(), same);
  const Moment moment = this->moment(arrival.warp, arrival.lanes, now);
  if (at == b.arrived.end()) {
    b.arrived.push_back({arrival, moment, running_copies(arrival.warp, arrival.lanes, moment)});
  } else {
    at->who.lanes |= arrival.lanes;
    at->who.live = arrival.live;
    at->at = {now, std::min(at->at.copies, moment.copies)};
    at->copies.learn(running_copies(arrival.warp, arrival.lanes, moment));
  }
  if (b.threads == 0) return; // complete when the first warp goes on
  // A warp counts as 32 threads when all its lanes have arrived.
  std::vector<Mask> lanes(warps_.size());
  std::uint32_t there = 0;
  for (const Arrived& a : b.arrived) {
    Mask& of_warp = lanes[a.who.warp];
    const bool before = of_warp == a.who.live;
    of_warp |= a.who.lanes;
    there += !before && of_warp == a.who.live ? kWarpSize : 0;
  }
  if (there >= b.threads) complete(b);
}

// Other warps may have arrived at the next phase already.
void Block::leave(std::uint32_t number, std::uint32_t warp, Mask lanes) {
  if (number >= kBarriers) return;
  for (const Arrived& a : barriers_[number].arrived)
    if (a.who.warp == warp && a.who.waits && (a.who.lanes & lanes) != 0) return complete(barriers_[number]);
}

bool Block::alike() const {
  for (const WarpState& w : warps_)
    if (w.lanes || !w.known.same(warps_[0].known)) return false;
  return true;
}

Clock Block::sum_of(const Barrier& barrier) const {
  Clock sum;
  for (const Arrived& a : barrier.arrived) {
    const WarpState& w = warps_[a.who.warp];
    if (!w.lanes)
      sum.learn(w.known);
    else
      for (const int lane : EachLane(a.who.lanes)) sum.learn(known(a.who.warp, lane));
  }
  return sum;
}

// All threads that have not exited wait: from now on, they know all that the block has done. Threads that have exited
// count as having arrived, as hardware has it.
void Block::complete_all(const Barrier& barrier, Moment at) {
  if (!alike()) {
    const Clock sum = sum_of(barrier);
    for (const Arrived& a : barrier.arrived) learn(a.who.warp, a.who.lanes, a.who.live, sum);
  }
  for (WarpState& w : warps_) w.block.raise(at);
  for (const Arrived& a : barrier.arrived) warps_[a.who.warp].epoch = at.time + 1;
}

void Block::complete(Barrier& barrier) {
  const Barrier done = std::exchange(barrier, {});
  Moment at{done.last, done.last};
  bool all = done.threads == 0 || done.threads >= warps_.size() * kWarpSize;
  for (const Arrived& a : done.arrived) {
    if (a.at.copies != a.at.time) at.copies = std::min(at.copies, a.at.copies); // some still go on
    all = all && a.who.waits && a.who.lanes == a.who.live;
  }
  Clock copies;
  for (const Arrived& a : done.arrived) copies.learn(a.copies);
  if (all) {
    complete_all(done, at);
    for (const Arrived& a : done.arrived) learn(a.who.warp, a.who.lanes, a.who.live, copies);
    return;
  }
  Clock sum = sum_of(done);
  sum.learn(copies);
  for (const Arrived& a : done.arrived) {
    const WarpState& w = warps_[a.who.warp];
    if (w.block.time != 0) sum.learn({who_cta(cta_), w.block});
    if (w.warp.time != 0) sum.learn({who_warp(first_warp_ + a.who.warp), w.warp});
    if (a.who.lanes == a.who.live)
      sum.learn({who_warp(first_warp_ + a.who.warp), a.at});
    else
      for (const int lane : EachLane(a.who.lanes)) sum.learn({who_thread(first_warp_ + a.who.warp, lane), a.at});
  }
  for (const Arrived& a : done.arrived)
    if (a.who.waits) learn(a.who.warp, a.who.lanes, a.who.live, sum);
}

} // namespace warplens::exec::race
