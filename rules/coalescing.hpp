// SPDX-License-Identifier: Apache-2.0
// How a GPU turns the addresses of a warp into memory transactions: the rule as data.
//
//   const CoalescingRule* rule = find_coalescing_rule("1.2");
//   rule->word(4).segment == 128, rule->word(4).requests.lanes == 16, rule->shrink
//
// A rule is a TOML file, see coalescing_1.2.toml; keys.hpp explains its keys.
#pragma once

#include "emulator/base/expected.hpp"
#include "rules/label.hpp"
#include "rules/requests.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace warplens::rules {

/// How words of one size are served. Sizes in bytes.
struct WordClass {
  std::uint32_t bytes = 4;
  Requests requests{};
  std::uint32_t segment = 32;
  std::uint32_t alignment = 0; ///< a segment starts at a multiple of this; 0: its own size
  std::uint32_t sector = 0;    ///< a transaction transfers only the accessed sectors of a segment; 0: all of it

  [[nodiscard]] std::uint32_t starts_at() const { return alignment ? alignment : segment; }
  friend bool operator==(const WordClass&, const WordClass&) = default;
};

/// The content of a rule.
struct Coalescing {
  enum class Order : std::uint8_t {
    any,     ///< distinct segments, whichever lanes access them
    kth_word ///< lane k accesses word k of an aligned segment, or every lane gets its own transaction
  };
  enum class Atomics : std::uint8_t { as_stores, in_turns, undescribed };
  enum class Unit : std::uint8_t { sectors, bytes, transactions };
  Order order = Order::any;
  bool shrink = false;               ///< halve a transaction while only one half of it is used
  std::uint32_t smallest = 32;       ///< bytes: where shrinking ends; a lane's own transaction
  bool equal_addresses_wait = false; ///< lanes that access the same address repeat its transaction
  Atomics atomics = Atomics::as_stores;
  bool split_vectors = false; ///< the elements of a vector access are requested one after the other
  Unit unit = Unit::bytes;    ///< unit in which reports and findings count waste
  std::array<std::vector<WordClass>, kServed> words{std::vector{WordClass{}}}; ///< by Served; ascending by bytes

  /// How words of `bytes` are served. Sizes that are not listed are served like the next smaller one, or like the
  /// smallest listed.
  [[nodiscard]] const WordClass& word(std::uint32_t bytes, Served served = Served::load) const;
  [[nodiscard]] bool describes_atomics() const { return atomics != Atomics::undescribed; }
  /// Bytes of the longest segment.
  [[nodiscard]] std::uint32_t largest() const;
  /// Transactions of a full warp that accesses consecutive words of this size, with the best alignment.
  [[nodiscard]] std::uint32_t fewest(std::uint32_t lane_bytes) const;
  friend bool operator==(const Coalescing&, const Coalescing&) = default;
};

struct CoalescingRule : Label, Coalescing {
  /// Whether the rules differ only in their labels.
  [[nodiscard]] bool says_the_same(const Coalescing& other) const {
    return static_cast<const Coalescing&>(*this) == other;
  }
};

/// Reads a rule from TOML. Errors: syntax, unknown or missing keys, invalid values, words out of order.
Expected<CoalescingRule> parse_coalescing_rule(std::string_view text, std::string_view file);

/// The built-in rules, by file name: 1.0, 1.2, 2.x-l1, …, 6.0.
const std::vector<CoalescingRule>& coalescing_rules();
const CoalescingRule* find_coalescing_rule(std::string_view name);

} // namespace warplens::rules
