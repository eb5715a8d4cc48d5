// SPDX-License-Identifier: Apache-2.0
// The 32-byte sectors that a warp access touches, and their lanes. They are computed once; every coalescing rule then
// derives its transactions from them. Gives the same counts as the reference implementation in coalescing.hpp, twenty
// times as fast.
//
//   Footprint footprint(addresses, mask, 4);              // 32 lanes of 4 bytes, 8 bytes apart, from 0 on
//   footprint.sectors() == 8, footprint.distinct_addresses() == 32
//   FastCoalescing(*rules::find_coalescing_rule("1.2")).transactions(footprint).of(128) == 2
#pragma once

#include "analyzers/coalescing.hpp"
#include "analyzers/sorted_lanes.hpp"

#include <span>

namespace warplens::analyzers {

/// Between a sector and a line: what some rules transfer.
constexpr std::uint32_t kBlockBytes = 64;

/// One warp access, its lanes sorted by address.
///
/// Lanes that touch two sectors (misaligned words, or words wider than a sector) and lanes that are gigabytes apart
/// cannot be sorted: such an access is not `compact()`, and its results are computed lane by lane.
class Footprint {
public:
  struct Line {
    std::uint64_t number;  ///< address / kLineBytes
    std::uint32_t sectors; ///< bit i: 32 bytes at 32 * i are touched
  };
  /// Bit i: the i-th of the sorted lanes of a group is the first one at its address, in its 32 bytes, 64 bytes, 128
  /// bytes.
  struct Starts {
    exec::Mask address, sector, block, line;
  };

  /// `lane_bytes` from 1 to 128; more counts as 128. `mask` may be 0.
  Footprint(const std::uint64_t* addresses, exec::Mask mask, std::uint32_t lane_bytes);

  /// Distinct 32-byte sectors of the whole warp.
  [[nodiscard]] std::uint32_t sectors() const { return sectors_; }
  /// Distinct blocks of 64 bytes of the whole warp.
  [[nodiscard]] std::uint32_t block_total() const { return block_total_; }
  /// Distinct 128-byte lines of the whole warp.
  [[nodiscard]] std::uint32_t line_total() const { return line_total_; }
  /// The number of distinct addresses of the active lanes.
  [[nodiscard]] std::uint32_t distinct_addresses() const { return distinct_; }
  /// The lines of the whole warp, ascending; each call computes them again.
  [[nodiscard]] std::span<const Line> lines() const;

  /// Of a compact access of all lanes: their addresses, ascending, and their number.
  std::size_t sorted_addresses(std::uint64_t (&sorted)[exec::kWarpSize]) const;

  [[nodiscard]] bool compact() const { return compact_; }
  /// Of compact accesses: whether each lane is aligned to its width, a power of two.
  [[nodiscard]] bool aligned() const { return aligned_; }
  /// Of compact accesses: the lanes by their distance from a multiple of kAlignmentUnit.
  [[nodiscard]] const SortedLanes& sorted() const { return sorted_; }
  /// Of compact accesses, for requests of 8, 16 or 32 lanes. Groups without an active lane have no bits.
  [[nodiscard]] Starts starts(Group group) const {
    return group == Group::warp ? of_warp_ : group == Group::half ? of_halves_ : starts_of(group);
  }

  const std::uint64_t* addresses; ///< as given to the constructor
  exec::Mask mask;
  std::uint32_t lane_bytes;

private:
  static constexpr std::uint64_t kAlignmentUnit = 4096; // no segment of memory, no row of banks is longer
  static constexpr std::size_t kMaxLines = 2 * std::size_t{exec::kWarpSize}; // a lane touches at most two

  void count_sorted();
  [[nodiscard]] Starts starts_of(Group group) const;
  void count_lane_by_lane();
  void add_line(std::uint64_t sector) const;

  bool compact_ = false, aligned_ = false;
  std::uint32_t sectors_ = 0, block_total_ = 0, line_total_ = 0, distinct_ = 0;
  std::uint64_t base_;         ///< what the keys count from
  exec::Mask active_[3];       ///< by Group: all lanes of the groups that have an active one
  SortedLanes sorted_;         ///< of a compact access
  Starts of_halves_, of_warp_; ///< likewise
  mutable std::size_t line_count_ = 0;
  mutable Line lines_[kMaxLines]; // filled only by lines(), which has few callers
};

} // namespace warplens::analyzers
