// SPDX-License-Identifier: Apache-2.0
// Sixteen accesses side by side: number i of a row belongs to access i, and each lane has a row. Steps that compare
// lanes are then vector instructions without exchanges between elements. Compiled once per processor level
// (batch_functions.cpp), best first in batch_functions().
//
//   const BatchFunctions& f = batch_functions().front();
//   f.arrange(rows, keys); f.sort(keys, sorted); f.count(sorted, Group::half, masks, counts);
#pragma once

#include "analyzers/sorted_lanes.hpp"

#include <cstddef>
#include <span>
#include <string_view>

namespace warplens::analyzers {

/// A number for each access of a batch.
struct alignas(64) BatchNumbers {
  std::int32_t of[exec::AccessRows::kMost];
};
struct LaneNumbers {
  BatchNumbers lane[exec::kWarpSize];
};

/// What the lanes of a group touch.
struct GroupCounts {
  BatchNumbers distinct; ///< addresses
  BatchNumbers sectors, blocks, lines;
  BatchNumbers wide; ///< lines of which the group touches more than one sector
};

/// The sums over the groups of all accesses, …
struct BatchSums {
  std::uint32_t distinct = 0, sectors = 0, blocks = 0, lines = 0, wide = 0;
  std::uint32_t ideal = 0; ///< … and the bytes that each access has to move at least
};

/// How a coalescing rule moves what the groups touch: the bytes are sums of counts with these factors.
struct Moved {
  std::int32_t sector = 0, block = 0, line = 0, wide = 0;
  std::uint32_t word = 4, segment = 32, least = 32; ///< as in FastCoalescing::Way
};

struct BatchFunctions {
  std::string_view name; ///< "v3"
  /// The addresses as keys: distances from a multiple of 4096, not negative. Inactive lanes get the key of an active
  /// one of their quarter-warp, or else of their half. Returns the accesses whose lanes are near enough and at
  /// multiples of their width, a power of two: a bit for each. The keys of the others are undefined.
  std::uint32_t (*arrange)(const exec::AccessRows& rows, LaneNumbers& keys);
  /// Sorts the keys of each quarter-warp, half and warp: by Group.
  void (*sort)(const LaneNumbers& keys, LaneNumbers (&sorted)[3]);
  /// Counts what each group touches, group by group; 0 for groups without a lane in the mask.
  void (*count)(const LaneNumbers& sorted, Group group, const BatchNumbers& masks, GroupCounts* counts);
  /// Adds up the counts of so many groups.
  void (*add_up)(const GroupCounts* counts, std::size_t groups, const Moved& moved, BatchSums& sums);
  /// Each key has a cell, `key >> shift & last`, with `last` at most 31. Finds how many different blocks of
  /// `1 << shift` bytes are in the fullest cell of each group.
  void (*fullest_cells)(const LaneNumbers& sorted, Group group, const BatchNumbers& masks, std::uint32_t shift,
                        std::uint32_t last, BatchNumbers* fullest);
  /// The same, but counts lanes in the mask; `keys` are not sorted.
  void (*fullest_lanes)(const LaneNumbers& keys, Group group, const BatchNumbers& masks, std::uint32_t shift,
                        std::uint32_t last, BatchNumbers* fullest);
  /// As first_lanes() of sorted_lanes.hpp: of the lanes in the mask, the first of each address.
  void (*first_lanes)(const LaneNumbers& keys, const BatchNumbers& masks, BatchNumbers& firsts);
  /// The accesses that have two pairs of lanes (0 and 1, 2 and 3, …) in the mask with different distances.
  std::uint32_t (*with_unlike_pairs)(const LaneNumbers& keys, const BatchNumbers& masks);
  /// The accesses for which a - b is a number, …
  std::uint32_t (*differ_by)(const BatchNumbers& a, const BatchNumbers& b, std::int32_t by);
  /// … or at least one of these numbers.
  std::uint32_t (*differ_by_at_least)(const BatchNumbers& a, const BatchNumbers& b, const BatchNumbers& by);
};

/// Those that this processor supports, best first; never empty.
std::span<const BatchFunctions> batch_functions();

constexpr std::uint32_t lanes_of(Group group) { return 8u << static_cast<unsigned>(group); }

} // namespace warplens::analyzers
