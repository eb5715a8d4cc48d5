// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/calls.hpp"

namespace warplens::ir {

CallOperands call_operands(const Function& function, const Instruction& call) {
  const std::span<const Operand> all = function.operands(call);
  CallOperands result;
  std::size_t next = 0;
  const auto list = [&](std::span<const Operand>& elements) {
    if (next == all.size() || all[next].kind != OperandKind::list) return;
    elements = function.elements(all[next++]);
  };
  list(result.results);
  if (next == all.size()) return result;
  const Operand* const target = &all[next++];
  list(result.arguments);
  if (next < all.size()) result.table = &all[next++];
  if (next == all.size()) result.target = target;
  return result;
}

bool is_call(const Instruction& instruction) {
  return instruction.opcode == "call" || instruction.opcode.starts_with("call.");
}

} // namespace warplens::ir
