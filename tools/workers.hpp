// SPDX-License-Identifier: Apache-2.0
// Runs jobs in separate processes, several at a time. Processes have two advantages over threads: device memory has the
// same addresses in each, so results do not depend on other jobs; and if the system kills a job, the others continue.
//
//   Workers workers(4, [](std::size_t job) { return fmt::format("{}\n", job * job); });
//   workers.run(10, [](std::size_t job, Expected<std::string> result) { … });
#pragma once

#include "api/session/session.hpp"

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace warplens::tools {

class Workers {
public:
  using Job = std::function<std::string(std::size_t)>;
  using Done = std::function<void(std::size_t, Expected<std::string>)>;

  /// Starts the processes as forks of this one: call it before this process has threads. `job` runs in them.
  /// Throws UsageError if the system cannot start them.
  Workers(unsigned count, Job job);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Runs jobs 0 to count - 1, started in this order, and calls `done` in this process as each one ends. A result is an
  /// error if the job's process died. Throws what `done` throws.
  void run(std::size_t count, const Done& done);

private:
  struct Worker {
    pid_t process = -1;
    int jobs = -1, results = -1; ///< ends of pipes
    std::size_t job = 0;
    bool busy = false;
  };
  void start(Worker& worker);
  void stop(Worker& worker, int& status);
  [[noreturn]] void work(int jobs, int results) const;

  Job job_;
  std::vector<Worker> workers_;
};

} // namespace warplens::tools
