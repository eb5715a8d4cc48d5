// SPDX-License-Identifier: Apache-2.0
// A progress line on the terminal for work that takes longer than two seconds.
//
//   Progress progress;                      // silent if stderr is not a terminal
//   progress.now("launch 2 of 4: transpose_2d", 1, 4);
//   options.progress = progress.blocks();   // the emulator reports how much of the step is done
#pragma once

#include "api/launch/launch.hpp"

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace warplens::tools {

class Progress {
public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Sets the description of the current step; `done` steps of `all` are complete. 0 of 0: unknown.
  void now(std::string_view what, std::size_t done = 0, std::size_t all = 0);
  /// For api::LaunchOptions: the part of the current step that is complete.
  exec::BlocksDone* blocks() { return &blocks_; }

private:
  void show();
  [[nodiscard]] double share() const;
  exec::BlocksDone blocks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;
  std::size_t done_ = 0, all_ = 0;
  bool end_ = false;
  std::thread thread_; ///< last: it uses the others
};

} // namespace warplens::tools
