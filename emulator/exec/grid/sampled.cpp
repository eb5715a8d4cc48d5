// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/grid/sampled.hpp"

#include "emulator/exec/compile/tier.hpp"
#include "emulator/exec/grid/block_scheduler.hpp"
#include "emulator/exec/grid/workers.hpp"

#include <algorithm>
#include <cmath>

namespace warplens::exec {

namespace {

// The error is estimated from so many groups of drawn clusters: the estimate is off by a sixth.
constexpr std::uint64_t kGroups = 20;

// How many clusters are drawn first, and the relative standard error that must be reached.
constexpr std::uint64_t kPilot = 256;
constexpr double kWantedError = 0.005;

// Of fewer clusters than this times the drawn ones, all are watched: it would save little.
constexpr std::uint64_t kWorthwhile = 4;

std::uint64_t hash(std::uint64_t x) { // splitmix64
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/// How many clusters --sample draws at first; more than there are: all.
std::uint64_t wanted(const Launch& launch) {
  if (launch.sampling.how == BlockSampling::How::automatic) return kPilot;
  const double clusters = static_cast<double>(launch.shape.clusters());
  return std::max(static_cast<std::uint64_t>(std::ceil(launch.sampling.fraction * clusters)), kGroups);
}

/// One cluster of each piece of the grid.
struct Draw {
  std::uint64_t clusters = 0, piece = 1, seed = 0;
  [[nodiscard]] bool takes(std::uint64_t cluster) const {
    const std::uint64_t number = cluster / piece, begin = number * piece, size = std::min(piece, clusters - begin);
    return cluster == begin + hash(number ^ seed) % size;
  }
  [[nodiscard]] std::uint64_t group(std::uint64_t cluster) const { return cluster / piece % kGroups; }
};

/// The workers of one thread: for clusters that are not watched, for those that the watcher needs, and for each group
/// of drawn ones.
class ThreadWorkers {
public:
  static constexpr std::size_t kLight = 0, kNeeded = 1, kFirstGroup = 2;

  ThreadWorkers(const Launch& launch, bool alone, bool compiled)
      : launch_(launch), alone_(alone), compiled_(compiled), all_(kFirstGroup + kGroups) {}
  Worker& at(std::size_t which) {
    if (all_[which]) return *all_[which];
    all_[which] = std::make_unique<Worker>(launch_, launch_.watcher->make_shard(), which == kLight);
    all_[which]->classes.emplace();
    all_[which]->alone = alone_;
    all_[which]->compiled = compiled_;
    return *all_[which];
  }
  [[nodiscard]] std::vector<std::unique_ptr<Worker>>& all() { return all_; }

private:
  const Launch& launch_;
  bool alone_, compiled_;
  std::vector<std::unique_ptr<Worker>> all_;
};

class SampledLaunch {
public:
  explicit SampledLaunch(const Launch& launch) : launch_(launch), watcher_(*launch.watcher->sampled()) {
    const bool compiled = compile_before(launch);
    const std::uint64_t wish = launch.workers != 0 ? launch.workers : default_workers();
    const std::uint64_t count = std::max<std::uint64_t>(std::min(wish, clusters()), 1);
    for (std::uint64_t i = 0; i < count; ++i) threads_.emplace_back(launch, count == 1, compiled);
    progress_.steps = launch.steps_before;
  }

  LaunchResult run() {
    draws_.push_back({clusters(), clusters() / wanted(launch_), 0});
    if (launch_.sampling.how == BlockSampling::How::automatic) {
      run_part(Part::drawn);
      if (!progress_.stop && progress_.lowest_trap == LaunchProgress::kNoTrap) draw_more();
      progress_.next = 0;
      run_part(Part::others);
    } else {
      run_part(Part::all);
    }
    return finish();
  }

private:
  enum class Part : std::uint8_t { all, drawn, others };
  [[nodiscard]] std::uint64_t clusters() const { return launch_.shape.clusters(); }

  void run_part(Part part) {
    const auto work = [&](unsigned i) {
      ThreadWorkers& own = threads_[i];
      const auto worker_of = [&](std::uint64_t cluster) -> Worker* {
        // Those that were drawn first have run.
        const bool first = draws_.front().takes(cluster);
        if (part == Part::drawn ? !first : part == Part::others && first) return nullptr;
        return &own.at(place_of(cluster));
      };
      BlockScheduler(own.at(ThreadWorkers::kLight), progress_, worker_of).run();
      for (const auto& worker : own.all())
        if (worker) worker->flush();
    };
    const auto count = static_cast<unsigned>(threads_.size());
    count == 1 ? work(0) : run_workers(count, std::min(count, default_workers()), work);
  }

  /// Which worker of a thread runs a cluster.
  [[nodiscard]] std::size_t place_of(std::uint64_t cluster) const {
    if (needs(cluster)) return ThreadWorkers::kNeeded;
    for (const Draw& draw : draws_)
      if (draw.takes(cluster)) return ThreadWorkers::kFirstGroup + draw.group(cluster);
    return all_needed_ ? ThreadWorkers::kNeeded : ThreadWorkers::kLight;
  }
  [[nodiscard]] bool needs(std::uint64_t cluster) const {
    const LaunchShape& shape = launch_.shape;
    const std::uint64_t first = RunningCluster::first_cta(shape, cluster);
    for (std::uint32_t z = 0; z < shape.cluster[2]; ++z)
      for (std::uint32_t y = 0; y < shape.cluster[1]; ++y)
        for (std::uint32_t x = 0; x < shape.cluster[0]; ++x)
          if (watcher_.needs(first + (std::uint64_t{z} * shape.grid[1] + y) * shape.grid[0] + x)) return true;
    return false;
  }

  /// As many more clusters as the error of the first ones demands; it falls with the root of their number.
  void draw_more() {
    const double error = watcher_.error_of(sample());
    if (error <= kWantedError) return;
    const double factor = error / kWantedError, more = static_cast<double>(kPilot) * (factor * factor - 1);
    const double piece = static_cast<double>(clusters()) / more;
    if (piece < 2)
      all_needed_ = true;
    else
      draws_.push_back({clusters(), static_cast<std::uint64_t>(piece), hash(1)});
  }

  [[nodiscard]] std::vector<const Worker*> workers(std::size_t from, std::size_t to) {
    std::vector<const Worker*> list;
    for (std::size_t which = from; which < to; ++which)
      for (ThreadWorkers& own : threads_)
        if (own.all()[which]) list.push_back(own.all()[which].get());
    return list;
  }
  [[nodiscard]] SampleGroup group(std::size_t from, std::size_t to) {
    const std::vector<const Worker*> of = workers(from, to);
    SampleGroup result;
    for (const Worker* worker : of) result.shards.push_back(worker->shard.get());
    result.counts = instruction_counts(*launch_.program, of);
    return result;
  }
  [[nodiscard]] std::uint64_t blocks(std::size_t from, std::size_t to) {
    std::uint64_t sum = 0;
    for (const Worker* worker : workers(from, to)) sum += worker->classes->blocks();
    return sum;
  }

  /// Of what has run.
  [[nodiscard]] Sample sample() {
    constexpr std::size_t kEnd = ThreadWorkers::kFirstGroup + kGroups;
    Sample result;
    result.rest = group(ThreadWorkers::kLight, ThreadWorkers::kNeeded);
    // Their counts are needed apart from those of the unwatched blocks.
    SampleGroup needed = group(ThreadWorkers::kNeeded, ThreadWorkers::kFirstGroup);
    result.rest.counts = std::move(needed.counts);
    result.rest.shards.insert(result.rest.shards.end(), needed.shards.begin(), needed.shards.end());
    for (std::size_t which = ThreadWorkers::kFirstGroup; which < kEnd; ++which)
      if (SampleGroup one = group(which, which + 1); !one.shards.empty()) result.drawn.push_back(std::move(one));
    result.counts = instruction_counts(*launch_.program, workers(ThreadWorkers::kLight, kEnd));
    result.blocks = launch_.shape.ctas();
    const std::uint64_t drawn = blocks(ThreadWorkers::kFirstGroup, kEnd),
                        kept = blocks(ThreadWorkers::kNeeded, ThreadWorkers::kFirstGroup);
    result.watched = kept + drawn;
    const std::uint64_t could = result.blocks - kept;
    result.fraction = could != 0 ? static_cast<double>(drawn) / static_cast<double>(could) : 1;
    BlockClasses classes;
    for (const Worker* worker : workers(ThreadWorkers::kLight, kEnd)) classes.merge(*worker->classes);
    result.classes = classes.count();
    result.seen = classes.seen();
    result.unseen_blocks = classes.unseen_blocks();
    result.classes_known = classes.complete();
    return result;
  }

  LaunchResult finish() {
    const Sample all = sample();
    Workers list;
    for (ThreadWorkers& own : threads_)
      for (auto& worker : own.all())
        if (worker) list.push_back(std::move(worker));
    LaunchResult result = totals(launch_, list);
    launch_.watcher->longest_warps(*result.longest);
    watcher_.finish_sample(all);
    return result;
  }

  const Launch& launch_;
  SampledWatcher& watcher_;
  LaunchProgress progress_;
  std::vector<ThreadWorkers> threads_;
  std::vector<Draw> draws_;
  bool all_needed_ = false;
};

} // namespace

std::string why_all_watched(const Launch& launch) {
  if (launch.watcher->sampled() == nullptr) return "a trace, or another device, needs the accesses of all blocks";
  if (launch.footprint) return "the distinct sectors of all blocks are counted";
  if (launch.tools.any() || !launch.checkers.empty()) return "a tool follows all blocks";
  if (launch.schedule_seed != 0) return "the order of the blocks is given";
  if (runs_in_order(launch) || launch.cooperative || launch.program->cancels_blocks)
    return "the blocks depend on each other, so that they run in one order";
  if (launch.shape.clusters() < kWorthwhile * wanted(launch)) return "the launch has too few blocks to sample them";
  return {};
}

LaunchResult run_sampled(const Launch& launch) { return SampledLaunch(launch).run(); }

} // namespace warplens::exec
