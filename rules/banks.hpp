// SPDX-License-Identifier: Apache-2.0
// How shared memory serves the addresses of a warp: the rule as data.
//
//   const BankRule* rule = find_bank_rule("5.x+");
//   rule->banks == 32, rule->bank_of(33) == 1, rule->word(16).requests.lanes == 8
//
// A rule is a TOML file, see banks_5.x.toml; keys.hpp explains its keys.
#pragma once

#include "emulator/base/expected.hpp"
#include "rules/label.hpp"
#include "rules/requests.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace warplens::rules {

/// The content of a rule. In each bank, a pass serves one row: its words in an aligned block of `row_bytes`.
struct Banks {
  enum class Index : std::uint8_t {
    modulo,
    exclusive_or, ///< modulo, after an XOR of the word number with itself shifted right by `xor_shift`
    prime         ///< modulo a prime number of banks
  };
  enum class Broadcast : std::uint8_t {
    every_word, ///< a pass serves, in each bank, all lanes that access one row
    one_word,   ///< a pass serves all lanes that access one word, and one lane of every other bank (1.x)
    none        ///< a pass serves one lane of each bank
  };
  enum class Atomics : std::uint8_t {
    one_lane, ///< a pass serves one lane of each bank
    own_unit, ///< likewise, but models ignore the conflicts
    as_stores
  };
  struct Word {
    std::uint32_t bytes = 4;
    Requests requests{};
    std::uint32_t extra = 0; ///< additional passes of each request
    friend bool operator==(const Word&, const Word&) = default;
  };
  std::uint32_t banks = 32;
  std::uint32_t bank_bytes = 4;
  Index index = Index::modulo;
  std::uint32_t xor_shift = 5;
  std::uint32_t row_bytes = 128;
  Broadcast broadcast = Broadcast::every_word;
  bool split_words = false; ///< words wider than a bank are split into requests of one bank word
  /// Two neighbouring requests of a load are merged if all active lanes i and i^1 of the warp have the same address, or
  /// all active lanes i and i^2. (Measured; stores and atomics do not merge.)
  bool merge_equal_pairs = false;
  Atomics atomics = Atomics::one_lane;
  bool constants = false; ///< constants and parameters use the same unit (compute capability 1.x)
  std::array<std::vector<Word>, kServed> words{std::vector{Word{}}}; ///< by Served; ascending by bytes

  /// Words narrower than the first are served like the first.
  [[nodiscard]] const Word& word(std::uint32_t bytes, Served served = Served::load) const;
  /// The bank of a word. `number` is its address / `bank_bytes`.
  [[nodiscard]] std::uint32_t bank_of(std::uint64_t number) const {
    if (index == Index::prime) return static_cast<std::uint32_t>(number % banks);
    if (index == Index::exclusive_or) number ^= number >> xor_shift;
    return static_cast<std::uint32_t>(number & (banks - 1));
  }
  /// Accesses whose addresses differ by a multiple of this power of two, in bytes, take the same passes.
  [[nodiscard]] std::uint64_t period() const;
  friend bool operator==(const Banks&, const Banks&) = default;
};

struct BankRule : Label, Banks {
  /// Whether the rules differ only in their labels.
  [[nodiscard]] bool says_the_same(const Banks& other) const { return static_cast<const Banks&>(*this) == other; }
};

/// Reads a rule from TOML. Errors: syntax, unknown or missing keys, invalid values, words out of order.
Expected<BankRule> parse_bank_rule(std::string_view text, std::string_view file);

/// The built-in rules: 1.x, 2.x, 3.x-32, 3.x-64, 5.x+.
const std::vector<BankRule>& bank_rules();
const BankRule* find_bank_rule(std::string_view name);

} // namespace warplens::rules
