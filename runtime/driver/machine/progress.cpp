// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/progress.hpp"

#include "api/report/progress_text.hpp"
#include "api/report/terminal.hpp"
#include "api/session/environment.hpp"
#include "api/session/kernel_name.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace warplens::runtime {

namespace {

/// Shows the launch that began last. Never destroyed: its thread runs until the process ends.
class ProgressLine {
public:
  static ProgressLine* instance() {
    static ProgressLine* const line = [] {
      const bool asked = std::getenv(api::environment::kProgress) != nullptr && api::is_terminal(STDERR_FILENO);
      return asked ? new ProgressLine : nullptr;
    }();
    // The thread stays in the parent of a fork().
    return line != nullptr && line->process_ == getpid() ? line : nullptr;
  }

  exec::BlocksDone* begin(const std::string& kernel) {
    const std::lock_guard lock(mutex_);
    what_ = fmt::format("launch {}: {}", ++launches_, printable(api::source_name(kernel)));
    start_ = std::chrono::steady_clock::now();
    blocks_.all = 0;
    blocks_.done = 0;
    ++running_;
    changed_.notify_all();
    return &blocks_;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    --running_;
    erase();
  }

private:
  ProgressLine() {
    std::thread([this] { show(); }).detach();
  }
  void erase() {
    if (!shown_) return;
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
    shown_ = false;
  }
  void show() {
    using namespace std::chrono;
    constexpr auto kFirst = seconds(2), kNext = seconds(1);
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return running_ > 0; });
      lock.unlock();
      std::this_thread::sleep_for(milliseconds(200));
      lock.lock();
      const auto now = steady_clock::now();
      if (running_ == 0 || now - start_ < kFirst || (shown_ && now - last_ < kNext)) continue;
      const std::uint64_t all = blocks_.all;
      const double done = all == 0 ? 0 : static_cast<double>(blocks_.done) / static_cast<double>(all);
      const auto elapsed = duration_cast<seconds>(now - start_).count();
      std::fputs(fmt::format("\r\033[K{}", api::progress_text(what_, done, elapsed)).c_str(), stderr);
      std::fflush(stderr);
      shown_ = true;
      last_ = now;
    }
  }

  const pid_t process_ = getpid();
  exec::BlocksDone blocks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;
  std::chrono::steady_clock::time_point start_, last_;
  std::uint64_t launches_ = 0;
  unsigned running_ = 0;
  bool shown_ = false;
};

} // namespace

LaunchShown::LaunchShown(api::LaunchRequest& request) : request_(request) {
  if (ProgressLine* const line = ProgressLine::instance())
    request_.options.progress = line->begin(std::string(request.kernel.function->name));
}

LaunchShown::~LaunchShown() {
  if (request_.options.progress == nullptr) return;
  request_.options.progress = nullptr;
  if (ProgressLine* const line = ProgressLine::instance()) line->end();
}

} // namespace warplens::runtime
