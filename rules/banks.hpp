// How shared memory serves the addresses of a warp: the rule as data.
//
//   const BankRule* rule = find_bank_rule("5.x+");
//   rule->banks == 32, rule->bank_of(33) == 1, rule->word(16).requests.lanes == 8
//
// A rule is a TOML file, see banks_5.x.toml; keys.hpp says what its keys mean.
#pragma once

#include "emulator/base/expected.hpp"
#include "rules/label.hpp"
#include "rules/requests.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace warplens::rules {

/// What a rule says. A pass serves, in each bank, one row: the words of the bank in one aligned block of `row_bytes`.
struct Banks {
  enum class Index : std::uint8_t {
    modulo,
    exclusive_or, ///< modulo, after the bits from `xor_shift` on were xored to the number of the word
    prime         ///< modulo a prime number of banks
  };
  enum class Broadcast : std::uint8_t {
    every_word, ///< a pass serves every lane of the row that each bank serves
    one_word,   ///< a pass serves all lanes of one word, and one lane of every other bank (compute capability 1.x)
    none        ///< a pass serves one lane of each bank
  };
  enum class Atomics : std::uint8_t {
    one_lane, ///< a pass serves one lane of each bank
    own_unit, ///< likewise; models leave the conflicts out
    as_stores
  };
  struct Word {
    std::uint32_t bytes = 4;
    Requests requests{};
    std::uint32_t extra = 0; ///< passes that each request takes besides
    friend bool operator==(const Word&, const Word&) = default;
  };
  std::uint32_t banks = 32;
  std::uint32_t bank_bytes = 4;
  Index index = Index::modulo;
  std::uint32_t xor_shift = 5;
  std::uint32_t row_bytes = 128;
  Broadcast broadcast = Broadcast::every_word;
  bool split_words = false; ///< words wider than a bank are as many requests, one after the other
  /// Two neighbouring requests of a load are served as one where all active lanes i and i^1 of the warp have the same
  /// address, or all active lanes i and i^2 have. (Measured; stores and atomics do not merge.)
  bool merge_equal_pairs = false;
  Atomics atomics = Atomics::one_lane;
  bool constants = false; ///< constants and parameters pass through the same unit (compute capability 1.x)
  std::array<std::vector<Word>, kServed> words{std::vector{Word{}}}; ///< by Served; ascending by bytes

  /// Narrower words than the first are served as it is.
  [[nodiscard]] const Word& word(std::uint32_t bytes, Served served = Served::load) const;
  /// Of the word of so many `bank_bytes` from 0 on.
  [[nodiscard]] std::uint32_t bank_of(std::uint64_t number) const {
    if (index == Index::prime) return static_cast<std::uint32_t>(number % banks);
    if (index == Index::exclusive_or) number ^= number >> xor_shift;
    return static_cast<std::uint32_t>(number & (banks - 1));
  }
  /// Accesses that lie so many bytes apart, a power of two, take the same passes.
  [[nodiscard]] std::uint64_t period() const;
  friend bool operator==(const Banks&, const Banks&) = default;
};

struct BankRule : Label, Banks {
  /// Whether the rules differ in their labels at most.
  [[nodiscard]] bool says_the_same(const Banks& other) const { return static_cast<const Banks&>(*this) == other; }
};

/// Reads a rule from TOML. Errors: syntax, unknown or missing keys, values that cannot be, words out of order.
Expected<BankRule> parse_bank_rule(std::string_view text, std::string_view file);

/// The built-in rules: 1.x, 2.x, 3.x-32, 3.x-64, 5.x+.
const std::vector<BankRule>& bank_rules();
const BankRule* find_bank_rule(std::string_view name);

} // namespace warplens::rules
