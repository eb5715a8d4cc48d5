// How a GPU turns the addresses of a warp into memory transactions: the rule as data, and the engine that obeys it.
//
//   const CoalescingRule* rule = find_coalescing_rule("1.2");
//   Transactions t = transactions(*rule, addresses, mask, 4);   // 32 lanes of 4 bytes from 132 on:
//   t.of(128) == 1, t.of(64) == 1, t.of(32) == 1
//
// A rule is a TOML file, see rules/coalescing_1.2.toml.
#pragma once

#include "emulator/base/expected.hpp"
#include "emulator/exec/events.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace warplens::analyzers {

/// Rules divide memory into segments of at most this many bytes.
constexpr std::uint32_t kLineBytes = 128;

/// How words of one size are served.
struct WordClass {
  std::uint32_t bytes = 4;
  std::uint32_t lanes = 32;   ///< lanes that make up one request: 8, 16 or 32
  std::uint32_t segment = 32; ///< bytes: 32, 64 or 128
};

struct CoalescingRule {
  enum class Order : std::uint8_t {
    any,     ///< distinct segments, whatever lane asks for them
    kth_word ///< lane k asks for word k of an aligned segment, or every lane gets its own transaction
  };
  std::string name;
  std::string title;
  std::string source; ///< where it was read; may be empty
  Order order = Order::any;
  bool shrink = false;          ///< halve a transaction while only one half of it is used
  std::uint32_t smallest = 32;  ///< bytes: where shrinking ends; a lane's own transaction
  std::vector<WordClass> words; ///< ascending by bytes

  /// How words of `bytes` are served. Sizes that are not listed: as the next smaller one (the smallest listed for
  /// still smaller ones); under kth_word null, they never coalesce.
  [[nodiscard]] const WordClass* word(std::uint32_t bytes) const;
};

/// Where transactions of 32, 64 and 128 bytes are counted.
constexpr std::size_t size_index(std::uint32_t bytes) { return bytes == 32 ? 0 : bytes == 64 ? 1 : 2; }

/// Transactions of one warp access, by size.
struct Transactions {
  std::array<std::uint32_t, 3> count{}; ///< of 32, 64 and 128 bytes
  std::uint32_t uncoalesced = 0;        ///< among them: transactions of lanes that were served on their own

  [[nodiscard]] std::uint32_t of(std::uint32_t bytes) const { return count[size_index(bytes)]; }
  [[nodiscard]] std::uint32_t total() const { return count[0] + count[1] + count[2]; }
  [[nodiscard]] std::uint64_t bytes() const { return count[0] * 32ull + count[1] * 64ull + count[2] * 128ull; }
  friend bool operator==(const Transactions&, const Transactions&) = default;
};

struct Transaction {
  std::uint32_t bytes = 0;
  std::uint64_t base = 0;
  exec::Mask lanes = 0; ///< that it serves; a lane whose word straddles transactions is served by several
};

/// Reads a rule from TOML. Errors: syntax, unknown or missing keys, sizes no GPU has, words out of order.
Expected<CoalescingRule> parse_coalescing_rule(std::string_view text, std::string_view file);

/// The built-in rules, by file name: 1.0, 1.2, 2.x-l1, …, 6.0.
const std::vector<CoalescingRule>& coalescing_rules();
const CoalescingRule* find_coalescing_rule(std::string_view name);

/// Word for word what the guides say, for any rule; the engine that the fast one (footprint.hpp) is tested against.
/// `addresses` [32], valid for the lanes in `mask`; `lane_bytes` from 1 to 128. Appends every transaction to `list` if
/// given.
Transactions transactions(const CoalescingRule& rule, const std::uint64_t* addresses, exec::Mask mask,
                          std::uint32_t lane_bytes, std::vector<Transaction>* list = nullptr);

} // namespace warplens::analyzers
