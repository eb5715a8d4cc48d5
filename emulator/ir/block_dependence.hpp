// SPDX-License-Identifier: Apache-2.0
// Determines whether the behaviour of a block can depend on the progress of other blocks of its launch. If so, the
// counters of the launch depend on the order of the blocks, or blocks wait for each other:
//
//   i = atomicAdd(&next, 1); out[i] = x;          order
//   while (atomicCAS(&lock, 0, 1) != 0) {}        waiting
//   while (*(volatile int*)&flag == 0) {}         waiting
//   atomicAdd(&histogram[x], 1);                  none: the result is not used
//
// Blocks that cancel others (clusterlaunchcontrol) count as waiting ones: which they cancel depends on their progress.
//
// Two kinds of access count: strong accesses (PTX manual, 8.3) with a scope wider than the block or the cluster, as the
// memory model defines, and, because old programs use them, loops that load the same word until it changes. A weak read
// of data that another block writes in the same launch is a race and is not detected.
#pragma once

#include "emulator/ir/module.hpp"

namespace warplens::ir {

enum class BlockDependence : std::uint8_t {
  none,
  order,  ///< it uses results of atomic operations on global memory, or has strong loads of global memory
  waiting ///< its blocks may wait for others
};

/// Requires check(). For a linked kernel, includes all functions that it calls.
BlockDependence block_dependence(const Module& module, const Function& function);

/// Whether all its atomic operations on global memory give the same result in any order: integer additions, minima,
/// maxima and operations on bits. Ignores their scopes of a block or a cluster.
bool reductions_commute(const Module& module, const Function& function);

/// Why the data that a launch leaves in memory may depend on the order of its blocks even if its counters do not;
/// empty: nothing in the kernel says so. Ordinary stores of several blocks to one word are a race and not detected.
std::string_view order_of_results(const Module& module, const Function& function);

} // namespace warplens::ir
