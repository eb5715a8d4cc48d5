// SPDX-License-Identifier: Apache-2.0
// The registers that products of warp groups (wgmma.mma_async) use, and what other instructions do with them.
//
//   ld.shared.f32 %f9, [%r1];                                ->  uses[0]: writes %f9
//   mov.f32 %f1, %f9;                                        ->  uses[1]: a move of %f9 to %f1
//   wgmma.mma_async… {%f1, %f2, …}, %rd1, %rd2, p, 1, 1;     ->  products[2]: d = {%f1, %f2, …}
//   add.f32 %f3, %f1, 1.0;                                   ->  uses[3]: reads %f1
//
// A product reads and writes its registers until a thread has waited for it.
#pragma once

#include "emulator/ir/module.hpp"

#include <map>

namespace warplens::ir {

/// Indices into Function::registers.
struct GroupProduct {
  std::vector<std::uint32_t> d; ///< read and written
  std::vector<std::uint32_t> a; ///< read
};

/// Compilers move values between registers that ptxas makes one. A move is therefore no access: the state of its only
/// source becomes that of its only result. They also put the constants that accumulators begin with directly before the
/// product, after its fence, and ptxas orders these.
struct GroupUse {
  std::vector<std::uint32_t> reads, writes;
  bool moves = false;
  bool constant = false; ///< writes a constant
};

/// By instruction.
struct GroupRegisters {
  std::map<std::uint32_t, GroupProduct> products;
  std::map<std::uint32_t, GroupUse>
      uses; ///< other instructions that access registers of products, or move their values
};

/// Requires check().
GroupRegisters group_registers(const Module& module, const Function& function);

} // namespace warplens::ir
