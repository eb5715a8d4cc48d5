// SPDX-License-Identifier: Apache-2.0
// Atomics as the compiler passes them on to the memory: ptxas, for compute capability 9.0, as an H200's counters show
// (tests/data/hardware/counted_atomics.jsonl).
//
// - An atom whose result is not used is a red, except exch and cas.
// - Where all lanes have the same address, and the compiler can tell, one lane acts for all of the warp: for 32-bit
//   integer additions, and for min, max, and, or and xor without a result.
// - A shared-memory addition of 1 without a result counts the lanes of each address at once.
//
//   atom.global.add.u32 %r1, [counter], 1;   // %r1 is not used: a reduction, one sector
#pragma once

#include "emulator/exec/state/events.hpp"

#include <vector>

namespace warplens::analyzers {

/// Whether it does so in shared memory, which has units for 32-bit integers only: the machine code of other atomics
/// repeats a compare-and-swap until no other lane was faster. Minima and maxima do so only if they change the word.
bool repeats_swaps(const ir::Instruction& instruction);

class CompiledAtomics {
public:
  /// Requires check().
  CompiledAtomics(const ir::Module& module, const ir::Function& function);

  /// The access that reaches the memory: `access`, or a changed copy in `copy`. Its addresses are those of `access`.
  [[nodiscard]] const exec::Access& compiled(const exec::Access& access, exec::Access& copy) const {
    const bool atomic = access.kind == exec::AccessKind::atomic || access.kind == exec::AccessKind::reduction;
    if (!atomic || access.instruction >= ways_.size()) [[likely]]
      return access;
    return changed(access, copy);
  }
  const exec::Access& compiled(exec::Access&& access, exec::Access& copy) const = delete; // the result may be `access`

  /// The same for several accesses; `masks` has room for theirs.
  [[nodiscard]] exec::AccessRows compiled(const exec::AccessRows& rows, exec::Mask* masks) const;

private:
  struct Way {
    bool reduction = false; ///< has no result that is used
    bool one_lane = false;  ///< one lane for all, if all have the same address
    bool counts = false;    ///< in shared memory, one lane for all of the same address
  };
  [[nodiscard]] const exec::Access& changed(const exec::Access& access, exec::Access& copy) const;
  const exec::Access& changed(exec::Access&& access, exec::Access& copy) const = delete;
  std::vector<Way> ways_; ///< by instruction; empty without atomics
};

} // namespace warplens::analyzers
