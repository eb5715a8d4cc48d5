// SPDX-License-Identifier: Apache-2.0
// The 32 lanes of a warp, sorted by a key. Bit masks show where a new value or block begins in the sorted order. This
// counts irregular accesses without branches that depend on the addresses.
//
//   keys of 32 lanes: 12, 8, 8, 132, …
//   SortedLanes lanes(keys);
//   SortedLanes::Starts starts;
//   lanes.starts(Group::warp, {~0, ~31, ~63, ~127}, ~0u, starts);
//   std::popcount(starts[0]) distinct keys, std::popcount(starts[3]) distinct blocks of 128
#pragma once

#include "emulator/exec/state/events.hpp"

#include <array>
#include <cstdint>

namespace warplens::analyzers {

using LaneKeys = std::array<std::int32_t, exec::kWarpSize>;

/// Computes the distances of the active lanes from `base`. Inactive lanes get the distance of an active lane of their
/// quarter-warp, or else of their half, so that they add no distinct key to any group. `mask` must not be 0. Returns
/// false if an active lane is 2 GiB or more away; the keys are then undefined.
bool distances(const std::uint64_t* addresses, exec::Mask mask, std::uint64_t base, LaneKeys& keys);

/// Lanes that are sorted together: 8, 16 or all.
enum class Group : std::uint8_t { quarter, half, warp };

/// All lanes of the groups of this size that have an active lane.
constexpr exec::Mask whole_groups(exec::Mask mask, std::uint32_t lanes) {
  const exec::Mask group = lanes == 32 ? ~exec::Mask{0} : (exec::Mask{1} << lanes) - 1;
  exec::Mask all = 0;
  for (std::uint32_t first = 0; first < exec::kWarpSize; first += lanes)
    if (mask & group << first) all |= group << first;
  return all;
}

/// The lanes of each group, ascending, one group after the other.
class SortedLanes {
public:
  SortedLanes() {} // unsorted: call sort() before any query
  explicit SortedLanes(const LaneKeys& keys) { sort(keys); }
  void sort(const LaneKeys& keys);

  /// For each of `bits`, the positions where a new value begins. Bit i: the i-th of the sorted lanes is the first of
  /// its group, or differs from the previous one in one of these bits; without the low bits, this is the begin of a new
  /// block of keys. Bits that are not in `active` stay 0.
  using Starts = std::array<exec::Mask, 4>;
  void starts(Group group, const std::int32_t (&bits)[4], exec::Mask active, Starts& result) const;
  /// Each key has a cell, `key >> shift & last`, with `last` at most 31. Returns how many of the `counted` keys
  /// (by sorted position, as in starts()) are in the fullest cell of each group, by its first quarter-warp.
  [[nodiscard]] std::array<std::uint8_t, 4> fullest_cells(Group group, exec::Mask counted, std::uint32_t shift,
                                                          std::uint32_t last) const;
  [[nodiscard]] LaneKeys keys(Group group) const;

private:
  struct alignas(32) Matrix {
    std::int32_t row[4][8]; ///< column after column
  };
  Matrix sorted_[3]; ///< by Group
};

/// The lanes of a warp where their order does not matter, which saves the sorting.
class UnsortedLanes {
public:
  UnsortedLanes(const std::uint64_t* lane_addresses, exec::Mask lanes);
  /// Whether the addresses of all active lanes are. `power`: of two.
  [[nodiscard]] bool are_multiples_of(std::uint32_t power) const { return (all_bits_ & (power - 1)) == 0; }
  /// As SortedLanes::fullest_cells(), of the active lanes.
  [[nodiscard]] std::array<std::uint8_t, 4> fullest_cells(Group group, std::uint32_t shift, std::uint32_t last) const;

  const std::uint64_t* addresses; ///< as given to the constructor
  exec::Mask mask;

private:
  alignas(32) std::int32_t keys_[4][8];
  alignas(32) std::int32_t active_[4][8]; ///< 1 or 0
  std::uint32_t all_bits_;
};

/// Of the active lanes of each address, the first. Addresses are multiples of 4 within 256 KiB; `mask` must not be 0.
exec::Mask first_lanes(const std::uint64_t* addresses, exec::Mask mask);

} // namespace warplens::analyzers
