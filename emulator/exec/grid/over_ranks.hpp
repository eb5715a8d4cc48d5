// SPDX-License-Identifier: Apache-2.0
// Runs a launch over several processes, each with the same memory. Each runs a part of the blocks. Rank 0 receives what
// the workers of the others have counted, and the bytes of memory that they have changed, and merges both as if it had
// run all blocks. If blocks may depend on each other, it runs them all itself.
#pragma once

#include "emulator/exec/block/worker.hpp"

namespace warplens::exec {

using Workers = std::vector<std::unique_ptr<Worker>>;

/// Runs the blocks of Launch::share.
Workers run_blocks(const Launch& launch);
/// What they have found together, …
LaunchResult totals(const Launch& launch, Workers& workers);
/// … which also goes to the watcher.
LaunchResult merged(const Launch& launch, Workers& workers);
std::vector<InstructionCount> instruction_counts(const Program& program, const std::vector<const Worker*>& workers);
/// Whether the blocks run one after the other, in the order of their numbers.
bool runs_in_order(const Launch& launch);

LaunchResult run_over_ranks(const Launch& launch);

} // namespace warplens::exec
