// SPDX-License-Identifier: Apache-2.0
// The registers that may be read before they are written, and what each instruction does with them: for initcheck.
//
//   @%p1 mov.u32 %r1, 7;  add.u32 %r2, %r1, 1;  st.global.u32 [%rd1], %r2;   ->   registers %r1, %r2; the first
//   instruction writes %r1, the second one computes %r2 from it, the third one stores %r2
//
// All other registers are written on every path before they are read. In most kernels, these are all.
#pragma once

#include "emulator/ir/module.hpp"

#include <map>

namespace warplens::ir {

/// How results depend on sources. Compilers move values that they do not need, and compute with them before they know
/// whether they need the result: only what decides a branch, is an address or leaves the thread counts.
enum class Dependence : std::uint8_t {
  none,   ///< what it reads is needed
  moves,  ///< the result is one of the sources, or made of them
  either, ///< some values of one source make the others irrelevant: and, or
  every,  ///< computes with all sources
  other_lanes
};
/// Requires check().
Dependence dependence_of(const Module& module, const Instruction& instruction);

struct UnwrittenUse {
  /// A register gets a value that depends on others. Several flows to one register: on each of them.
  struct Flow {
    std::uint32_t to = 0;
    std::vector<std::uint32_t> from;
    bool any = false;      ///< it is unwritten if one of them is; false: if all of them are
    bool computes = false; ///< false: only moves
  };
  std::uint32_t guard = kNone;
  std::vector<std::uint32_t> needs, writes; ///< values that decide what happens; results that depend on none of these
  std::vector<Flow> flows;
  std::vector<std::uint32_t> stored; ///< to memory that other blocks can read
  [[nodiscard]] bool empty() const {
    return guard == kNone && needs.empty() && writes.empty() && flows.empty() && stored.empty();
  }
};

/// Registers are numbers in `registers`, not in the function.
struct Unwritten {
  std::vector<std::uint32_t> registers;         ///< indices into Function::registers, ascending
  std::map<std::uint32_t, UnwrittenUse> uses;   ///< by instruction
  std::vector<std::vector<std::uint32_t>> part; ///< those of each part; without parts, one list
  /// By instruction: bit e is set if nothing reads element e of its first operand, a destination.
  std::vector<std::uint8_t> unread;
  std::vector<bool> followed; ///< by index in Function::registers: those that can be followed, see unwritten()
};

/// Requires check(). Registers of functions that are recursive, vector registers, and registers that all functions
/// share are left out.
Unwritten unwritten(const Module& module, const Function& function);

} // namespace warplens::ir
