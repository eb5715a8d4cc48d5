// A line on the terminal for what takes longer than two seconds.
//
//   Progress progress;                      // silent where stderr is no terminal
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
  /// What is going on from now on.
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
