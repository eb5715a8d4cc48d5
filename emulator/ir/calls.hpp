// SPDX-License-Identifier: Apache-2.0
// The operands of a call instruction. For its possible targets, see callees.hpp.
//
//   call (retval), f, (a, b);   ->  CallOperands{results: (retval), target: f, arguments: (a, b)}
#pragma once

#include "emulator/ir/device_library.hpp"
#include "emulator/ir/module.hpp"

namespace warplens::ir {

struct CallOperands {
  std::span<const Operand> results;
  const Operand* target = nullptr; ///< a function or a register; nullptr: the operands do not form a call
  std::span<const Operand> arguments;
  const Operand* table = nullptr; ///< the .calltargets or .callprototype of an indirect call
};

CallOperands call_operands(const Function& function, const Instruction& call);

bool is_call(const Instruction& instruction);

} // namespace warplens::ir
