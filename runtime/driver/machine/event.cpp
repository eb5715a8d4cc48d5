// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/event.hpp"

#include "runtime/driver/machine/board.hpp"

#include <algorithm>
#include <thread>
#include <unistd.h>

namespace warplens::runtime {

// Records of two processes may be reached in any order: what counts is the latest.
void SharedRecord::reach() const {
  std::atomic<std::uint64_t>& reached = (*event)->reached;
  std::uint64_t seen = reached.load();
  while (seen < number && !reached.compare_exchange_weak(seen, number)) {
  }
}

// What a process had still to do ends with it.
bool SharedRecord::is_reached() const {
  return (*event)->reached.load(std::memory_order_acquire) >= number || has_ended((*event)->recorder.load());
}

void SharedRecord::wait() const {
  constexpr auto kShortest = std::chrono::microseconds(10), kLongest = std::chrono::microseconds(1000);
  for (auto pause = kShortest; !is_reached(); pause = std::min(2 * pause, kLongest)) std::this_thread::sleep_for(pause);
}

std::shared_ptr<Mark> Event::mark() const {
  const std::lock_guard lock(mutex_);
  if (!shared_) return mark_;
  const std::uint64_t recorded = (*shared_)->recorded.load();
  if (recorded == 0 || (mark_ && mark_->shared && mark_->shared->number == recorded)) return mark_;
  auto mark = std::make_shared<Mark>();
  mark->shared = SharedRecord{shared_, recorded};
  return mark;
}

std::shared_ptr<Mark> Event::next_mark() const {
  auto mark = std::make_shared<Mark>();
  if (!shared_) return mark;
  (*shared_)->recorder = getpid();
  mark->shared = SharedRecord{shared_, ++(*shared_)->recorded};
  return mark;
}

} // namespace warplens::runtime
