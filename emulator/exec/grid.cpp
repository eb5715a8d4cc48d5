#include "emulator/exec/cta.hpp"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <thread>

namespace warplens::exec {

namespace {

// A CTA that has run for this many instructions without finishing makes room for another one beside it: it may be
// waiting for what that one writes.
constexpr std::int64_t kSlice = 500'000;
constexpr std::size_t kMaxResident = 256;

// After a trap the CTAs before it still run, so that the one with the lowest number is reported, whoever was first.
// They get this many more instructions each: they may be waiting for one that has stopped.
constexpr std::int64_t kLastSteps = 100'000'000;

// What the workers of a launch share.
struct Progress {
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::uint64_t> steps{0};
  std::atomic<std::uint64_t> lowest_trap{~std::uint64_t{0}}; ///< CTA
  std::atomic<bool> stop{false};                             ///< no more steps

  void trapped(std::uint64_t cta) {
    std::uint64_t known = lowest_trap.load();
    while (cta < known && !lowest_trap.compare_exchange_weak(known, cta)) {
    }
  }
};

// The CTAs that one worker has begun and not finished.
class Residency {
public:
  Residency(Worker& worker, Progress& progress) : worker_(worker), progress_(progress) {}

  void run() {
    while (!progress_.stop.load(std::memory_order_relaxed)) {
      if (running_.empty() || (crowded_ && running_.size() < kMaxResident)) start_next();
      if (running_.empty()) return;
      crowded_ = true;
      for (std::size_t i = 0; i < running_.size();) {
        if (turn(*running_[i].cta, running_[i].last_steps)) {
          idle_.push_back(std::move(running_[i].cta));
          running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
          crowded_ = false;
        } else {
          ++i;
        }
      }
    }
  }

private:
  struct Running {
    std::unique_ptr<Cta> cta;
    std::int64_t last_steps = kLastSteps; ///< left after another CTA has trapped
  };

  void start_next() {
    const std::uint64_t number = pending_ ? *pending_ : progress_.next.fetch_add(1, std::memory_order_relaxed);
    pending_.reset();
    if (number >= worker_.launch.shape.ctas() || number > progress_.lowest_trap) return;
    std::unique_ptr<Cta> cta = slot();
    if (!cta && !running_.empty()) { // when one of those has finished, there will be room
      pending_ = number;
      return;
    }
    if (!cta) {
      Trap trap;
      trap.kind = Trap::Kind::out_of_memory;
      trap.cta = number;
      worker_.trapped(std::move(trap));
      progress_.trapped(number);
      return;
    }
    cta->start(number);
    running_.push_back({std::move(cta)});
  }

  // Memory for one more CTA; null where the machine has none left.
  std::unique_ptr<Cta> slot() {
    if (!idle_.empty()) {
      std::unique_ptr<Cta> cta = std::move(idle_.back());
      idle_.pop_back();
      return cta;
    }
    try {
      return std::make_unique<Cta>(worker_);
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }

  // Runs a CTA for a while; true where it needs no more turns.
  bool turn(Cta& cta, std::int64_t& last_steps) {
    if (cta.number > progress_.lowest_trap || last_steps <= 0) return true;
    const std::uint64_t limit = worker_.launch.max_steps;
    if (limit != 0 && progress_.steps.load(std::memory_order_relaxed) > limit) {
      stop_at_limit(cta);
      return true;
    }
    const std::uint64_t before = worker_.steps;
    const Cta::Progress p = cta.run(kSlice);
    const std::uint64_t used = worker_.steps - before;
    progress_.steps.fetch_add(used, std::memory_order_relaxed);
    if (progress_.lowest_trap != ~std::uint64_t{0}) last_steps -= static_cast<std::int64_t>(used);
    if (p == Cta::Progress::trapped) progress_.trapped(cta.number);
    return p != Cta::Progress::paused;
  }

  void stop_at_limit(Cta& cta) {
    progress_.stop = true;
    if (progress_.lowest_trap != ~std::uint64_t{0}) return; // there is a better reason
    Trap trap;
    trap.kind = Trap::Kind::step_limit;
    trap.cta = cta.number;
    cta.where(trap);
    worker_.trap = std::move(trap);
  }

  Worker& worker_;
  Progress& progress_;
  std::vector<Running> running_;
  std::vector<std::unique_ptr<Cta>> idle_;
  std::optional<std::uint64_t> pending_; ///< a CTA for which there was no memory yet
  bool crowded_ = false;
};

std::vector<InstructionCount> instruction_counts(const Program& program,
                                                 const std::vector<std::unique_ptr<Worker>>& workers) {
  std::vector<InstructionCount> counts(program.function->instructions.size());
  for (const auto& worker : workers) {
    for (std::size_t b = 0; b < program.blocks.size(); ++b) {
      const CountedBlock& block = program.blocks[b];
      for (std::uint32_t i = block.first; i < block.first + block.count; ++i) {
        counts[i].warps += worker->blocks[b].warps;
        counts[i].lanes += worker->blocks[b].lanes;
      }
    }
    for (std::size_t g = 0; g < program.guarded.size(); ++g) counts[program.guarded[g]].lanes_on += worker->guarded[g];
    for (std::size_t b = 0; b < program.branches.size(); ++b)
      counts[program.branches[b]].lanes_on += worker->taken_lanes[b];
  }
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (program.function->instructions[i].guard == ir::kNone) counts[i].lanes_on = counts[i].lanes;
  return counts;
}

} // namespace

LaunchResult run(const Launch& launch) {
  const std::uint64_t ctas = launch.shape.ctas();
  const unsigned hardware = std::max(1u, std::thread::hardware_concurrency());
  const unsigned wanted = launch.workers != 0 ? launch.workers : hardware;
  const auto count = static_cast<unsigned>(std::min<std::uint64_t>(wanted, std::max<std::uint64_t>(ctas, 1)));
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned i = 0; i < count; ++i)
    workers.push_back(
        std::make_unique<Worker>(launch, launch.watcher != nullptr ? launch.watcher->make_shard() : nullptr));

  workers.front()->alone = count == 1;

  Progress progress;
  // TBB orders the tasks; the thread sanitizer does not see into TBB, so it is told here.
  std::atomic<unsigned> finished;
  finished.store(0, std::memory_order_release);
  const auto work = [&](unsigned i) {
    finished.fetch_add(0, std::memory_order_acq_rel);
    Residency(*workers[i], progress).run();
    workers[i]->flush();
    finished.fetch_add(1, std::memory_order_acq_rel);
  };
  if (count == 1) {
    work(0);
  } else {
    tbb::task_arena arena(static_cast<int>(std::min(count, hardware)));
    arena.execute([&] {
      tbb::parallel_for(
          0u, count, [&](unsigned i) { work(i); }, tbb::simple_partitioner());
    });
  }
  finished.load(std::memory_order_acquire);

  LaunchResult result;
  std::vector<std::unique_ptr<Shard>> shards;
  for (const auto& worker : workers) {
    result.steps += worker->steps;
    if (worker->trap && (!result.trap || worker->trap->cta < result.trap->cta)) result.trap = worker->trap;
    shards.push_back(std::move(worker->shard));
  }
  if (launch.watcher != nullptr)
    launch.watcher->finish(std::move(shards), instruction_counts(*launch.program, workers));
  return result;
}

} // namespace warplens::exec
