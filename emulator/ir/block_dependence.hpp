// Whether what a block does may depend on how far other blocks of its launch have come. That is what makes counters of
// such launches depend on the order of their blocks, and what makes blocks wait for each other:
//
//   i = atomicAdd(&next, 1); out[i] = x;          order
//   while (atomicCAS(&lock, 0, 1) != 0) {}        waiting
//   while (*(volatile int*)&flag == 0) {}         waiting
//   atomicAdd(&histogram[x], 1);                  none: nobody looks at the result
//
// Only what the memory model defines counts: strong accesses (PTX manual, 8.3) of more than the block or the cluster,
// and, since old programs do so, loops that load the same word until it changes. A block that reads ordinarily what
// another one writes in the same launch is a race, and is not found.
#pragma once

#include "emulator/ir/module.hpp"

namespace warplens::ir {

enum class BlockDependence : std::uint8_t {
  none,
  order,  ///< it uses what atomic operations on global memory return, or loads global memory strongly
  waiting ///< its blocks may wait for others
};

/// check() comes first. Of a linked kernel, with all that it calls.
BlockDependence block_dependence(const Module& module, const Function& function);

} // namespace warplens::ir
