// SPDX-License-Identifier: Apache-2.0
// A launch of which the watcher gets the accesses of some blocks only. All blocks run, and count their basic blocks and
// branches, so that memory, instruction counts and divergence are exact.
//
// The grid is divided into pieces of neighbouring clusters; of each piece, a hash of its number draws one. The draw
// therefore depends neither on the workers nor on the run. With BlockSampling::How::automatic, some blocks are drawn
// and run first; the error that they give decides how many more are drawn.
#pragma once

#include "emulator/exec/grid/over_ranks.hpp"

namespace warplens::exec {

/// Why the watcher must get the accesses of all blocks; empty: some suffice.
std::string why_all_watched(const Launch& launch);

/// Only if nothing is against it.
LaunchResult run_sampled(const Launch& launch);

} // namespace warplens::exec
