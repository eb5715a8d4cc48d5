// SPDX-License-Identifier: Apache-2.0
// The loops of a function.
//
//   const std::optional<Loop> loop = innermost_loop(flow, flow.block_of[i]);
#pragma once

#include "emulator/ir/control_flow.hpp"

#include <optional>
#include <vector>

namespace warplens::analyzers {

struct Loop {
  std::uint32_t header = 0;          ///< the block through which it is entered
  std::vector<std::uint32_t> before; ///< the blocks from which it is entered
};

/// The loop with the fewest blocks around a block, if there is one.
std::optional<Loop> innermost_loop(const ir::ControlFlow& flow, std::uint32_t block);

} // namespace warplens::analyzers
