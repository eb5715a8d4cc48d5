// What a call instruction says, and where it may go.
//
//   call (retval), f, (a, b);   ->  CallOperands{results: (retval), target: f, arguments: (a, b)}
//   call (retval), %rd1, (a), prototype;   may go to every function of that shape whose address is taken somewhere
#pragma once

#include "emulator/ir/device_library.hpp"
#include "emulator/ir/module.hpp"

namespace warplens::ir {

struct CallOperands {
  std::span<const Operand> results;
  const Operand* target = nullptr; ///< a function or a register; nullptr: the operands make no call
  std::span<const Operand> arguments;
  const Operand* table = nullptr; ///< the .calltargets or .callprototype of an indirect call
};

CallOperands call_operands(const Function& function, const Instruction& call);

bool is_call(const Instruction& instruction);

/// The function that a name stands for: the one that an alias names.
std::uint32_t definition_of(const Module& module, std::uint32_t function);

/// Where calls of a module may go.
class Callees {
public:
  explicit Callees(const Module& module);

  /// Indices of the module's functions: the one of a direct call, with a body or without; those with a body of an
  /// indirect one. Nobody for what check() does not take.
  [[nodiscard]] std::vector<std::uint32_t> of(const Function& caller, const Instruction& call) const;

private:
  const Module& module_;
  std::vector<bool> addressed_; ///< by function: does anybody take its address?
};

} // namespace warplens::ir
