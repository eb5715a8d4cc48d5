// SPDX-License-Identifier: Apache-2.0
// mma and wmma.mma, and what they share with matrix_handlers.cpp of the same level.
#pragma once

#include "emulator/exec/block/membermasks.hpp"
#include "emulator/exec/matrix/matrix_handlers.hpp"

namespace warplens::exec::WARPLENS_LEVEL {

Handler multiply_handler(MatrixHandler kind);
bool multiply_floats(const Op* op, Warp* warp);
/// m8n8k4 of halves.
bool multiply_quads(const Op* op, Warp* warp);

/// The handler of an instruction in which all lanes of the warp must take part; `perform` returns false after a trap.
template <bool (*perform)(const Op*, Warp*)> const Op* by_whole_warp(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  if (mask == 0) return op + 1;
  if (mask != kFullMask) return stop_at_incomplete_warp(op, warp), nullptr;
  return perform(op, warp) ? op + 1 : nullptr;
}

} // namespace warplens::exec::WARPLENS_LEVEL
