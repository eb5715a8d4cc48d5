// SPDX-License-Identifier: Apache-2.0
// For LD_PRELOAD: the time of day jumps between three dates. The monotonic clock goes on.
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

namespace {

std::time_t jump() {
  static std::atomic<unsigned> calls = 0;
  constexpr std::time_t kHour = 3600;
  constexpr std::time_t kJumps[] = {0, -5 * kHour, 1000 * kHour};
  return kJumps[calls++ % 3];
}

} // namespace

extern "C" {

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, std::timespec* now) noexcept {
  const long status = syscall(SYS_clock_gettime, clock, now);
  if (status == 0 && clock == CLOCK_REALTIME) now->tv_sec += jump();
  return static_cast<int>(status);
}

__attribute__((visibility("default"))) int gettimeofday(timeval* now, void*) noexcept {
  std::timespec precise{};
  const int status = clock_gettime(CLOCK_REALTIME, &precise);
  *now = {precise.tv_sec, precise.tv_nsec / 1000};
  return status;
}

__attribute__((visibility("default"))) std::time_t time(std::time_t* now) noexcept {
  std::timespec precise{};
  (void)clock_gettime(CLOCK_REALTIME, &precise);
  if (now != nullptr) *now = precise.tv_sec;
  return precise.tv_sec;
}

} // extern "C"
