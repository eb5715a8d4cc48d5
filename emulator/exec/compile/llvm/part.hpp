// SPDX-License-Identifier: Apache-2.0
// A program's ops become one or two functions: parts. The first part has everything that can be compiled. Warps enter
// it at loops, and after an op that the interpreter runs. Diverged warps enter at either side of a branch, and where
// paths meet. An entry in the middle of a loop would keep it from being optimised as a loop; therefore the ops of loops
// are in the second part again, which returns where one begins.
#pragma once

#include "emulator/exec/compile/llvm/region.hpp"

namespace warplens::exec::compile {

class Part {
public:
  /// Enters at `heads`, and does not go on to ops in `elsewhere`.
  Part(const Region& region, std::vector<std::uint32_t> heads, llvm::BitVector elsewhere);

  [[nodiscard]] const std::vector<std::uint32_t>& heads() const { return heads_; }
  [[nodiscard]] bool enters(std::uint32_t op) const;
  /// Whether warps enter other code at the op.
  [[nodiscard]] bool elsewhere(std::uint32_t op) const { return elsewhere_.test(op); }
  [[nodiscard]] bool leads(std::uint32_t op) const { return leaders_.test(op); }
  [[nodiscard]] bool reachable(std::uint32_t op) const { return reachable_.test(op); }
  /// The rows that may have been written since the warp entered.
  [[nodiscard]] const llvm::BitVector& dirty_before(std::uint32_t op) const { return dirty_[op]; }

private:
  void find_reachable(const Region& region);
  void find_leaders(const Region& region);
  void find_dirty(const Region& region);

  std::vector<std::uint32_t> heads_; ///< sorted
  llvm::BitVector elsewhere_, leaders_, reachable_;
  std::vector<llvm::BitVector> dirty_;
};

/// The parts of a program; none if nothing is worth compiling.
std::vector<Part> parts_of(const Region& region);

} // namespace warplens::exec::compile
