// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/grid/workers.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace warplens::exec {

namespace {

/// The calls of one run_workers(). The mutex of Helpers protects it.
struct Job {
  const std::function<void(unsigned)>& work;
  const unsigned count;
  unsigned seats;             ///< threads that may still join
  unsigned next = 0;          ///< the first call that has not begun
  unsigned running = 0;       ///< calls that have begun and not returned
  std::exception_ptr failure; ///< of the first call that threw
  std::condition_variable done;
};

/// Threads that wait for jobs of any caller. Creating them for each launch would take longer than a small kernel. The
/// caller always takes part itself, so a job also ends if no thread can be created. Never destroyed: the threads wait
/// until the process ends.
class Helpers {
public:
  static Helpers& instance() {
    static Helpers* const helpers = new Helpers;
    if (helpers->process_ == getpid()) return *helpers;
    // A process that was forked since then has none of these threads.
    static Helpers* const own = new Helpers;
    return *own;
  }

  void run(Job& job) {
    std::unique_lock lock(mutex_);
    if (job.seats != 0) {
      jobs_.push_back(&job);
      grow(job.seats);
      wanted_.notify_all();
    }
    take_part(job, lock);
    std::erase(jobs_, &job);
    job.done.wait(lock, [&] { return job.running == 0; });
  }

private:
  void grow(unsigned wanted) {
    try {
      for (; count_ < wanted; ++count_) std::thread([this] { help(); }).detach();
    } catch (const std::exception&) {
      // The system has no more threads: the existing ones, at least the caller's, do the work.
    }
  }

  [[noreturn]] void help() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wanted_.wait(lock, [&] { return !jobs_.empty(); });
      Job& job = *jobs_.front();
      if (--job.seats == 0) jobs_.pop_front();
      take_part(job, lock);
    }
  }

  /// Makes calls until none is left. Helpers must not use the job after this: its caller may have returned.
  static void take_part(Job& job, std::unique_lock<std::mutex>& lock) {
    while (job.next < job.count) {
      const unsigned call = job.next++;
      ++job.running;
      lock.unlock();
      std::exception_ptr failure;
      try {
        job.work(call);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      if (failure && !job.failure) job.failure = failure;
      if (failure) job.next = job.count;
      if (--job.running == 0) job.done.notify_one();
    }
  }

  const pid_t process_ = getpid();
  std::mutex mutex_;
  std::condition_variable wanted_;
  std::deque<Job*> jobs_; ///< those that threads may join
  unsigned count_ = 0;    ///< of the threads
};

/// The processors of the affinity mask. The system call fails while the mask is shorter than the kernel's.
unsigned processors() {
  constexpr std::size_t kMostSets = 1024; // a million processors
  for (std::vector<cpu_set_t> mask(1); mask.size() <= kMostSets; mask.resize(mask.size() * 2)) {
    const std::size_t bytes = mask.size() * sizeof mask[0];
    if (sched_getaffinity(getpid(), bytes, mask.data()) == 0)
      return static_cast<unsigned>(std::max(CPU_COUNT_S(bytes, mask.data()), 1));
  }
  return std::max(std::thread::hardware_concurrency(), 1u);
}

} // namespace

unsigned default_workers() {
  static const unsigned count = processors();
  return count;
}

void run_workers(unsigned count, unsigned threads, const std::function<void(unsigned)>& work) {
  Job job{work, count, std::max(std::min(count, threads), 1u) - 1, 0, 0, {}, {}};
  Helpers::instance().run(job);
  if (job.failure) std::rethrow_exception(job.failure);
}

} // namespace warplens::exec
