// SPDX-License-Identifier: Apache-2.0
// Basic blocks of a function, their successors, and immediate post-dominators, where a diverged warp reconverges.
//
//   if (p) A else B; C   ->   the block that branches has C's block as its immediate post-dominator
#pragma once

#include "emulator/ir/module.hpp"

namespace warplens::ir {

struct Block {
  std::uint32_t first = 0;               ///< instruction
  std::uint32_t end = 0;                 ///< one past the last instruction
  std::vector<std::uint32_t> successors; ///< blocks; the exit is not one
  bool exits = false; ///< leaves the function at its end (ret, exit, trap without guard, or the end of the body)
  bool traps = false; ///< exits by a trap, which stops the whole launch
  std::uint32_t ipdom = kNone; ///< block; kNone: the exit, or no path to it. Paths to a trap do not count
};

struct ControlFlow {
  std::vector<Block> blocks;           ///< in the order of the text; blocks[0] is the entry
  std::vector<std::uint32_t> block_of; ///< by instruction
};

/// Guarded ret and exit remove lanes from a warp but do not end a block's fall-through.
ControlFlow control_flow(const Function& function);

} // namespace warplens::ir
