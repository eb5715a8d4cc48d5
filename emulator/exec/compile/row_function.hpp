// SPDX-License-Identifier: Apache-2.0
// The functions that compiled kernels consist of, as the bitcode of a level describes them. The compiler reads these
// tables from the bitcode: nothing of them is in the program.
//
// A function takes an Op and a Warp like a handler, but its Op is a constant and its Warp a local variable with the
// layout of a warp: after inlining, each row is at a fixed place of that variable, and becomes vector registers.
#pragma once

#include "emulator/exec/state/warp.hpp"
#include "emulator/isa/types.hpp"

namespace warplens::exec {

/// An instruction that a functor defines, for all lanes or for lane 0. nullptr: it must run as a handler.
struct RowFunction {
  void (*all)(const Op* op, Warp* rows);
  void (*first)(const Op* op, Warp* rows);
  std::uint8_t destinations, sources;
  std::uint8_t bytes[7]; ///< of a lane of each destination, then of each source; 0: a predicate
};

/// The variants of a line of the instruction table.
struct RowFunctions {
  const RowFunction* variants;
  std::uint64_t count;
};

/// What a memory function (emulator/exec/compile/memory_rows.cpp) is told of its op besides its rows; all constant.
struct AccessFacts {
  std::uint32_t site; ///< its index
  isa::Space space{};
  bool watched = false;
};

} // namespace warplens::exec
