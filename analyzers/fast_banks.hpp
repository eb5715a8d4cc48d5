// SPDX-License-Identifier: Apache-2.0
// A bank rule prepared for many accesses. Computes the same counts as passes() of banks.hpp, several times as fast.
//
//   FastBanks rule(*rules::find_bank_rule("5.x+"));
//   rule.passes(offsets, mask, 4).passes == 2   // 32 lanes, 8 bytes apart
//
// Several rules can share one footprint, whose lanes are sorted once.
#pragma once

#include "analyzers/access_batch.hpp"
#include "analyzers/banks.hpp"
#include "analyzers/footprint.hpp"

#include <bit>
#include <span>

namespace warplens::analyzers {

class FastBanks {
public:
  explicit FastBanks(rules::Banks rule);

  /// The same as analyzers::passes().
  [[nodiscard]] Passes passes(const std::uint64_t* offsets, exec::Mask mask, std::uint32_t lane_bytes,
                              Service service = {}) const;
  [[nodiscard]] Passes passes(const Footprint& access, Service service = {}) const {
    Passes result;
    count(access, service, result);
    return result;
  }
  /// The same under each of the rules, which share what they need to know of the lanes.
  static void count(std::span<const FastBanks> rules, const std::uint64_t* offsets, exec::Mask mask,
                    std::uint32_t lane_bytes, Service service, Passes* results);
  /// Leaves out the accesses that add() cannot count.
  void leave_out(AccessBatch& batch, Service service) const;
  /// Adds the accesses that the batch takes. `ways`, if it is not null: of the worst request of each.
  void add(AccessBatch& batch, Service service, Passes& sum, BatchNumbers* ways = nullptr) const;
  [[nodiscard]] const rules::Banks& rule() const { return rule_; }

private:
  /// Of the words of one size that lie on multiples of it. Such a word takes whole banks, or a part of one; a cell is
  /// what all banks of a word have in one row, so lanes meet in all of its banks or in none.
  struct Cells {
    bool listed = false;
    std::uint32_t shift = 0; ///< bytes of a cell, as a power of two
    std::uint32_t last = 0;  ///< the number of cells side by side, less one
    std::uint32_t parts = 1; ///< requests that each lane makes, one after the other, all alike
    std::uint32_t lanes = 0; ///< of a request
    std::uint32_t extra = 0; ///< additional passes of each request
  };

  /// Null: words of this size need the general implementation.
  [[nodiscard]] const Cells* cells(std::uint32_t lane_bytes, Service service) const {
    if (!std::has_single_bit(lane_bytes) || lane_bytes > 16) return nullptr;
    const Cells& found = cells_[static_cast<std::size_t>(service.of())][std::countr_zero(lane_bytes)];
    return found.listed ? &found : nullptr;
  }
  /// Whether lanes of one bank are served one after the other, also those of one word.
  [[nodiscard]] bool in_turn(Service service) const { return in_turn_[static_cast<std::size_t>(service.kind)]; }
  // These set `result`: a returned object would be copied right after its fields were stored one by one, and loading
  // several of them at once would wait for the stores.
  void count(const UnsortedLanes& lanes, std::uint32_t lane_bytes, Service service, Passes& result) const;
  void count(const Footprint& access, Service service, Passes& result) const;
  [[nodiscard]] static Passes with_one_broadcast(const Footprint& access, const Cells& cells, std::uint32_t lanes);

  rules::Banks rule_;
  std::uint32_t banks_shift_, row_shift_; ///< bytes of all banks side by side, and of a row, as powers of two
  Cells cells_[rules::kServed][5];        ///< of words of 1, 2, 4, 8 and 16 bytes
  bool in_turn_[4];                       ///< by exec::AccessKind
};

} // namespace warplens::analyzers
