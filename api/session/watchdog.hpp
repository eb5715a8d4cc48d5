// SPDX-License-Identifier: Apache-2.0
// Stops a run that takes too much time or memory: --time-limit and --max-memory.
//
//   Watchdog watchdog({.milliseconds = 5000}, [](const std::string& why) { … _exit(1); });
//
// When the time limit is reached, launches stop as at a trap (emulator/exec/grid/time_limit.hpp), so that the results
// so far are reported. After a grace period the process ends. The memory limit ends the process at once.
#pragma once

#include "emulator/exec/grid/time_limit.hpp"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace warplens::api {

struct RunLimits {
  std::optional<std::uint64_t> milliseconds;
  std::optional<std::uint64_t> bytes; ///< of resident memory
  /// Start of the time limit in milliseconds of the steady clock; 0: now. The same for processes that share a limit.
  std::uint64_t begin = 0;
};

/// Milliseconds of the steady clock, which is the same in all processes of a machine.
std::uint64_t steady_milliseconds();

class Watchdog {
public:
  /// Ends the process; called in a separate thread, with the message for the user.
  using End = std::function<void(const std::string& why)>;
  Watchdog(const RunLimits& limits, End end);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

private:
  void watch();
  [[nodiscard]] bool wait(std::uint64_t milliseconds);

  RunLimits limits_;
  End end_process_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool end_ = false;
  std::thread thread_;
};

/// Resident bytes of this process.
std::uint64_t resident_bytes();

} // namespace warplens::api
