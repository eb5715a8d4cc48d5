// SPDX-License-Identifier: Apache-2.0
#include "tools/progress.hpp"

#include "api/report/progress_text.hpp"
#include "tools/output.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
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

void Progress::now(std::string_view what, std::size_t done, std::size_t all) {
  const std::lock_guard lock(mutex_);
  what_ = printable(what);
  done_ = done;
  all_ = all;
  blocks_.done = 0;
  blocks_.all = 0;
}

double Progress::share() const {
  if (all_ == 0) return 0;
  const std::uint64_t blocks = blocks_.all;
  const double step = blocks == 0 ? 0 : static_cast<double>(blocks_.done) / static_cast<double>(blocks);
  return (static_cast<double>(done_) + std::min(step, 1.0)) / static_cast<double>(all_);
}

void Progress::show() {
  using namespace std::chrono;
  constexpr auto kFirst = seconds(2), kNext = seconds(1);
  const auto start = steady_clock::now();
  std::unique_lock lock(mutex_);
  bool shown = false;
  while (!changed_.wait_for(lock, shown ? kNext : kFirst, [this] { return end_; })) {
    const auto elapsed = duration_cast<seconds>(steady_clock::now() - start).count();
    std::fputs(fmt::format("\r\033[K{}", api::progress_text(what_, share(), elapsed)).c_str(), stderr);
    std::fflush(stderr);
    shown = true;
  }
  if (shown) std::fputs("\r\033[K", stderr);
}

} // namespace warplens::tools
