// SPDX-License-Identifier: Apache-2.0
// The process that makes machine code (worker_main.cpp), as seen by the program whose kernels are compiled.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace warplens::exec::compile {

class Worker {
public:
  /// The one that compiles this process's kernels: one of 5000 instructions takes about 2 seconds.
  static Worker& instance();
  /// `seconds` of processor time for a module.
  explicit Worker(unsigned seconds) : seconds_(seconds) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() { close_socket(); }

  /// An archive with the object files of a module; empty: it cannot be made. Nothing: there is no process, and
  /// `program` cannot be started, or stop() was called. One call at a time.
  std::optional<std::string> code_of(const std::string& program, std::string_view level, std::string_view bitcode,
                                     std::string& problem);
  /// Ends the process, even in the middle of a call in another thread, and starts no other one.
  void stop();

private:
  bool start(const std::string& program, std::string& problem);
  void close_socket();

  const unsigned seconds_;
  std::mutex closing_;
  std::atomic<int> socket_ = -1;
  pid_t owner_ = 0; ///< the process that started it; a copy of that must not use its socket
  std::atomic<bool> stopped_ = false;
};

} // namespace warplens::exec::compile
