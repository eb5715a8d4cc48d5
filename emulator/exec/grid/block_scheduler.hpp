// The CTAs that one worker has begun and not finished, in turns; and whether the launch still gets anywhere.
//
// A CTA that has run for a while without finishing makes room for another one beside it: it may be waiting for what
// that one writes. A cooperative launch begins all its CTAs at once.
//
// Nothing gets anywhere when all CTAs that have begun only wait and repeat themselves (see repetition.hpp), there is no
// room for more, and memory stays as it is. When each worker has seen that of its CTAs several times, and none has seen
// anything else in the meantime, the launch ends with a deadlock.
#pragma once

#include "emulator/exec/grid/running_cluster.hpp"

#include <atomic>

namespace warplens::exec {

/// What the workers of a launch share.
struct LaunchProgress {
  static constexpr std::uint64_t kNoTrap = ~std::uint64_t{0};

  std::atomic<std::uint64_t> next{0}; ///< cluster
  std::atomic<std::uint64_t> steps{0};
  std::atomic<std::uint64_t> lowest_trap{kNoTrap}; ///< CTA
  std::atomic<bool> stop{false};                   ///< no more steps
  std::atomic<bool> deadlock{false};               ///< none of them would help
  std::atomic<std::uint64_t> moves{0};             ///< how often a worker saw that its CTAs get somewhere
  std::atomic<unsigned> workers{0};                ///< that run CTAs …
  std::atomic<unsigned> hopeless{0};               ///< … and those of them whose CTAs do not

  void trapped(std::uint64_t cta) {
    std::uint64_t known = lowest_trap.load();
    while (cta < known && !lowest_trap.compare_exchange_weak(known, cta)) {
    }
  }
};

class BlockScheduler {
public:
  BlockScheduler(Worker& worker, LaunchProgress& progress) : worker_(worker), progress_(progress) {}
  /// Until no CTA is left that this worker could run.
  void run();

private:
  // After a trap the CTAs before it still run, so that the one with the lowest number is reported, whoever was first.
  // They get this many more instructions each: they may be waiting for one that has stopped.
  static constexpr std::int64_t kLastSteps = 100'000'000;
  struct Running {
    std::unique_ptr<RunningCluster> ctas; ///< of a cluster, mostly one
    std::int64_t last_steps = kLastSteps; ///< left after another CTA has trapped
  };

  void start_some();
  bool start_next();
  std::unique_ptr<RunningCluster> slot();
  void round();
  bool turn(RunningCluster& ctas, std::int64_t& last_steps);
  void stop_at_limit(RunningCluster& ctas, std::string_view why);
  void look_for_deadlock();
  [[nodiscard]] bool gets_nowhere();
  bool memory_stays();
  void set_hopeless(bool hopeless);
  [[nodiscard]] std::uint64_t memory_digest() const;

  Worker& worker_;
  LaunchProgress& progress_;
  std::vector<Running> running_;
  std::vector<std::unique_ptr<RunningCluster>> idle_;
  std::optional<std::uint64_t> pending_; ///< one for which there was no memory yet
  std::uint64_t moved_at_ = 0;           ///< Worker::steps when a CTA was started or finished last

  bool moved_ = false;                    ///< has one been, since the CTAs were looked at?
  bool hopeless_ = false;                 ///< what LaunchProgress has been told
  std::uint64_t moves_ = 0;               ///< of LaunchProgress, at the last look
  std::uint64_t digest_ = 0;              ///< of memory
  unsigned same_ = 0;                     ///< looks in a row at which it was that
  std::uint64_t wait_ = 0, interval_ = 1; ///< looks that are left out until the next one, and then
};

} // namespace warplens::exec
