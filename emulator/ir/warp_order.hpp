// SPDX-License-Identifier: Apache-2.0
// Whether a kernel's results may depend on the order in which the warps of a block run between barriers:
//
//   i = atomicAdd(&next, 1); out[i] = x;        yes: the result is used
//   atomicAdd(&sum, 1.5f);                      yes: sums of floats are rounded
//   atomicAdd(&histogram[x], 1);                no
//   while (*(volatile int*)&flag == 0) {}       yes
//
// A weak read of data that another warp writes without a barrier between them is a race and is not detected.
#pragma once

#include "emulator/ir/module.hpp"

namespace warplens::ir {

/// Requires check(). For a linked kernel, includes all functions that it calls.
bool depends_on_warp_order(const Module& module, const Function& function);

} // namespace warplens::ir
