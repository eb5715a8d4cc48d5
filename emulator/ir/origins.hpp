// SPDX-License-Identifier: Apache-2.0
// What the value of a register depends on, through all instructions that may have written it.
//
//   mov.u32 %r1, %tid.x; ld.global.u32 %r2, [%rd1]; add.u32 %r3, %r1, %r2;
//   OriginFinder(module, function).of(r3)   // lane and memory
#pragma once

#include "emulator/ir/effects.hpp"

#include <vector>

namespace warplens::ir {

struct Origins {
  bool lane = false;      ///< special registers that differ between the lanes of a warp
  bool memory = false;    ///< data that the kernel loads, except its parameters
  bool own_value = false; ///< instructions that may give each lane a value of its own, whatever they read

  /// Whether a compiler can tell that all lanes have the same value.
  [[nodiscard]] bool uniform() const { return !lane && !own_value; }
  void add(const Origins& other);
};

class OriginFinder {
public:
  /// Requires check(). `module` is used only here; `function` must outlive it.
  OriginFinder(const Module& module, const Function& function);

  [[nodiscard]] Origins of(std::uint32_t reg) const;
  /// Of the registers of the instruction's address.
  [[nodiscard]] Origins of_address(const Instruction& instruction) const;
  /// By instruction.
  [[nodiscard]] const std::vector<Effect>& effects() const { return effects_; }

private:
  const Function& function_;
  std::vector<Effect> effects_;
  std::vector<Origins> own_;                        ///< by instruction: without the registers that it reads
  std::vector<std::vector<std::uint32_t>> writers_; ///< by register: the instructions
};

} // namespace warplens::ir
