// Jobs in processes of their own, several at a time. Processes rather than threads: device memory lies at the same
// addresses in each, so results do not depend on who shares the machine; and a job that the system ends takes nothing
// else with it.
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

  /// Starts the processes: copies of this one as it is now, so before it has threads. `job` runs in them.
  /// Throws UsageError where the system has no room for them.
  Workers(unsigned count, Job job);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Jobs 0 to count - 1, handed out in this order; `done` is called here for each as it ends. The error of a result:
  /// its process died. Throws what `done` throws.
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
