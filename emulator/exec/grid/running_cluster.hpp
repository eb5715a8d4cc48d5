// SPDX-License-Identifier: Apache-2.0
// The CTAs of a cluster, which a worker runs together; usually one.
#pragma once

#include "emulator/exec/block/cluster.hpp"

namespace warplens::exec {

class RunningCluster {
public:
  /// Throws std::bad_alloc if the machine has no memory for the CTAs.
  explicit RunningCluster(Worker& worker);
  /// Begins cluster number `number` (linear).
  void start(std::uint64_t number);

  // As for one CTA: see Cta.
  Cta::Progress run(std::int64_t budget);
  void where(Trap& trap);
  bool quiet();
  [[nodiscard]] bool looked_at();
  [[nodiscard]] std::uint64_t memory_digest() const;
  void report_deadlock();

  [[nodiscard]] Worker& worker() const { return worker_; }
  /// The lowest CTA number of the cluster: that of rank 0.
  [[nodiscard]] std::uint64_t first_cta() const { return ctas_.front()->number; }
  static std::uint64_t first_cta(const LaunchShape& shape, std::uint64_t number);

private:
  Worker& worker_;
  std::vector<std::unique_ptr<Cta>> ctas_; ///< by rank
  std::vector<bool> finished_;
  std::unique_ptr<Cluster> cluster_;
};

} // namespace warplens::exec
