// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/block/barriers.hpp"

#include "emulator/exec/block/control.hpp"
#include "emulator/exec/block/cta.hpp"
#include "emulator/exec/block/faults.hpp"
#include "emulator/exec/block/sync_checks.hpp"

#include <fmt/format.h>

namespace warplens::exec {

namespace {

// The arrival of a warp, or of one of its paths.
struct Arrival {
  std::uint32_t number = 0, expected = 0;
};

Arrival arrival_of(const Op* op, Warp* warp, Mask lanes) {
  const int lane = __builtin_ctz(lanes);
  return {row<std::uint32_t>(warp, op->src[0])[lane],
          (op->extra & kCounted) != 0 ? row<std::uint32_t>(warp, op->src[1])[lane] : 0};
}

// The lanes of `lanes` with the same barrier and thread count as the first one.
Mask alike(const Op* op, Warp* warp, Mask lanes) {
  if ((op->extra & kUniform) != 0) return lanes;
  const Arrival first = arrival_of(op, warp, lanes);
  const auto* const numbers = row<std::uint32_t>(warp, op->src[0]);
  const auto* const counts = row<std::uint32_t>(warp, op->src[1]);
  const bool counted = (op->extra & kCounted) != 0;
  Mask same = 0;
  for (int i = 0; i < kWarpSize; ++i)
    same |= static_cast<Mask>(numbers[i] == first.number && (!counted || counts[i] == first.expected)) << i;
  return same & lanes;
}

bool is_wrong(const Op* op, const Arrival& arrival) {
  const bool counted = (op->extra & kCounted) != 0;
  return arrival.number >= kBarriers || (counted && (arrival.expected == 0 || arrival.expected % kWarpSize != 0));
}

const Op* stop_at_wrong(const Op* op, Warp* warp, Mask lanes, const Arrival& arrival) {
  return stop_with(op, warp, Trap::Kind::invalid_barrier, lanes,
                   arrival.number >= kBarriers
                       ? fmt::format("barrier {} does not exist: barriers are numbered 0 to 15", arrival.number)
                       : fmt::format("thread count {} is not a positive multiple of 32", arrival.expected));
}

// The contribution of the lanes to a reduction.
BarrierState contribution(const Op* op, Warp* warp, Mask lanes) {
  BarrierState state;
  if ((op->extra & kReduces) == 0) return state;
  const Mask votes = predicate(warp, op->src[2]) ^ static_cast<Mask>(op->imm);
  state.threads = static_cast<std::uint32_t>(__builtin_popcount(lanes));
  state.votes = static_cast<std::uint32_t>(__builtin_popcount(votes & lanes));
  return state;
}

void write_result(const Op* op, Warp* warp, Mask lanes, const BarrierState& state) {
  if ((op->extra & kPopulation) != 0) {
    auto* const d = row<std::uint32_t>(warp, op->dst[0]);
    for (int i = 0; i < kWarpSize; ++i) d[i] = (lanes >> i & 1) != 0 ? state.votes : d[i];
  } else if ((op->extra & kReduces) != 0) {
    const bool truth = (op->extra & kAll) != 0 ? state.votes == state.threads : state.votes != 0;
    Mask& d = predicate(warp, op->dst[1]);
    d = truth ? d | lanes : d & ~lanes;
  }
}

// Parks the lanes that have arrived, separately for each barrier.
const Op* wait_for_warp(const Op* op, Warp* warp, Mask lanes) {
  while (lanes != 0) {
    const Mask same = alike(op, warp, lanes);
    const Arrival arrival = arrival_of(op, warp, same);
    if (is_wrong(op, arrival)) return stop_at_wrong(op, warp, same, arrival);
    park(op, warp, same, Wait::barrier, static_cast<std::uint8_t>(arrival.number));
    lanes &= ~same;
  }
  return warp->active != 0 ? op + 1 : next_path(warp);
}

} // namespace

const Op* barrier(const Op* op, Warp* warp) {
  const Mask lanes = acting(op, warp);
  if (lanes == 0) return op + 1;
  if (lanes != warp->live && !warp->cta->independent) return stop_with(op, warp, Trap::Kind::divergent_barrier, lanes);
  if (warp->worker->shard)
    warp->worker->shard->barrier(
        {op->instruction, lanes, arrival_of(op, warp, lanes).number, {warp->cta->number, warp->index}, warp->counted});
  if (const Mask same = alike(op, warp, lanes); lanes != warp->live || same != lanes) {
    if (warp->cta->independent) return wait_for_warp(op, warp, lanes);
    return stop_with(op, warp, Trap::Kind::invalid_barrier, lanes & ~same,
                     "the threads of a warp name different barriers or thread counts");
  }
  const Arrival arrival = arrival_of(op, warp, lanes);
  if (is_wrong(op, arrival)) return stop_at_wrong(op, warp, lanes, arrival);
  if ((op->extra & kArrive) == 0) {
    warp->barrier = static_cast<std::uint8_t>(arrival.number);
    warp->state = WarpState::at_barrier;
  }
  warp->next = op + 1;
  BarrierState state = contribution(op, warp, lanes);
  state.warps = 1;
  state.expected = arrival.expected;
  if (!warp->cta->arrive(op, *warp, arrival.number, state)) return nullptr;
  if (warp->state != WarpState::ready) return nullptr;
  // In other orders than the usual one, the last warp to arrive is not the first one to go on.
  return warp->worker->launch.schedule_seed == 0 || (op->extra & kArrive) != 0 ? op + 1 : nullptr;
}

// Warps are far apart in memory, and few of their lines are in the first-level cache when their turns begin: this path
// reads the header of the warp and no row.
const Op* barrier_of_cta(const Op* op, Warp* warp) {
  const Op* next = nullptr;
  return warp->active == warp->live && warp->cta->wait(op, *warp, next) ? next : barrier(op, warp);
}

bool arrive_parked(Warp* warp) {
  std::vector<Path>& waiting = warp->paths->waiting;
  const Path* first = nullptr;
  BarrierState arrival{1};
  Mask lanes = 0;
  for (const Path& p : waiting) {
    if (p.wait != Wait::barrier || (first != nullptr && p.barrier != first->barrier)) continue;
    if (first == nullptr) first = &p;
    arrival.expected = std::max(arrival.expected, arrival_of(p.next, warp, p.mask).expected);
    const BarrierState added = contribution(p.next, warp, p.mask);
    arrival.threads += added.threads;
    arrival.votes += added.votes;
    lanes |= p.mask;
  }
  if (lanes != warp->live) return false;
  if (checks_sync(warp)) check_parked_barriers(warp);
  const Op* const op = first->next;
  const std::uint8_t number = first->barrier;
  for (Path& p : waiting)
    if (p.wait == Wait::barrier) p.wait = Wait::arrived;
  resume(*warp->paths, [](const Path& p) { return p.wait == Wait::arrived && (p.next->extra & kArrive) != 0; });
  return warp->cta->arrive(op, *warp, number, arrival);
}

// Not inlined: few launches need it, and arrive() would save registers for it at every barrier.
template <class List, class Element> [[gnu::noinline]] static void append_arrival(List& list, const Element& element) {
  list.push_back(element);
}

// Returns false if the arrival stops the kernel.
bool Cta::arrive(const Op* op, Warp& w, std::uint32_t number_of_barrier, const BarrierState& arrival) {
  BarrierState& b = barriers_[number_of_barrier];
  const auto count = [&](const BarrierState& s) { return s.expected != 0 ? s.expected : warp_count_ * kWarpSize; };
  if (b.warps != 0 && count(b) != count(arrival)) {
    stop_with(op, &w, Trap::Kind::invalid_barrier, w.live,
              fmt::format("barrier {} expects {} threads here, but {} where other warps have arrived",
                          number_of_barrier, count(arrival), count(b)));
    return false;
  }
  b.expected = b.warps == 0 || arrival.expected == 0 ? arrival.expected : b.expected;
  b.warps += arrival.warps;
  used_barriers_ |= 1u << number_of_barrier;
  b.threads += arrival.threads;
  b.votes += arrival.votes;
  if (worker.launch.tools.synccheck) append_arrival(arrived_[number_of_barrier], Arrived{op, w.index, w.live});
  release_if_complete(static_cast<std::uint8_t>(number_of_barrier));
  return true;
}

bool Cta::wait(const Op* op, Warp& w, const Op*& next) {
  const auto number_of_barrier = static_cast<std::uint8_t>(op->imm);
  BarrierState& b = barriers_[number_of_barrier];
  if (!quick_barriers_ || b.expected != 0) [[unlikely]]
    return false;
  if (worker.shard) worker.shard->barrier({op->instruction, w.live, number_of_barrier, {number, w.index}, w.counted});
  w.next = op + 1;
  used_barriers_ |= 1u << number_of_barrier;
  if (++b.warps < warp_count_ - done_warps) {
    w.barrier = number_of_barrier;
    w.state = WarpState::at_barrier;
    return true;
  }
  const BarrierState complete = b;
  b = {};
  release_all(number_of_barrier, complete);
  next = op + 1;
  return true;
}

// A barrier is complete when the number of threads that it expects, or all live warps, have arrived.
void Cta::release_if_complete(std::uint8_t number_of_barrier) {
  BarrierState& b = barriers_[number_of_barrier];
  if (b.warps == 0 || b.warps * kWarpSize < b.expected) return;
  if (b.expected == 0 && b.warps < warp_count_ - done_warps) return;
  const BarrierState complete = b;
  b = {};
  arrived_[number_of_barrier].clear();
  release_all(number_of_barrier, complete);
}

void Cta::release_all(std::uint8_t number_of_barrier, const BarrierState& complete) {
  for (std::uint32_t i = 0; i < warp_count_; ++i) {
    Warp& w = warp(i);
    // The whole warp waits: no path of it does.
    if (w.state == WarpState::at_barrier && w.barrier == number_of_barrier && (w.next[-1].extra & kReduces) == 0)
      w.state = WarpState::ready;
    else
      release(w, number_of_barrier, complete);
  }
}

// All threads have exited: arrivals that are left never met anybody.
void Cta::check_arrivals() {
  for (std::uint32_t number_of_barrier = 0; number_of_barrier < kBarriers; ++number_of_barrier)
    for (const Arrived& a : arrived_[number_of_barrier])
      record(&warp(a.warp), ToolFinding::Kind::thread_count, a.op->instruction, a.lanes,
             fmt::format("barrier {} is never complete after this arrival", number_of_barrier));
}

void Cta::release(Warp& w, std::uint8_t number_of_barrier, const BarrierState& complete) {
  if (w.state == WarpState::at_barrier && w.barrier == number_of_barrier) {
    write_result(w.next - 1, &w, w.live, complete);
    w.state = WarpState::ready;
  }
  const auto waits_here = [&](const Path& p) { return p.wait == Wait::arrived && p.barrier == number_of_barrier; };
  for (const Path& p : w.paths->waiting)
    if (waits_here(p)) write_result(p.next, &w, p.mask, complete);
  if (w.state == WarpState::done || w.paths->waiting.empty()) return;
  resume(*w.paths, waits_here);
  if (w.state == WarpState::stuck) {
    w.state = WarpState::ready;
    if (const Op* const next = next_path(&w)) w.next = next;
  }
}

} // namespace warplens::exec
