// SPDX-License-Identifier: Apache-2.0
// A progress line on the terminal for work that takes longer than two seconds.
//
//   Progress progress;                      // silent if stderr is not a terminal
//   progress.now("launch 2 of 4: transpose_2d");
#pragma once

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
  /// Sets the description of the current work.
  void now(std::string what);

private:
  void show();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;
  bool end_ = false;
  std::thread thread_; ///< last: it uses the others
};

} // namespace warplens::tools
