// SPDX-License-Identifier: Apache-2.0
// The threads of the bundle, without oneTBB.
#include "emulator/exec/grid/workers.hpp"

#include <gtest/gtest.h>

#include <sched.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace warplens::exec {
namespace workers_threads_test {

TEST(WorkersThreads, EachCallIsMadeOnce) {
  for (const unsigned threads : {1u, 2u, 5u})
    for (const unsigned count : {0u, 1u, 2u, 100u}) {
      std::vector<std::atomic<int>> calls(count);
      run_workers(count, threads, [&](unsigned i) { ++calls.at(i); });
      for (const auto& made : calls) EXPECT_EQ(made, 1) << count << " calls on " << threads << " threads";
    }
}

TEST(WorkersThreads, CallsRunAtTheSameTime) {
  std::barrier together(4); // a call that waits here needs three others
  std::set<std::thread::id> threads;
  std::mutex mutex;
  run_workers(4, 4, [&](unsigned) {
    together.arrive_and_wait();
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(threads.size(), 4u);
  EXPECT_EQ(threads.count(std::this_thread::get_id()), 1u); // the caller takes part
}

TEST(WorkersThreads, NoMoreThreadsThanAllowed) {
  run_workers(8, 8, [](unsigned) {}); // there are threads
  std::atomic<int> running = 0, most = 0;
  run_workers(40, 2, [&](unsigned) {
    const int now = ++running;
    for (int known = most; known < now && !most.compare_exchange_weak(known, now);) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --running;
  });
  EXPECT_LE(most, 2);
}

TEST(WorkersThreads, ManyCallersAndCallsWithinCalls) {
  std::atomic<int> calls = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 6; ++i)
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round)
        run_workers(5, 3, [&](unsigned) { run_workers(3, 2, [&](unsigned) { ++calls; }); });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(calls, 6 * 50 * 5 * 3);
}

TEST(WorkersThreads, TheFirstExceptionIsThrownOnAndNoFurtherCallBegins) {
  std::atomic<int> calls = 0;
  const auto run = [&](unsigned threads) {
    run_workers(1000, threads, [&](unsigned) {
      ++calls;
      throw std::runtime_error("failed");
    });
  };
  EXPECT_THROW(run(1), std::runtime_error);
  EXPECT_EQ(calls, 1);
  EXPECT_THROW(run(4), std::runtime_error);
  EXPECT_LE(calls, 1 + 4);
  run_workers(3, 3, [&](unsigned) { ++calls; }); // the threads are still there
  EXPECT_GE(calls, 1 + 1 + 3);
}

TEST(WorkersThreads, OnlyTheProcessorsOfTheProcessCount) {
  const auto with_one = [] {
    cpu_set_t mask;
    if (sched_getaffinity(0, sizeof mask, &mask) != 0) std::_Exit(2);
    int first = 0;
    while (!CPU_ISSET(first, &mask)) ++first;
    CPU_ZERO(&mask);
    CPU_SET(first, &mask);
    if (sched_setaffinity(0, sizeof mask, &mask) != 0) std::_Exit(2);
    std::_Exit(default_workers() == 1 ? 0 : 1);
  };
  EXPECT_EXIT(with_one(), ::testing::ExitedWithCode(0), "");
  EXPECT_GE(default_workers(), 1u);
}

} // namespace workers_threads_test
} // namespace warplens::exec
