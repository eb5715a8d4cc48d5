// SPDX-License-Identifier: Apache-2.0
// Accesses of one instruction that are counted together, sixteen at a time (batch_functions.hpp). What the rules need
// is computed once, when it is first asked for.
//
//   AccessBatch batch(rows);
//   batch.taken() == 0xffff                                   // the others are counted one by one
//   batch.counts(Group::warp)->sectors.of[3]                  // distinct sectors of access 3
#pragma once

#include "analyzers/batch_functions.hpp"

#include <bit>
#include <optional>

namespace warplens::analyzers {

class AccessSite;

class AccessBatch {
public:
  /// Takes the accesses whose lanes are near each other, and aligned to their width, a power of two of at most 32.
  explicit AccessBatch(const exec::AccessRows& rows, const BatchFunctions& by = batch_functions().front());
  AccessBatch(const AccessBatch&) = delete;
  AccessBatch& operator=(const AccessBatch&) = delete;

  const exec::AccessRows& rows;

  /// A bit for each access.
  [[nodiscard]] std::uint32_t taken() const { return taken_; }
  /// Those of which all lanes take part.
  [[nodiscard]] std::uint32_t full() const { return full_; }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(std::popcount(taken_)); }
  /// Does not take these.
  void leave_out(std::uint32_t accesses);

  /// How many lanes of each take part; 0 of accesses that are not taken.
  [[nodiscard]] const BatchNumbers& lanes() const { return lanes_; }
  /// The counts of each group; 0 of accesses that are not taken.
  [[nodiscard]] const GroupCounts* counts(Group group);
  [[nodiscard]] BatchSums sums(Group group, const Moved& moved);
  /// Of whole warps that move sectors.
  [[nodiscard]] const BatchSums& sums_of_warps();
  /// Accesses that are taken, and of which lanes have the same address.
  [[nodiscard]] std::uint32_t with_equal_lanes();
  /// As BatchFunctions::fullest_cells() and fullest_lanes().
  void fullest_cells(Group group, std::uint32_t shift, std::uint32_t last, BatchNumbers* fullest);
  void fullest_lanes(Group group, std::uint32_t shift, std::uint32_t last, BatchNumbers* fullest) const;
  /// Those of `accesses` of which all lanes take part, and the first two lanes of no request of `lanes` lanes have
  /// consecutive words: no request has its words in order.
  [[nodiscard]] std::uint32_t out_of_order(std::uint32_t lanes) const;
  /// Adds the patterns of the accesses that are taken.
  void add_patterns(AccessSite& site);

private:
  void sort();

  const BatchFunctions& by_;
  std::uint32_t taken_ = 0, full_ = 0;
  bool is_sorted_ = false, counted_[3]{};
  std::optional<BatchSums> sums_of_warps_;
  BatchNumbers masks_, lanes_; ///< 0: not taken
  LaneNumbers keys_, sorted_[3];
  GroupCounts counts_[4 + 2 + 1]; ///< of the quarters, the halves, the warp
};

} // namespace warplens::analyzers
