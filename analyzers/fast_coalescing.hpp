// SPDX-License-Identifier: Apache-2.0
// A coalescing rule prepared for many accesses: for the common rule properties, it derives the transactions from a
// footprint. Computes the same counts as transactions() of coalescing.hpp, twenty times as fast.
//
//   FastCoalescing rule(*rules::find_coalescing_rule("1.2"));
//   rule.transactions(Footprint(addresses, mask, 4)).of(128) == 2   // 32 lanes of 4 bytes, 8 bytes apart
#pragma once

#include "analyzers/footprint.hpp"

namespace warplens::analyzers {

class FastCoalescing {
public:
  explicit FastCoalescing(rules::Coalescing rule);
  [[nodiscard]] Transactions transactions(const Footprint& footprint, Service service = {}) const;
  [[nodiscard]] const rules::Coalescing& rule() const { return rule_; }
  /// The number of transaction sizes.
  [[nodiscard]] std::size_t sizes() const { return sizes_; }

private:
  /// How words of one size are counted.
  struct Way {
    bool fast = false;  ///< consecutive lanes, and whole segments of 32, 64 or 128 bytes at multiples of their size
    bool turns = false; ///< can also count lanes of one address that are served in turn
    Group group{};
    std::uint32_t bytes = 4, lanes = 32, segment = 32; ///< as in the rule
  };
  [[nodiscard]] const Way& way(std::uint32_t lane_bytes, Service service) const;
  [[nodiscard]] Transactions in_order(const Footprint& footprint, const Way& by) const;
  [[nodiscard]] Transactions segments(const Footprint& footprint, const Way& by) const;

  rules::Coalescing rule_;
  std::size_t sizes_;
  Way ways_[rules::kServed][6]; ///< for 1, 2, 4, … 32 bytes
};

} // namespace warplens::analyzers
