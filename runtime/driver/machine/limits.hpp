// SPDX-License-Identifier: Apache-2.0
// The limits of the process: --time-limit, --max-memory, --max-steps and --limit of `warplens exec`.
#pragma once

#include <cstdint>

namespace warplens::runtime {

/// Starts the watchdog according to the environment. When the time is over, launches stop with
/// CUDA_ERROR_LAUNCH_TIMEOUT. A program that continues then, or uses too much memory, is ended with a message, its
/// reports, and status 1. Throws Failure for an invalid variable.
void hold_limits();

/// Maximum number of warp instructions of a launch; 0: no limit.
std::uint64_t max_steps();

} // namespace warplens::runtime
