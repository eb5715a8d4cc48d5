// SPDX-License-Identifier: Apache-2.0
#include "api/session/watchdog.hpp"

#include "api/session/limits.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <utility>

namespace warplens::api {

namespace {

/// Grace period for writing reports; runs whose launches stop at the limit need far less.
constexpr std::uint64_t kGrace = 2000;
/// Interval of memory checks: a page fault takes longer than a microsecond for 4 KiB, so at most about 100 MiB are
/// added in between.
constexpr std::uint64_t kLook = 20;

} // namespace

std::uint64_t steady_milliseconds() {
  using namespace std::chrono;
  return static_cast<std::uint64_t>(duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count());
}

std::uint64_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  std::uint64_t all = 0, resident = 0;
  in >> all >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

Watchdog::Watchdog(const RunLimits& limits, End end) : limits_(limits), end_process_(std::move(end)) {
  if (limits_.begin == 0) limits_.begin = steady_milliseconds();
  if (limits_.milliseconds || limits_.bytes) thread_ = std::thread([this] { watch(); });
}

Watchdog::~Watchdog() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

/// True: watching has ended.
bool Watchdog::wait(std::uint64_t milliseconds) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::milliseconds(milliseconds), [this] { return end_; });
}

void Watchdog::watch() {
  constexpr std::uint64_t kHour = 3'600'000;
  for (;;) {
    const std::uint64_t passed = steady_milliseconds() - limits_.begin;
    if (limits_.milliseconds && passed >= *limits_.milliseconds) exec::out_of_time = true;
    if (limits_.milliseconds && passed >= *limits_.milliseconds + kGrace)
      return end_process_(
          fmt::format("time limit reached: {:g} seconds", static_cast<double>(*limits_.milliseconds) / 1000));
    if (limits_.bytes && resident_bytes() > *limits_.bytes)
      return end_process_(fmt::format("memory limit reached: {}", size_text(*limits_.bytes)));
    std::uint64_t next = limits_.bytes ? kLook : kHour;
    if (limits_.milliseconds)
      next = std::min(next, *limits_.milliseconds + (passed >= *limits_.milliseconds ? kGrace : 0) - passed);
    if (wait(next)) return;
  }
}

} // namespace warplens::api
