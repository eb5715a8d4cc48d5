// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/grid/block_scheduler.hpp"

#include "emulator/exec/compile/tier.hpp"
#include "emulator/exec/grid/time_limit.hpp"
#include "emulator/exec/state/schedule.hpp"

#include <algorithm>
#include <new>

namespace warplens::exec {

namespace {

// After this many instructions without a finished CTA, another CTA starts.
constexpr std::int64_t kSlice = 500'000;
constexpr std::size_t kMaxResident = 256;

// Concurrent CTAs may be waiting for each other: each warp gets a turn, then the next CTA runs.
constexpr std::int64_t kShortSlice = 1;

// After this many instructions, others are told.
constexpr std::uint64_t kPortion = 50'000;

// Memory must be unchanged at this many consecutive looks.
constexpr unsigned kLooks = 3;

} // namespace

BlockScheduler::BlockScheduler(Worker& worker, LaunchProgress& progress, WorkerOf worker_of)
    : worker_(worker), worker_of_(std::move(worker_of)), progress_(progress),
      own_moves_(progress.moves[progress.workers++ % std::size(progress.moves)].value) {
  worker.cancel_next = [this] { return cancel_next(); };
  if (!worker.launch.program->cancels_blocks) return;
  at_once_ = std::clamp<std::size_t>(worker.launch.machine.sms / worker.launch.shape.cluster_ctas(), 1, kMaxResident);
}

void BlockScheduler::run() {
  while (!progress_.stop.load(std::memory_order_relaxed)) {
    start_some();
    if (running_.empty()) break;
    round();
    look_for_deadlock();
    if (!progress_.deadlock.load(std::memory_order_relaxed)) continue;
    for (const Running& r : running_) r.ctas->report_deadlock();
    break;
  }
  tell();
  set_hopeless(false);
  ++own_moves_;
  --progress_.workers;
}

void BlockScheduler::start_some() {
  const bool crowded = steps_ - moved_at_ >= static_cast<std::uint64_t>(kSlice);
  if (worker_.launch.cooperative) {
    while (start_next()) {
    }
    return;
  }
  while (running_.size() < at_once_ && start_next()) {
  }
  if (running_.empty() || (crowded && running_.size() < kMaxResident)) start_next();
}

// The place in the order of the next cluster.
std::optional<std::uint64_t> BlockScheduler::take_next() {
  const std::uint64_t count = places();
  const std::uint64_t place = pending_ ? *pending_ : progress_.next.fetch_add(1, std::memory_order_relaxed);
  pending_.reset();
  return place < count ? std::optional(place) : std::nullopt;
}

std::optional<std::uint64_t> BlockScheduler::cancel_next() {
  const LaunchShape& shape = worker_.launch.shape;
  const std::optional<std::uint64_t> place = take_next();
  if (!place) return std::nullopt;
  ++untold_.clusters;
  return RunningCluster::first_cta(shape, number_at(*place));
}

bool BlockScheduler::start_next() {
  const LaunchShape& shape = worker_.launch.shape;
  const std::uint64_t seed = worker_.launch.schedule_seed;
  std::uint64_t place = 0, number = 0, first_cta = 0;
  Worker* worker = &worker_;
  do {
    const std::optional<std::uint64_t> next = take_next();
    if (!next) return false;
    place = *next;
    number = number_at(place);
    first_cta = RunningCluster::first_cta(shape, number);
    if (seed == 0 && first_cta > progress_.lowest_trap) return false;
    if (worker_of_) worker = worker_of_(number);
  } while (worker == nullptr || first_cta > progress_.lowest_trap); // in other orders, lower ones may follow
  std::unique_ptr<RunningCluster> ctas = slot(*worker);
  if (!ctas && !running_.empty() && !worker_.launch.cooperative) { // retry when a running CTA has finished
    pending_ = place;
    return false;
  }
  if (!ctas) {
    Trap trap;
    trap.kind = Trap::Kind::out_of_memory;
    trap.cta = first_cta;
    worker_.trapped(std::move(trap));
    progress_.trapped(first_cta);
    return false;
  }
  ctas->start(number);
  running_.push_back({std::move(ctas)});
  moved_ = true;
  moved_at_ = steps_;
  return true;
}

// A slot for one more cluster; null if the machine is out of memory.
std::unique_ptr<RunningCluster> BlockScheduler::slot(Worker& worker) {
  if (!idle_.empty() && &idle_.back()->worker() == &worker) {
    std::unique_ptr<RunningCluster> ctas = std::move(idle_.back());
    idle_.pop_back();
    return ctas;
  }
  try {
    return std::make_unique<RunningCluster>(worker);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void BlockScheduler::round() {
  for (std::size_t i = 0; i < running_.size();) {
    if (!turn(*running_[i].ctas, running_[i].last_steps)) {
      ++i;
      continue;
    }
    // Those of watched blocks are few, and the next one belongs to another worker.
    if (&running_[i].ctas->worker() == &worker_) idle_.push_back(std::move(running_[i].ctas));
    ++untold_.clusters;
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    moved_ = true;
    moved_at_ = steps_;
  }
}

// Runs a cluster for a while; true if it needs no more turns.
bool BlockScheduler::turn(RunningCluster& ctas, std::int64_t& last_steps) {
  if (ctas.first_cta() > progress_.lowest_trap || last_steps <= 0) return true;
  const std::uint64_t limit = worker_.launch.max_steps;
  const bool too_late = out_of_time.load(std::memory_order_relaxed);
  if (too_late || (limit != 0 && progress_.steps.load(std::memory_order_relaxed) > limit)) {
    stop_at_limit(ctas, too_late ? kOutOfTime : "");
    return true;
  }
  const Worker& worker = ctas.worker();
  const std::uint64_t before = worker.steps;
  const Cta::Progress p = ctas.run(running_.size() > 1 ? kShortSlice : kSlice);
  const std::uint64_t used = worker.steps - before;
  steps_ += used;
  untold_.steps += used;
  if (limit != 0 || untold_.steps >= kPortion) tell();
  if (progress_.lowest_trap != LaunchProgress::kNoTrap) last_steps -= static_cast<std::int64_t>(used);
  // With tools, the other blocks go on, so that the findings do not depend on how far they have come.
  if (p == Cta::Progress::trapped && !worker_.launch.tools.any()) progress_.trapped(worker.trap->cta);
  return p != Cta::Progress::paused;
}

void BlockScheduler::tell() {
  progress_.steps.fetch_add(untold_.steps, std::memory_order_relaxed);
  if (BlocksDone* const told = worker_.launch.progress)
    told->done.fetch_add(untold_.clusters, std::memory_order_relaxed);
  count_steps(worker_.launch, untold_.steps);
  untold_ = {};
}

void BlockScheduler::stop_at_limit(RunningCluster& ctas, std::string_view why) {
  progress_.stop = true;
  if (progress_.lowest_trap != LaunchProgress::kNoTrap) return; // the trap is the better diagnosis
  Trap trap;
  trap.kind = Trap::Kind::step_limit;
  trap.detail = why;
  ctas.where(trap);
  ctas.worker().trap = std::move(trap);
}

// With Launch::host_pointers, other code may write the memory that a kernel waits for.
void BlockScheduler::look_for_deadlock() {
  if (worker_.launch.host_pointers) return;
  for (const Running& r : running_)
    if (!r.ctas->looked_at()) return;
  if (!gets_nowhere()) {
    own_moves_.fetch_add(1, std::memory_order_relaxed);
    interval_ = 1;
    set_hopeless(false);
  } else if (const std::uint64_t moves = progress_.all_moves();
             moves != moves_) { // another worker's CTAs made progress
    moves_ = moves;
    same_ = 0;
    set_hopeless(false);
  } else if (memory_stays()) {
    set_hopeless(true);
  }
  if (!hopeless_ || progress_.hopeless < progress_.workers) return;
  if (progress_.lowest_trap != LaunchProgress::kNoTrap)
    progress_.stop = true; // they wait for a CTA that has stopped
  else
    progress_.deadlock = true;
}

/// The clusters that this process runs.
std::uint64_t BlockScheduler::places() const { return worker_.launch.share.size(worker_.launch.shape.clusters()); }

/// Which cluster of the launch comes at this place.
std::uint64_t BlockScheduler::number_at(std::uint64_t place) const {
  const std::uint64_t clusters = worker_.launch.shape.clusters();
  return scheduled(worker_.launch.share.at(clusters, place), clusters, worker_.launch.schedule_seed);
}

bool BlockScheduler::gets_nowhere() {
  bool quiet = !moved_;
  moved_ = false;
  for (const Running& r : running_) quiet = r.ctas->quiet() && quiet;
  if (!quiet || running_.empty()) return false;
  const bool room =
      progress_.next.load(std::memory_order_relaxed) < places() && running_.size() < kMaxResident && !pending_;
  return !room;
}

// Whether memory was unchanged at several looks. Looks get rarer, as memory may be large and waits long.
bool BlockScheduler::memory_stays() {
  if (wait_ != 0) {
    --wait_;
    return hopeless_;
  }
  wait_ = interval_;
  interval_ *= 2;
  const std::uint64_t digest = memory_digest();
  same_ = digest == digest_ ? same_ + 1 : 0;
  digest_ = digest;
  if (same_ == 0) set_hopeless(false);
  return same_ >= kLooks;
}

void BlockScheduler::set_hopeless(bool hopeless) {
  if (hopeless != hopeless_) progress_.hopeless += hopeless ? 1u : -1u;
  hopeless_ = hopeless;
}

std::uint64_t BlockScheduler::memory_digest() const {
  std::uint64_t value = 0;
  for (const Allocation& a : worker_.launch.allocations)
    value = digest({reinterpret_cast<const std::byte*>(a.begin), static_cast<std::size_t>(a.end - a.begin)}, value);
  for (const Running& r : running_) value ^= r.ctas->memory_digest();
  return value;
}

} // namespace warplens::exec
