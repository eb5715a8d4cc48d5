// SPDX-License-Identifier: Apache-2.0
// The threads on which the workers of a launch run.
//
//   taskset -c 0,1 warplens run …: default_workers() == 2
//   run_workers(count, default_workers(), [&](unsigned i) { BlockScheduler(*workers[i], progress).run(); });
//
// There are two implementations. workers_tbb.cpp uses oneTBB; workers_threads.cpp needs no library and is for the
// bundle (docs/install.md), because Debian has no static oneTBB.
#pragma once

#include <functional>

namespace warplens::exec {

/// The number of processors that this process may use. With taskset and batch systems, this may be fewer than all.
unsigned default_workers();

/// Calls work(0) to work(count - 1) on at most `threads` threads, among them the caller's, and returns when all calls
/// have returned. After an exception in a call, no further calls begin; the first exception is thrown on. Throws
/// std::system_error if the system refuses to create a thread.
void run_workers(unsigned count, unsigned threads, const std::function<void(unsigned)>& work);

} // namespace warplens::exec
