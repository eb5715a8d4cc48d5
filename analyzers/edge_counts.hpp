// SPDX-License-Identifier: Apache-2.0
// How often control passes from one block to another, as far as the visits of the blocks say it.
//
//   A: @%p1 bra C;   B: …   C: …      A, B and C visited 8 times each: A to B 8, B to C 8, A to C 0
//
// Of a branch that diverges, the warp visits both sides, one after the other: control passes from the second one to the
// block where they join.
#pragma once

#include <cstdint>
#include <vector>

namespace warplens::analyzers {

struct EdgeInto {
  std::uint32_t from = 0; ///< block
  double times = 0;       ///< more than 0
};

/// For each block, the edges that lead to it and that are taken. `successors` and `visits` are by block; the first
/// block is where control enters. Where the visits leave it open, an edge is as frequent as the rarer of its blocks.
std::vector<std::vector<EdgeInto>> edges_taken(const std::vector<std::vector<std::uint32_t>>& successors,
                                               const std::vector<double>& visits);

} // namespace warplens::analyzers
