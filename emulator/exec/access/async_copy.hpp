// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies and stores: cp.async, cp.async.bulk, cp.reduce.async.bulk, st.async, red.async and st.bulk. Here
// they complete with the instruction, so waiting for their groups takes no time.
//
// An instruction with several addresses becomes several consecutive ops, each with its own site and address. The first
// op does the work and returns the op after the last one.
//
//   cp.async.cg.shared.global [d], [s], 16   ->   Op{async_copy, s}, Op{part_of_instruction, d}
#pragma once

#include "emulator/exec/access/access.hpp"
#include "emulator/exec/access/atomics.hpp"

namespace warplens::exec {

/// Where a warp sees an offset in the shared memory of a block of its cluster: as Cluster::place() says.
std::uint64_t place_in_block(const Warp* warp, const Cta& block, std::uint64_t offset);

/// The handler of ops that belong to the op before them; never called.
const Op* part_of_instruction(const Op*, Warp*);

/// cp.async: source, destination. src[1], depending on `extra`, is a row of byte counts to read (the rest is zero), or
/// a predicate: lanes where it is true read nothing.
/// The destination's `extra` is 1 if the copy bypasses the first-level cache (.cg).
enum class CopySource : std::uint32_t { all, bytes, unless };
const Op* async_copy(const Op*, Warp*);

/// cp.async.bulk: source, destination and, with kCompletes, mbarrier. src[1] of the source: sizes; src[1] of the
/// destination: CTAs (kMulticast) or bytes of 16 (kMasked). Reductions have target `reducer` of the destination.
enum BulkOption : std::uint32_t { kCompletes = 1, kMulticast = 2, kMasked = 4, kBulkReduces = 8 };
const Op* bulk_copy(const Op*, Warp*);

/// st.async and red.async: destination, mbarrier. The rows of the values are MemorySite::from; `extra`: their number.
const Op* async_store(const Op*, Warp*);

/// st.bulk: zeros. src[1]: sizes (64 bits).
const Op* bulk_store(const Op*, Warp*);

} // namespace warplens::exec
