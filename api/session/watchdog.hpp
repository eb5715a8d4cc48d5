// Stops a run that takes too long or too much: --time-limit and --max-memory.
//
//   Watchdog watchdog({.milliseconds = 5000}, [](const std::string& why) { … _exit(1); });
//
// When the time is over, launches stop as at a trap (emulator/exec/grid/time_limit.hpp), so that what has been found is
// still reported. Whatever else goes on is ended a grace period later; too much memory ends it at once.
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
  std::optional<std::uint64_t> bytes; ///< of memory that is resident
  /// Milliseconds of the steady clock at which the time began to run; 0: now. Processes that share a limit share it.
  std::uint64_t begin = 0;
};

/// Milliseconds of the steady clock, which all processes of a machine share.
std::uint64_t steady_milliseconds();

class Watchdog {
public:
  /// Ends the process; called by a thread of its own, with what to tell the user.
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

/// Bytes of this process that are resident.
std::uint64_t resident_bytes();

} // namespace warplens::api
