// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/grid/workers.hpp"

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

namespace warplens::exec {

namespace {

// Threads of TBB create further ones, and end the process if they cannot. Where the address space is limited, a quarter
// of it is for stacks; one more thread than the caller is created by the caller itself, which catches the error.
unsigned threads_with_stacks() {
  rlimit space{}, stack{};
  if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY) return ~0u;
  constexpr rlim_t kUsualStack = rlim_t{8} << 20;
  const bool unlimited = getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur == RLIM_INFINITY;
  const rlim_t each = std::max(unlimited ? rlim_t{0} : stack.rlim_cur, kUsualStack);
  return static_cast<unsigned>(std::clamp<rlim_t>(space.rlim_cur / 4 / each, 2, ~0u));
}

/// TBB's threads are only in the process that made them, not in one that it has forked since.
bool has_no_threads() {
  static const pid_t process = getpid();
  return process != getpid();
}

/// Threads of one call, for launches in such a process: it runs one launch only.
void run_on_threads(unsigned count, unsigned threads, const std::function<void(unsigned)>& work) {
  std::atomic<unsigned> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto take_part = [&] {
    for (unsigned i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    while (helpers.size() + 1 < std::min(count, threads)) helpers.emplace_back(take_part);
    take_part();
  }
  if (failure) std::rethrow_exception(failure);
}

} // namespace

unsigned default_workers() {
  // Determined once, as it may require reading files.
  static const auto processors = static_cast<unsigned>(tbb::info::default_concurrency());
  return processors;
}

void run_workers(unsigned count, unsigned threads, const std::function<void(unsigned)>& work) {
  if (has_no_threads()) return run_on_threads(count, threads, work);
  // TBB orders the tasks; the thread sanitizer does not see this, so tell it here.
  std::atomic<unsigned> finished;
  std::atomic<bool> failed = false; // one of the calls of `work`
  finished.store(0, std::memory_order_release);
  const auto call = [&](unsigned i) {
    finished.fetch_add(0, std::memory_order_acq_rel);
    try {
      work(i);
    } catch (...) {
      failed = true;
      throw;
    }
    finished.fetch_add(1, std::memory_order_acq_rel);
  };
  try {
    tbb::task_arena arena(static_cast<int>(std::min(threads, threads_with_stacks())));
    arena.execute([&] { tbb::parallel_for(0u, count, call, tbb::simple_partitioner()); });
  } catch (const std::runtime_error&) {
    // Of the system's refusal to create a thread, TBB says no more than this type.
    if (failed.load()) throw;
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again), "cannot start a thread");
  }
  finished.load(std::memory_order_acquire);
}

} // namespace warplens::exec
