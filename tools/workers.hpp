// SPDX-License-Identifier: Apache-2.0
// Runs jobs in separate processes, several at a time. Processes have two advantages over threads: device memory has the
// same addresses in each, so results do not depend on other jobs; and if the system kills a job, the others continue.
//
//   Workers workers(4, [](const Workers::Task& job) { return fmt::format("{}\n", job.number * job.number); });
//   workers.run([&] { return next < 10 ? std::optional(Workers::Task{next++}) : std::nullopt; },
//               [](std::span<const Workers::Result> results) { … }, [](const auto& job, const auto& why) { … });
#pragma once

#include "api/session/session.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace warplens::tools {

class Workers {
public:
  /// What a job is: numbers with a meaning for the caller.
  struct Task {
    std::uint64_t number = 0, parts = 0;
  };
  using Job = std::function<std::string(const Task&)>;
  using Next = std::function<std::optional<Task>()>;
  struct Result {
    Task task;
    Expected<std::string> text; ///< an error if its process died twice
  };
  using Done = std::function<void(std::span<const Result>)>;
  using Died = std::function<void(const Task&, const std::string&)>;

  /// Starts the processes as forks of this one: call it before this process has threads. `job` runs in them.
  /// Throws UsageError if the system cannot start them.
  Workers(unsigned count, Job job);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Runs the jobs that `next` gives, and calls `done` in this process with results as they come; returns when `next`
  /// gives none and all have ended. If the process of a job dies, `died` learns why, and the job runs once more. Throws
  /// what these throw.
  void run(const Next& next, const Done& done, const Died& died);

private:
  struct Given {
    Task task;
    bool again = false; ///< its process has died before
  };
  struct Worker {
    pid_t process = -1;
    int jobs = -1, results = -1; ///< sockets
    std::deque<Given> given;     ///< the first one runs
    std::string received{};      ///< the beginning of a result
    std::chrono::steady_clock::time_point begin{};
    std::size_t most = 1; ///< jobs that it has at a time: the others wait in the socket
  };
  void start(Worker& worker);
  void stop(Worker& worker, int& status);
  void hand_out(Worker& worker, const Given& given);
  void give_next(Worker& worker, const Next& next);
  void collect(Worker& worker, const Died& died, std::vector<Result>& results);
  void lose(Worker& worker, const Died& died, std::vector<Result>& results);
  void wait_for_results();
  std::string replace(Worker& worker);
  [[noreturn]] void work(int jobs, int results) const;

  Job job_;
  std::vector<Worker> workers_;
};

} // namespace warplens::tools
