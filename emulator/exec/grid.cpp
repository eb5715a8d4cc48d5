#include "emulator/exec/cta.hpp"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace warplens::exec {

namespace {

// A CTA that has run for this many instructions without finishing makes room for another one beside it: it may be
// waiting for what that one writes.
constexpr std::int64_t kSlice = 500'000;
constexpr std::size_t kMaxResident = 256;

// What the workers of a launch share.
struct Progress {
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::uint64_t> steps{0};
  std::atomic<bool> stop{false};
};

class Residency {
public:
  Residency(Worker& worker, Progress& progress) : worker_(worker), progress_(progress) {}

  void run() {
    const std::uint64_t total = worker_.launch.shape.ctas();
    while (!progress_.stop.load(std::memory_order_relaxed)) {
      if (running_.empty() || (crowded_ && running_.size() < kMaxResident)) start_next(total);
      if (running_.empty()) return;
      crowded_ = true;
      for (std::size_t i = 0; i < running_.size();) {
        const Cta::Progress p = running_[i]->run(kSlice);
        if (!account(p)) return;
        if (p == Cta::Progress::done) {
          idle_.push_back(std::move(running_[i]));
          running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
          crowded_ = false;
        } else {
          ++i;
        }
      }
    }
  }

private:
  void start_next(std::uint64_t total) {
    const std::uint64_t number = progress_.next.fetch_add(1, std::memory_order_relaxed);
    if (number >= total) return;
    std::unique_ptr<Cta> cta;
    if (idle_.empty()) {
      cta = std::make_unique<Cta>(worker_);
    } else {
      cta = std::move(idle_.back());
      idle_.pop_back();
    }
    cta->start(number);
    running_.push_back(std::move(cta));
  }

  // False where the launch has to stop.
  bool account(Cta::Progress p) {
    const std::uint64_t fresh = worker_.steps - counted_;
    counted_ = worker_.steps;
    const std::uint64_t limit = worker_.launch.max_steps;
    const std::uint64_t all = progress_.steps.fetch_add(fresh, std::memory_order_relaxed) + fresh;
    if (p != Cta::Progress::trapped && limit != 0 && all > limit) {
      Trap trap;
      trap.kind = Trap::Kind::step_limit;
      trap.cta = running_.front()->number;
      trap.instruction = first_waiting_instruction();
      worker_.trap = trap;
    }
    if (worker_.trap) progress_.stop = true;
    return !worker_.trap;
  }

  std::uint32_t first_waiting_instruction() const {
    Cta& cta = *running_.front();
    for (std::uint32_t i = 0; i < worker_.launch.shape.warps(); ++i)
      if (cta.warp(i).state == WarpState::ready) return cta.warp(i).next->instruction;
    return 0;
  }

  Worker& worker_;
  Progress& progress_;
  std::vector<std::unique_ptr<Cta>> running_, idle_;
  bool crowded_ = false;
  std::uint64_t counted_ = 0;
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
    for (std::size_t g = 0; g < program.guarded.size(); ++g)
      counts[program.guarded[g]].lanes_on += worker->guarded[g];
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

  Progress progress;
  const auto work = [&](unsigned i) {
    Residency(*workers[i], progress).run();
    workers[i]->flush();
  };
  if (count == 1) {
    work(0);
  } else {
    tbb::task_arena arena(static_cast<int>(std::min(count, hardware)));
    arena.execute([&] {
      tbb::parallel_for(0u, count, [&](unsigned i) { work(i); }, tbb::simple_partitioner());
    });
  }

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
