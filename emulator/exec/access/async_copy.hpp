// Copies and stores that a GPU makes on the side: cp.async, cp.async.bulk, cp.reduce.async.bulk, st.async, red.async
// and st.bulk. Here they are complete when the instruction is, so waiting for their groups takes no time.
//
// An instruction with several addresses is several ops in a row, each with a site and an address of its own; the first
// one does the work and returns what follows the last.
//
//   cp.async.cg.shared.global [d], [s], 16   ->   Op{async_copy, s}, Op{part_of_instruction, d}
#pragma once

#include "emulator/exec/access/access.hpp"
#include "emulator/exec/access/atomics.hpp"

namespace warplens::exec {

/// What an op that belongs to the one before it would run as; never called.
const Op* part_of_instruction(const Op*, Warp*);

/// cp.async: source, destination. src[1], where `extra` says so, is a row of bytes to read (the rest is zero), or a
/// predicate: lanes where it is true read nothing.
enum class CopySource : std::uint32_t { all, bytes, unless };
const Op* async_copy(const Op*, Warp*);

/// cp.async.bulk: source, destination and, where kCompletes, mbarrier. src[1] of the source: sizes; src[1] of the
/// destination: CTAs (kMulticast) or bytes of 16 (kMasked). Reductions have target `reducer` of the destination.
enum BulkOption : std::uint32_t { kCompletes = 1, kMulticast = 2, kMasked = 4, kBulkReduces = 8 };
const Op* bulk_copy(const Op*, Warp*);

/// st.async and red.async: destination, mbarrier. The rows of the values are MemorySite::from; `extra`: their number.
const Op* async_store(const Op*, Warp*);

/// st.bulk: zeros. src[1]: sizes (64 bits).
const Op* bulk_store(const Op*, Warp*);

} // namespace warplens::exec
