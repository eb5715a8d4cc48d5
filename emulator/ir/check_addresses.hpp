// SPDX-License-Identifier: Apache-2.0
// Checks what the brackets of an address contain, and its state space.
//
//   ld.global.u32 %r1, [shared_variable];  ->  "'ld.global.u32' accesses .global memory, but 'shared_variable' is in
//   .shared"
#pragma once

#include "emulator/ir/check_calls.hpp"

namespace warplens::ir {

class AddressChecker {
public:
  AddressChecker(const Module& module, const Function& function, const Instruction& instruction, Complaint complain)
      : module_(module), function_(&function), instruction_(&instruction), complain_(std::move(complain)) {}

  /// Checks array[%r] and [array+%r] anywhere in the operand: the index must be an integer register. If it is not,
  /// complains and returns true.
  bool wrong_index(const Operand& operand);
  /// Checks [base+4] of an instruction that accesses memory.
  void address(const Operand& operand, const isa::Spelling& spelling);
  /// Checks [map, {x, y}]: a tensor map with its coordinates.
  void tensor(const Operand& operand, const isa::Spelling& spelling);
  /// Checks [%r1+4]: an address of tensor memory.
  void tensor_memory(const Operand& operand);
  /// Checks a variable whose address cvta converts to a generic address.
  void converted(const Operand& variable, const isa::Spelling& spelling);
  /// Checks the address of isspacep: 32 or 64 bits.
  void any_address(const Operand& operand);

private:
  void error(const Operand* operand, std::string message, std::string hint = {}) {
    complain_(operand, std::move(message), std::move(hint));
  }
  void base(const Operand& base, const isa::Spelling& spelling);
  [[nodiscard]] std::vector<Space> reachable(const isa::Spelling& spelling) const;
  void space(const Operand& variable, const isa::Spelling& spelling);

  const Module& module_;
  const Function* function_;
  const Instruction* instruction_;
  Complaint complain_;
  std::size_t place_ = 0; ///< of the operand among the addresses of the instruction
};

} // namespace warplens::ir
