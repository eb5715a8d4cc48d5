// SPDX-License-Identifier: Apache-2.0
// Adjacent accesses to shared memory that the assembler joins into one wider instruction. A profiler counts the joined
// instruction, so the emulator must find these accesses.
//
//   ld.shared.u32 %r1, [%r9];  ld.shared.u32 %r2, [%r9+4];   and %r9 is known to be a multiple of 8
//   -> JoinedAccess{first: 0, offset: 0, bytes: 8, others: {1}}
//
// The rules were derived from the output of ptxas for 13 small kernels (see tests/ir/joined_accesses_test.cpp). The
// elements have one size, 4 or 8 bytes, and no guard or .volatile. They are in one basic block, at constant distances
// from one value, in a window of 8 or 16 bytes whose alignment can be proved. Nothing between them may write the window
// (for loads: stores, atomics and barriers on shared memory; for stores: any other access to shared memory). Three of
// the four words of a window are loaded as 16 bytes; stores are joined only without gaps.
#pragma once

#include "emulator/ir/control_flow.hpp"

#include <functional>

namespace warplens::ir {

struct JoinedAccess {
  std::uint32_t first = 0;           ///< the instruction that represents all of them
  std::int64_t offset = 0;           ///< from its own address to the window
  std::uint32_t bytes = 8;           ///< of the window: 8 or 16
  std::vector<std::uint32_t> others; ///< the other instructions that it represents
};

/// `address_of` gives the address of a variable operand (only the alignment matters).
std::vector<JoinedAccess> joined_accesses(const Function& function, const ControlFlow& flow,
                                          const std::function<std::uint64_t(const Operand&)>& address_of);

} // namespace warplens::ir
