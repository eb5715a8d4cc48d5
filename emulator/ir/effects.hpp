// SPDX-License-Identifier: Apache-2.0
// The registers that each instruction reads and writes.
//
//   @%p1 ld.global.v2.u32 {%r1, %r2}, [%rd1];   ->   reads %rd1, %p1; writes %r1, %r2; not certain
#pragma once

#include "emulator/ir/module.hpp"

namespace warplens::ir {

struct Effect {
  std::vector<std::uint32_t> reads, writes; ///< indices into Function::registers
  bool certain = true; ///< false: the guard, or a part of a vector register, may leave the old value
};

/// By instruction. Requires check(), because the instruction table identifies the destinations. An instruction that is
/// not in the table is assumed to write its first operand.
std::vector<Effect> effects(const Module& module, const Function& function);

} // namespace warplens::ir
