// SPDX-License-Identifier: Apache-2.0
// A program's ops become several functions: parts. The first part of a small program has everything that can be
// compiled. Warps enter it at loops, and after an op that the interpreter runs. Diverged warps enter parts of their
// own, at either side of a branch and where paths meet, which return where another one begins. As entries of the first
// part, they would keep its loops from being optimised, and the time to compile it would grow with the square of their
// number.
//
// In a large program, each innermost loop is a part, and one more part has everything else. Its rows stay in memory
// from one block of code to the next (in_memory.cpp), so that the time to compile it grows with its length.
#pragma once

#include "emulator/exec/compile/llvm/region.hpp"

namespace warplens::exec::compile {

class Part {
public:
  /// Enters at `heads`, which are sorted, and does not go on to ops in `elsewhere`.
  Part(const Region& region, std::vector<std::uint32_t> heads, llvm::BitVector elsewhere, bool in_memory = false);

  [[nodiscard]] bool in_memory() const { return in_memory_; }

  [[nodiscard]] const std::vector<std::uint32_t>& heads() const { return heads_; }
  [[nodiscard]] bool enters(std::uint32_t op) const;
  /// Whether warps enter other code at the op.
  [[nodiscard]] bool elsewhere(std::uint32_t op) const { return elsewhere_.test(op); }
  [[nodiscard]] const llvm::BitVector& elsewhere() const { return elsewhere_; }
  /// The ops at which warps go on in other code.
  [[nodiscard]] llvm::SmallVector<std::uint32_t, 4> ends() const;
  [[nodiscard]] bool leads(std::uint32_t op) const { return leaders_.test(op); }
  [[nodiscard]] bool reachable(std::uint32_t op) const { return reachable_.test(op); }
  /// As Region::masked_until(), if all of it is in this part.
  [[nodiscard]] std::uint32_t masked_until(const Region& region, std::uint32_t branch) const;
  /// Whether an op of the part reads or writes the row.
  [[nodiscard]] bool touches(std::uint32_t row) const { return touched_.test(row); }
  /// The rows that may have been written since the warp entered.
  [[nodiscard]] const llvm::BitVector& dirty_before(std::uint32_t op) const { return dirty_.at(op); }

  [[nodiscard]] std::size_t saved_rows(const Region& region) const;
  /// Of the compiler, in ops that compute.
  [[nodiscard]] std::size_t work(const Region& region) const;

private:
  void find_reachable(const Region& region);
  void find_leaders(const Region& region);
  void find_dirty(const Region& region);

  std::vector<std::uint32_t> heads_;
  llvm::BitVector elsewhere_, leaders_, reachable_, touched_;
  bool in_memory_;
  std::map<std::uint32_t, llvm::BitVector> dirty_; ///< by reachable op
};

/// The code at the exits grows with the square of a program's length: a part with more saved_rows() has them in memory.
constexpr std::size_t kMostSaved = 1000;
/// LLVM needs a time that grows with the square of the number of accesses, because each variable may be read or written
/// in each of their blocks of code: likewise for a part with more work().
constexpr std::size_t kMostWork = 2000;

/// How large programs are divided.
struct Division {
  bool anyhow = false;        ///< small ones, too
  std::uint32_t length = 256; ///< of a part with rows in memory: the time to compile it grows faster than this
  /// Loops with rows in registers are up to twice as fast, and their compiler takes four times as long: no more
  /// saved_rows() of all of them together.
  std::size_t saved_of_loops = 1600;
};

/// The parts of a program; none if nothing is worth compiling.
std::vector<Part> parts_of(const Region& region, const Division& division);
/// Adds parts that begin at these ops, unless one does, or it is not worth it.
void add_entries(const Region& region, const std::vector<std::uint32_t>& ops, const Division& division,
                 std::vector<Part>& parts);
/// The last op of the innermost loop that begins at `head`; nothing if it contains another one.
std::optional<std::uint32_t> innermost_loop(const Region& region, std::uint32_t head);

} // namespace warplens::exec::compile
