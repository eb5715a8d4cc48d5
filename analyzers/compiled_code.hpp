// SPDX-License-Identifier: Apache-2.0
// Basic blocks as ptxas compiles them: it replaces short branches by predicates, so that several blocks of the PTX
// become one, and unrolls loops.
//
//   @%p1 bra J; add.f32 %f1, %f1, %f2; J: …   ->   @!%p1 FADD in the block of the branch, and no branch
//
// The rules are those that tests/data/hardware/compiled_code.jsonl shows of ptxas 13.0 for sm_90.
#pragma once

#include "emulator/ir/control_flow.hpp"

namespace warplens::analyzers {

struct CompiledBlock {
  std::vector<std::uint32_t> instructions; ///< of the function
  std::vector<std::uint32_t> successors;   ///< compiled blocks
  bool unrolled = false; ///< a loop of this block, of which ptxas makes four turns one; two and one of what is left
};

struct CompiledCode {
  std::vector<CompiledBlock> blocks;       ///< in the order of the text
  std::vector<std::uint32_t> predicate_of; ///< by instruction: the register by which it is predicated; kNone: none
  std::vector<bool> removed;               ///< by instruction: a branch that predicates replace
};

/// No loop is marked as unrolled: mark_unrolled() of compiled_loops.hpp does that.
CompiledCode compiled_code(const ir::Function& function, const ir::ControlFlow& flow);

/// Whether the machine code of an instruction has a branch for special operands, so that nothing is mixed into it.
bool has_branch_inside(const ir::Instruction& instruction);

} // namespace warplens::analyzers
