// What the process may take: --time-limit, --max-memory and --max-steps, and --limit of `warplens exec`.
#pragma once

#include <cstdint>

namespace warplens::runtime {

/// Begins to watch this process, as the environment says. Launches stop when the time is over, with
/// CUDA_ERROR_LAUNCH_TIMEOUT; a program that goes on then, or takes too much memory, is ended with a message, its
/// reports, and status 1. Throws Failure: a variable says what cannot be.
void hold_limits();

/// Warp instructions of a launch; 0: no limit.
std::uint64_t max_steps();

} // namespace warplens::runtime
