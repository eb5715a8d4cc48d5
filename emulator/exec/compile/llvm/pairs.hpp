// SPDX-License-Identifier: Apache-2.0
// Which code two warps of a block run together, op by op: loops whose speed is that of a chain of results, each of
// which needs the one before, so that the processor would wait.
//
//   LOOP: fma.rn.f32 %f1, %f1, %f2, %f3; fma.rn.f32 %f1, %f1, %f2, %f3; …; @%p1 bra LOOP;
//
// Each warp must do exactly what it would do if the first one ran to the end of its turn before the second one begins
// its own. Therefore two warps begin together only where both begin their turns, and part before the first op that
// reads or writes memory, or anything else that another warp may see or change.
#pragma once

#include "emulator/exec/compile/llvm/part.hpp"
#include "emulator/exec/compile/llvm/shapes.hpp"

namespace warplens::exec::compile {

struct Target;

/// The code that pairs of warps run, which begins where one of `parts` does; nothing if it is not worth it. `anyhow`:
/// also where it is not faster.
std::optional<Part> pairs_of(const Region& region, const Shapes& shapes, const std::vector<Part>& parts, Target& target,
                             bool anyhow);
/// The ops before which pairs always part, and which compiled code may contain: warps should enter it there.
std::vector<std::uint32_t> partings_of(const Region& region, const Part& pairs);

} // namespace warplens::exec::compile
