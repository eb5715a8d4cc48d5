// SPDX-License-Identifier: Apache-2.0
// The passes of a warp access over the banks of shared memory, computed literally as a rule defines them.
//
//   Passes p = passes(*rules::find_bank_rule("5.x+"), offsets, mask, 4);   // loads of 32 lanes, 8 bytes apart
//   p.passes == 2, p.fewest == 1, p.conflicts() == 1, p.ways == 2
#pragma once

#include "analyzers/coalescing.hpp"
#include "emulator/exec/state/events.hpp"
#include "rules/banks.hpp"

#include <cstdint>

namespace warplens::analyzers {

/// The cost of one warp access. If a rule leaves the hardware a choice (one_word), both extremes are given.
struct Passes {
  std::uint32_t passes = 0; ///< wavefronts, for the best choice
  std::uint32_t worst = 0;  ///< the same for the worst choice
  std::uint32_t fewest = 0; ///< the minimum for the width of the access and its active lanes
  std::uint32_t ways = 0;   ///< of the worst request: 1 is free of conflicts
  std::uint32_t worst_ways = 0;
  [[nodiscard]] std::uint32_t conflicts() const { return passes - fewest; }
  [[nodiscard]] std::uint32_t worst_conflicts() const { return worst - fewest; }
};

/// The kind under which an access is served. A load of matrices (ldmatrix) takes a pass for each matrix, even if all
/// rows have the same address (measured on compute capability 9.0), so it is served like a store.
exec::AccessKind kind_for_banks(const ir::Function& function, const exec::Access& access);

/// Whether all active lanes i and i^1 have the same address, or all active lanes i and i^2: see merge_equal_pairs.
bool equal_pairs(const std::uint64_t* offsets, exec::Mask mask);

/// Whether a pass serves one lane of each bank, regardless of the accesses of the other lanes.
bool one_lane_a_bank(const rules::Banks& rule, exec::AccessKind kind);

/// Works for any rule; the reference for the tests of the fast implementation (fast_banks.hpp). `offsets` [32] in
/// bytes, valid for the lanes in `mask`; `lane_bytes` from 1 to 16.
Passes passes(const rules::Banks& rule, const std::uint64_t* offsets, exec::Mask mask, std::uint32_t lane_bytes,
              Service service = {});

} // namespace warplens::analyzers
