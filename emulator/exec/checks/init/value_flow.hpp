// SPDX-License-Identifier: Apache-2.0
// Follows undefined values through the registers of a warp: an instruction passes them on, drops them, or needs them.
// Guards and addresses are needed, and operands of all that does more than compute. The values that a store writes are
// left to the caller, who knows where they go.
//
//   flow.instruction(warp, 7, registers);   for (UnwrittenLoad* load : flow.take_needed()) …
#pragma once

#include "emulator/exec/checks/init/value_rules.hpp"
#include "emulator/exec/state/checker.hpp"
#include "emulator/ir/effects.hpp"

#include <utility>

namespace warplens::exec::init {

/// Removes the values whose loads have been reported: one report of a load is enough.
void forget_reported(UndefinedRegisters& registers);

class ValueFlow {
public:
  explicit ValueFlow(const Program& program);

  /// The registers that an instruction reads and writes.
  [[nodiscard]] RegisterBits registers_of(std::uint32_t index) const { return bits_[index]; }
  /// An instruction that runs next. The results of shuffles wait for shuffled().
  void instruction(const Warp& warp, std::uint32_t index, UndefinedRegisters& registers);
  /// A shuffle that has run. Its distance and lanes must still be in their registers.
  void shuffled(const WarpStep& step, UndefinedRegisters& registers);
  /// The loads whose values have been needed since the last call, in this order.
  std::vector<UnwrittenLoad*> take_needed() { return std::exchange(needed_, {}); }

private:
  [[nodiscard]] bool concerns(std::uint32_t index, const UndefinedRegisters& registers) const;
  [[nodiscard]] Mask acting(const Warp& warp, const ir::Instruction& instruction) const;
  void need(std::uint32_t reg, Mask lanes, const UndefinedRegisters& registers);
  void need_operands(std::uint32_t index, ValueRule rule, Mask lanes, const UndefinedRegisters& registers);
  void write(std::uint32_t index, ValueRule rule, Mask lanes, const Warp& warp, UndefinedRegisters& registers);
  void put(std::uint32_t reg, Mask lanes, const UndefinedRow& values, UndefinedRegisters& registers);

  const Program& program_;
  const ir::Function& function_;
  std::vector<ir::Effect> effects_;
  std::vector<ValueRule> rules_;   ///< by instruction
  std::vector<RegisterBits> bits_; ///< likewise
  std::vector<UnwrittenLoad*> needed_;
};

} // namespace warplens::exec::init
