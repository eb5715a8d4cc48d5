// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/grid/workers.hpp"

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <atomic>

namespace warplens::exec {

unsigned default_workers() {
  // Determined once, as it may require reading files.
  static const auto processors = static_cast<unsigned>(tbb::info::default_concurrency());
  return processors;
}

void run_workers(unsigned count, unsigned threads, const std::function<void(unsigned)>& work) {
  // TBB orders the tasks; the thread sanitizer does not see this, so tell it here.
  std::atomic<unsigned> finished;
  finished.store(0, std::memory_order_release);
  const auto call = [&](unsigned i) {
    finished.fetch_add(0, std::memory_order_acq_rel);
    work(i);
    finished.fetch_add(1, std::memory_order_acq_rel);
  };
  tbb::task_arena arena(static_cast<int>(threads));
  arena.execute([&] { tbb::parallel_for(0u, count, call, tbb::simple_partitioner()); });
  finished.load(std::memory_order_acquire);
}

} // namespace warplens::exec
