// How shared memory serves the addresses of a warp: the rule as data, and the engine that obeys it.
//
//   const BankRule* rule = find_bank_rule("5.x+");
//   Passes p = passes(*rule, offsets, mask, 4, exec::AccessKind::load);   // 32 lanes, 8 bytes apart
//   p.passes == 2, p.fewest == 1, p.conflicts() == 1, p.ways == 2
//
// A rule is a TOML file, see rules/banks_5.x.toml.
#pragma once

#include "emulator/base/expected.hpp"
#include "emulator/exec/events.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace warplens::analyzers {

/// A pass serves, in each bank, one row: the bytes of the bank in one aligned block of `row_bytes`.
struct BankRule {
  enum class Broadcast : std::uint8_t {
    every_word, ///< a pass serves every lane of the row that each bank serves
    one_word    ///< a pass serves all lanes of one word, and one lane of every other bank (compute capability 1.x)
  };
  struct Word {
    std::uint32_t bytes = 4;
    std::uint32_t lanes = 32; ///< lanes that make up one request: 8, 16 or 32
    std::uint32_t extra = 0;  ///< passes that each request takes besides
  };
  std::string name;
  std::string title;
  std::string source; ///< where it was read; may be empty
  std::uint32_t banks = 32;
  std::uint32_t bank_bytes = 4;
  std::uint32_t row_bytes = 128;
  Broadcast broadcast = Broadcast::every_word;
  bool split_words = false; ///< words wider than a bank are as many requests, one after the other
  /// Two neighbouring requests of a load are served as one where all active lanes i and i^1 of the warp have the same
  /// address, or all active lanes i and i^2 have. (Measured; stores and atomics do not merge.)
  bool merge_equal_pairs = false;
  std::vector<Word> words; ///< ascending by bytes; narrower words are served as the first

  [[nodiscard]] const Word& word(std::uint32_t bytes) const;
};

/// What one warp access costs. Where a rule leaves the hardware a choice (one_word), both ends are given.
struct Passes {
  std::uint32_t passes = 0; ///< over the banks: wavefronts; the best choice
  std::uint32_t worst = 0;  ///< the same with the worst choice
  std::uint32_t fewest = 0; ///< that the width of the access and its active lanes need
  std::uint32_t ways = 0;   ///< of the worst request: 1 is free of conflicts
  std::uint32_t worst_ways = 0;
  [[nodiscard]] std::uint32_t conflicts() const { return passes - fewest; }
  [[nodiscard]] std::uint32_t worst_conflicts() const { return worst - fewest; }
};

/// Reads a rule from TOML. Errors: syntax, unknown or missing keys, sizes no GPU has, words out of order.
Expected<BankRule> parse_bank_rule(std::string_view text, std::string_view file);

/// The built-in rules: 1.x, 2.x, 3.x-32, 3.x-64, 5.x+.
const std::vector<BankRule>& bank_rules();
const BankRule* find_bank_rule(std::string_view name);

constexpr bool is_atomic(exec::AccessKind kind) {
  return kind == exec::AccessKind::atomic || kind == exec::AccessKind::reduction;
}

/// As what an access is served: a load of matrices (ldmatrix) takes a pass for each of them, even where all their rows
/// are at one address (measured on compute capability 9.0), so it merges as little as a store.
exec::AccessKind kind_for_banks(const ir::Function& function, const exec::Access& access);

/// Whether all active lanes i and i^1 have the same address, or all active lanes i and i^2: see merge_equal_pairs.
bool equal_pairs(const std::uint64_t* offsets, exec::Mask mask);

/// `offsets` [32] in bytes, valid for the lanes in `mask`; `lane_bytes` from 1 to 16. In an atomic, lanes of the same
/// word wait for each other: a pass serves one lane of each bank.
Passes passes(const BankRule& rule, const std::uint64_t* offsets, exec::Mask mask, std::uint32_t lane_bytes,
              exec::AccessKind kind);

} // namespace warplens::analyzers
