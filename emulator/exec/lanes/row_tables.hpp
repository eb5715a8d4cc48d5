// SPDX-License-Identifier: Apache-2.0
// Compiled code of large kernels says with tables which rows it holds as sequences where warps enter and leave it:
// code for that at each entry and exit would take most of the time of the compiler.
#pragma once

#include "emulator/exec/state/warp.hpp"

namespace warplens::exec {

/// A row that is an arithmetic sequence over the warp, or one in each half of it.
struct SequenceRow {
  std::uint32_t offset;
  std::uint32_t bytes; ///< of a lane; 0: a predicate
  std::uint32_t slot;  ///< index of the first value of the first half; that of the other half follows
  std::uint16_t whole;
  std::uint16_t given; ///< known, so that it is not checked
  std::int64_t stride;
};

/// The first value of a sequence, in the low bytes.
struct alignas(16) SequenceSlot {
  std::uint64_t words[2];
};

struct SequenceTable {
  const SequenceRow* rows;
  std::uint64_t count;
  std::uint64_t needs_all; ///< also where one is no such sequence, the first values of the others are needed
};

/// Finds the first values of rows in memory. Whether the active lanes of all rows are such sequences.
using FetchSequences = bool (*)(Warp* warp, const SequenceTable* table, SequenceSlot* slots);
/// Puts rows, in the active lanes, into memory.
using StoreSequences = void (*)(Warp* warp, const SequenceTable* table, const SequenceSlot* slots);

} // namespace warplens::exec
