// SPDX-License-Identifier: Apache-2.0
// wgmma.mma_async: what group_handlers.cpp and group_floats.cpp of a level share. The last warp of a group to arrive
// computes the product for all four.
#pragma once

#include "emulator/exec/matrix/group_tiles.hpp"
#include "emulator/exec/matrix/matrix_handlers.hpp"

namespace warplens::exec::WARPLENS_LEVEL {

Handler group_handler(MatrixHandler kind);

/// A of one of the warps of a group, and B. Not sparse: `present` is left as it is. False: the kernel has stopped.
bool read_group_a(const Op* op, Warp* warp, Warp* of, float* tile, Word32* present);
bool read_group_b(const Op* op, Warp* warp, float* tile);

bool multiply_group_floats(const Op* op, Warp* warp);

} // namespace warplens::exec::WARPLENS_LEVEL
