// SPDX-License-Identifier: Apache-2.0
// Runs the unfinished CTAs of one worker in turns, and detects launches that make no progress.
//
// When a CTA has run for a while without finishing, another one starts beside it: the first may be waiting for data
// that the other writes. A cooperative launch starts all its CTAs at once. If a kernel cancels CTAs that have not
// started, as many start at once as a device holds if each occupies a multiprocessor: they cancel the later ones in
// turns.
//
// A launch makes no progress when all started CTAs only wait and repeat themselves (see repetition.hpp), there is no
// room for more, and memory does not change. When each worker has observed this for its CTAs several times, and none
// has observed progress in the meantime, the launch ends with a deadlock.
#pragma once

#include "emulator/exec/grid/running_cluster.hpp"

#include <atomic>

namespace warplens::exec {

/// What the workers of a launch share. What one of them writes for each block is not in a line of the cache from which
/// the others read for each block.
struct LaunchProgress {
  static constexpr std::uint64_t kNoTrap = ~std::uint64_t{0};
  static constexpr std::size_t kLine = 64;
  struct alignas(kLine) Counter {
    std::atomic<std::uint64_t> value{0};
  };

  alignas(kLine) std::atomic<std::uint64_t> next{0};              ///< next cluster of this process to start
  alignas(kLine) std::atomic<std::uint64_t> steps{0};             ///< as far as the workers have told
  alignas(kLine) std::atomic<std::uint64_t> lowest_trap{kNoTrap}; ///< CTA
  std::atomic<bool> stop{false};                                  ///< run no more steps
  std::atomic<bool> deadlock{false};                              ///< no CTA can make progress
  std::atomic<unsigned> workers{0};                               ///< workers that run CTAs …
  std::atomic<unsigned> hopeless{0};                              ///< … and those whose CTAs make no progress
  Counter moves[16]; ///< how often workers saw progress of their CTAs; a worker has one, perhaps with others

  [[nodiscard]] std::uint64_t all_moves() const {
    std::uint64_t all = 0;
    for (const Counter& c : moves) all += c.value;
    return all;
  }
  void trapped(std::uint64_t cta) {
    std::uint64_t known = lowest_trap.load();
    while (cta < known && !lowest_trap.compare_exchange_weak(known, cta)) {
    }
  }
};

/// Which worker of a thread runs a cluster: blocks that are watched have others. Null: the cluster does not run now.
using WorkerOf = std::function<Worker*(std::uint64_t cluster)>;

class BlockScheduler {
public:
  /// `worker_of`: empty if the worker runs all clusters.
  BlockScheduler(Worker& worker, LaunchProgress& progress, WorkerOf worker_of = {});
  BlockScheduler(const BlockScheduler&) = delete; // the worker refers to it
  BlockScheduler& operator=(const BlockScheduler&) = delete;
  /// Returns when no CTA is left that this worker could run.
  void run();

private:
  // After a trap, the CTAs before it still run, so that the trap of the lowest CTA is reported, in whatever order they
  // occur. Each CTA gets this many more instructions: it may be waiting for a CTA that has stopped.
  static constexpr std::int64_t kLastSteps = 100'000'000;
  struct Running {
    std::unique_ptr<RunningCluster> ctas; ///< the CTAs of a cluster, usually one
    std::int64_t last_steps = kLastSteps; ///< left after another CTA has trapped
  };

  void start_some();
  bool start_next();
  std::optional<std::uint64_t> take_next();
  std::optional<std::uint64_t> cancel_next();
  std::unique_ptr<RunningCluster> slot(Worker& worker);
  void round();
  bool turn(RunningCluster& ctas, std::int64_t& last_steps);
  void tell();
  void stop_at_limit(RunningCluster& ctas, std::string_view why);
  void look_for_deadlock();
  [[nodiscard]] std::uint64_t places() const;
  [[nodiscard]] std::uint64_t number_at(std::uint64_t place) const;
  [[nodiscard]] bool gets_nowhere();
  bool memory_stays();
  void set_hopeless(bool hopeless);
  [[nodiscard]] std::uint64_t memory_digest() const;

  Worker& worker_;
  const WorkerOf worker_of_;
  LaunchProgress& progress_;
  std::vector<Running> running_;
  std::size_t at_once_ = 0; ///< at least so many clusters run in turns
  std::vector<std::unique_ptr<RunningCluster>> idle_;
  std::optional<std::uint64_t> pending_; ///< a cluster for which there was no memory yet
  std::uint64_t steps_ = 0;              ///< of all CTAs
  /// What was done since others were told: each would wait for the counters of all.
  struct {
    std::uint64_t steps = 0, clusters = 0;
  } untold_;
  std::uint64_t moved_at_ = 0; ///< steps_ when a CTA last started or finished

  bool moved_ = false;                    ///< whether a CTA started or finished since the last look
  bool hopeless_ = false;                 ///< the state last reported to LaunchProgress
  std::atomic<std::uint64_t>& own_moves_; ///< in LaunchProgress::moves
  std::uint64_t moves_ = 0;               ///< all_moves() at the last look
  std::uint64_t digest_ = 0;              ///< of memory
  unsigned same_ = 0;                     ///< consecutive looks with this digest
  std::uint64_t wait_ = 0, interval_ = 1; ///< looks to skip until the next one, and after it
};

} // namespace warplens::exec
