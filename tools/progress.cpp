// SPDX-License-Identifier: Apache-2.0
#include "tools/progress.hpp"

#include "tools/output.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace warplens::tools {

Progress::Progress() {
  if (is_terminal(STDERR_FILENO)) thread_ = std::thread([this] { show(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Progress::now(std::string what) {
  const std::lock_guard lock(mutex_);
  what_ = printable(what);
}

void Progress::show() {
  using namespace std::chrono;
  constexpr auto kFirst = seconds(2), kNext = seconds(1);
  const auto start = steady_clock::now();
  std::unique_lock lock(mutex_);
  bool shown = false;
  while (!changed_.wait_for(lock, shown ? kNext : kFirst, [this] { return end_; })) {
    const auto elapsed = duration_cast<seconds>(steady_clock::now() - start).count();
    std::fputs(fmt::format("\r\033[K{}: {} s", what_, elapsed).c_str(), stderr);
    std::fflush(stderr);
    shown = true;
  }
  if (shown) std::fputs("\r\033[K", stderr);
}

} // namespace warplens::tools
