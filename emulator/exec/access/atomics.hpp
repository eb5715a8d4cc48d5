// SPDX-License-Identifier: Apache-2.0
// atom and red: lane by lane, in lane order; vectors element by element.
#pragma once

#include "emulator/exec/state/warp.hpp"
#include "emulator/isa/table.hpp"

namespace warplens::exec {

/// The handler of an `atom` or `red` spelling on so many elements per lane; nullptr where there is none. Operands:
/// src[0] addresses; of one element dst[0] the old value (atom), src[1] and src[2] values; of a vector MemorySite::to
/// and MemorySite::from.
Handler atomic_handler(const isa::Spelling& spelling, int elements);

/// The operation on one integer of 32 or 64 bits in each lane of a mask, at host addresses. The values become the old
/// ones if `returns`. `locked`: others may write at the same time. nullptr where there is none, and for
/// compare-and-swap.
using AtomicLanes = void (*)(const std::uint64_t* places, void* values, Mask mask, bool locked, bool returns);
AtomicLanes atomic_lanes(const isa::Spelling& spelling);

/// Applies the operation of a spelling to one element, such as cp.reduce.async.bulk's; `locked`: others may write it at
/// the same time. nullptr where there is none.
using Reducer = void (*)(std::byte* place, const std::byte* value, bool locked);
Reducer reducer(const isa::Spelling& spelling);

} // namespace warplens::exec
