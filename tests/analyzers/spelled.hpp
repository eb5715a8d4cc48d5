// SPDX-License-Identifier: Apache-2.0
// An instruction as after check(), without a module. Any text is valid where the instruction class does not matter.
//
//   function.instructions.push_back(spelled("add.f32"));
#pragma once

#include "emulator/ir/module.hpp"
#include "emulator/isa/table.hpp"

namespace warplens::tests {

inline ir::Instruction spelled(std::string_view opcode) {
  constexpr int kNewest = 1000;
  ir::Instruction instruction;
  instruction.opcode = opcode;
  if (const auto found = isa::lookup(opcode, kNewest, isa::kEveryTarget))
    instruction.instruction_class = found->instruction_class;
  return instruction;
}

} // namespace warplens::tests
