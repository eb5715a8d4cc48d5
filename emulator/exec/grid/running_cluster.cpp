// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/grid/running_cluster.hpp"

#include <algorithm>

namespace warplens::exec {

namespace {

// One turn for each warp.
constexpr std::int64_t kShortestTurn = 1;

std::uint64_t linear(const LaunchShape& shape, std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  return (z * shape.grid[1] + y) * shape.grid[0] + x;
}

} // namespace

RunningCluster::RunningCluster(Worker& worker) : worker_(worker) {
  std::vector<Cta*> members;
  for (std::uint32_t rank = 0; rank < worker.launch.shape.cluster_ctas(); ++rank) {
    ctas_.push_back(std::make_unique<Cta>(worker));
    members.push_back(ctas_.back().get());
  }
  finished_.resize(ctas_.size());
  cluster_ = std::make_unique<Cluster>(std::move(members));
}

// Divisions of 64 bits would take a fifth of the time of a small block.
std::uint64_t RunningCluster::first_cta(const LaunchShape& shape, std::uint64_t number) {
  if (shape.cluster_ctas() == 1) return number;
  const std::uint64_t x = shape.grid[0] / shape.cluster[0], y = shape.grid[1] / shape.cluster[1];
  return linear(shape, number % x * shape.cluster[0], number / x % y * shape.cluster[1],
                number / x / y * shape.cluster[2]);
}

void RunningCluster::start(std::uint64_t number) {
  const LaunchShape& shape = worker_.launch.shape;
  const std::uint64_t first = first_cta(shape, number);
  cluster_->start();
  std::fill(finished_.begin(), finished_.end(), false);
  if (ctas_.size() == 1) return ctas_.front()->start(first);
  for (std::uint32_t rank = 0; rank < ctas_.size(); ++rank) {
    const std::uint32_t x = rank % shape.cluster[0], y = rank / shape.cluster[0] % shape.cluster[1],
                        z = rank / shape.cluster[0] / shape.cluster[1];
    ctas_[rank]->start(first + linear(shape, x, y, z));
  }
}

// The turns are as short as possible, because the CTAs may be waiting for each other.
Cta::Progress RunningCluster::run(std::int64_t budget) {
  if (ctas_.size() == 1) return ctas_.front()->run(budget);
  for (bool all_done = false; !all_done && budget > 0;) {
    const std::uint64_t before = worker_.steps;
    all_done = true;
    for (std::size_t rank = 0; rank < ctas_.size(); ++rank) {
      if (finished_[rank]) continue;
      const Cta::Progress progress = ctas_[rank]->run(kShortestTurn);
      if (progress == Cta::Progress::trapped) return progress;
      finished_[rank] = progress == Cta::Progress::done;
      all_done = all_done && finished_[rank];
    }
    budget -= static_cast<std::int64_t>(worker_.steps - before);
    if (all_done) return Cta::Progress::done;
  }
  return Cta::Progress::paused;
}

void RunningCluster::where(Trap& trap) {
  for (std::size_t rank = 0; rank < ctas_.size(); ++rank) {
    if (finished_[rank]) continue;
    trap.cta = ctas_[rank]->number;
    ctas_[rank]->where(trap);
    return;
  }
}

bool RunningCluster::quiet() {
  bool all = true;
  for (const auto& cta : ctas_) all = cta->quiet() && all;
  return all;
}

bool RunningCluster::looked_at() {
  return std::all_of(ctas_.begin(), ctas_.end(), [](const auto& cta) { return cta->looked_at(); });
}

std::uint64_t RunningCluster::memory_digest() const {
  std::uint64_t value = 0;
  for (const auto& cta : ctas_) value ^= cta->memory_digest();
  return value;
}

void RunningCluster::report_deadlock() {
  for (std::size_t rank = 0; rank < ctas_.size(); ++rank)
    if (!finished_[rank]) ctas_[rank]->report_deadlock();
}

} // namespace warplens::exec
