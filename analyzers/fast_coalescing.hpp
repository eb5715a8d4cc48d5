// SPDX-License-Identifier: Apache-2.0
// A coalescing rule prepared for many accesses: for the common rule properties, it derives the transactions from a
// footprint. Computes the same counts as transactions() of coalescing.hpp, twenty times as fast.
//
//   FastCoalescing rule(*rules::find_coalescing_rule("1.2"));
//   rule.transactions(Footprint(addresses, mask, 4)).of(128) == 2   // 32 lanes of 4 bytes, 8 bytes apart
#pragma once

#include "analyzers/access_batch.hpp"
#include "analyzers/footprint.hpp"

namespace warplens::analyzers {

class FastCoalescing {
public:
  explicit FastCoalescing(rules::Coalescing rule);
  [[nodiscard]] Transactions transactions(const Footprint& footprint, Service service = {}) const;
  /// The same for several rules; `results`: of each.
  static void count(std::span<const FastCoalescing> rules, const Footprint& footprint, Service service,
                    Transactions* results);
  /// The sums over the accesses that the batch takes. Leaves out those that some rule counts one by one.
  static void count(std::span<const FastCoalescing> rules, AccessBatch& batch, Service service, Transactions* sums);
  [[nodiscard]] const rules::Coalescing& rule() const { return rule_; }
  /// The number of transaction sizes.
  [[nodiscard]] std::size_t sizes() const { return sizes_; }

  /// How words of one size are counted; what does not depend on the access is computed once.
  struct Way {
    enum class Method : std::uint8_t {
      general,  ///< lane by lane
      in_order, ///< thread k accesses word k
      sectors,  ///< of a whole warp
      segments  ///< whole ones of 32, 64 or 128 bytes at multiples of their size, for consecutive lanes
    };
    Method method = Method::general;
    bool turns = false; ///< lanes of one address are served in turn
    Group group{};
    std::uint8_t log_segment = 5; ///< of its bytes
    std::uint8_t first_size = 0;  ///< index of the rule's smallest size in 32, 64, 128
    std::uint8_t whole_size = 0;  ///< index of the segment among the rule's sizes
    std::uint8_t lanes = 32;      ///< of a request
    std::uint32_t bytes = 4;      ///< of the word
    std::uint32_t least = 32;     ///< bytes of the smallest transaction
  };

private:
  static constexpr std::size_t kWidths = 6; ///< of 1, 2, 4, … 32 bytes
  [[nodiscard]] const Way& way(std::uint32_t lane_bytes, Service service) const;

  rules::Coalescing rule_;
  std::size_t sizes_;
  Way ways_[rules::kServed + 1][kWidths]; ///< the last row: vector atomics
};

} // namespace warplens::analyzers
