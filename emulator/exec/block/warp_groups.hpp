// SPDX-License-Identifier: Apache-2.0
// Warp groups: four consecutive warps of a block, the first of which has a number that is a multiple of four. They
// execute a multiplication (wgmma.mma_async) together: the last one that arrives performs it for all.
//
// The manual demands only that each warp executes the instruction. But one thread of a warp group may free a buffer
// that all its warps have multiplied, so that no warp can go on before the others have arrived.
#pragma once

#include "emulator/exec/state/warp.hpp"

namespace warplens::exec {

constexpr std::uint32_t kGroupWarps = 4;

struct WarpGroup {
  const Op* op = nullptr;    ///< where its warps wait
  std::uint32_t arrived = 0; ///< a mask of warps
};

/// A warp arrives at an instruction of its group. True: it is the last one. Otherwise its turn ends: it waits, or the
/// kernel stops.
bool arrive_in_group(const Op* op, Warp* warp);
/// The other warps of the group go on after `op`.
void release_group(const Op* op, Warp* warp);
/// A warp of the group of `warp`, 0 to 3.
Warp* warp_of_group(Warp* warp, std::uint32_t number);

} // namespace warplens::exec
