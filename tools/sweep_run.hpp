// SPDX-License-Identifier: Apache-2.0
// Runs the configurations of a sweep in several processes.
//
//   const SweepCounts counts = run_sweep(space, inputs, options, &file, [](std::size_t i, const SweepRow& row) { … });
#pragma once

#include "api/session/watchdog.hpp"
#include "tools/sweep_queue.hpp"

namespace warplens::tools {

struct RunOptions {
  api::SweepOptions sweep;
  api::RunLimits limits;
  unsigned jobs = 1; ///< processes
  Shard shard;
};

struct SweepCounts {
  std::size_t recorded = 0; ///< configurations that were in the file
  std::size_t run = 0;      ///< that have been run now
  std::size_t failed = 0;   ///< of both: without a result, because they were refused or trapped
  std::size_t lost = 0;     ///< whose process died twice
  bool out_of_time = false; ///< some were not run
  double seconds = 0;       ///< from the first run to the end of the last
  double share = 0;         ///< of these seconds in which the processes computed
};

api::SweepRow row_without_result(api::Settings settings, std::string why);

/// Runs what is missing in the file, and appends it there; without a file, everything. `row` gets the rows that are in
/// no file: all without a file, and those whose process died or that ran out of time. UsageError: the file cannot grow.
SweepCounts run_sweep(const SweepSpace& space, SweepInputs& inputs, const RunOptions& options, SweepFile* file,
                      const std::function<void(std::size_t, api::SweepRow)>& row);

} // namespace warplens::tools
