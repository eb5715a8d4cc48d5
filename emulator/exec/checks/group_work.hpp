// SPDX-License-Identifier: Apache-2.0
// What a product of a warp group (wgmma.mma_async) reads in shared memory.
//
//   matrices_of(*op->group, warp, {0, 64})   ->  {{1024, 3072}, {4096, 4352}}: all of A, and B
//   matrices_of(*op->group, warp, {16, 32})  ->  the rows of A that the second warp of the group multiplies, and B
#pragma once

#include "emulator/exec/checks/pending_copies.hpp"
#include "emulator/exec/state/group_site.hpp"
#include "emulator/exec/state/warp.hpp"

#include <vector>

namespace warplens::exec {

struct RowsOfA {
  static constexpr int kOfGroup = 64, kOfWarp = 16; ///< PTX manual, 9.7.15.5: each warp has a quarter of the rows
  int first = 0, end = kOfGroup;
};

/// `warp` has the descriptors; its rows are read only.
std::vector<Extent> matrices_of(const GroupSite& site, Warp* warp, RowsOfA rows);

} // namespace warplens::exec
