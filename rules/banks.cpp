// SPDX-License-Identifier: Apache-2.0
#include "rules/banks.hpp"

#include "rules/embedded.hpp"
#include "rules/table.hpp"
#include "rules/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace warplens::rules {

const Banks::Word& Banks::word(std::uint32_t bytes, Served served) const { return word_of(words, bytes, served); }

// Moving an access by one bank word rotates the banks. If rows are longer than that, moving it by a row keeps together
// the words of a row. With an XOR, moving it by all bits that select the bank changes no bank.
std::uint64_t Banks::period() const {
  std::uint64_t bytes = row_bytes == banks * bank_bytes ? bank_bytes : row_bytes;
  if (index == Index::exclusive_or)
    bytes =
        std::max(bytes, std::uint64_t{bank_bytes} << (xor_shift + static_cast<std::uint32_t>(std::bit_width(banks))));
  return bytes;
}

namespace {

bool is_prime(std::uint32_t n) {
  for (std::uint32_t i = 2; i * i <= n; ++i)
    if (n % i == 0) return false;
  return n > 1;
}

void check_banks(RuleTable& table, const Banks& rule) {
  const bool prime = rule.index == Banks::Index::prime;
  if (prime && !is_prime(rule.banks))
    table.wrong("banks", fmt::format("'banks' must be a prime number for index = \"prime\", got {}", rule.banks));
  if (!prime && !std::has_single_bit(rule.banks))
    table.wrong("banks", fmt::format("'banks' must be a power of two, got {}", rule.banks),
                "a prime number of banks requires index = \"prime\"");
  const std::uint32_t all = rule.banks * rule.bank_bytes;
  if (rule.row_bytes < all) table.wrong("row_bytes", "a row is smaller than all banks together");
  if (rule.row_bytes > all && (!std::has_single_bit(rule.row_bytes) || prime))
    table.wrong("row_bytes", "a row longer than all banks together must be a power of two, without index = \"prime\"");
}

} // namespace

Expected<BankRule> parse_bank_rule(std::string_view text, std::string_view file) {
  RuleTable table(text, file, "banks");
  BankRule rule;
  read_label(table, text, rule);
  rule.banks = table.number("banks");
  rule.bank_bytes = table.number("bank_bytes");
  rule.index = static_cast<Banks::Index>(table.choice("index").value_or(0));
  const auto shift = table.given("xor_shift");
  if (shift && rule.index != Banks::Index::exclusive_or) table.error("xor_shift requires index = \"xor\"");
  rule.xor_shift = shift.value_or(std::max(1u, static_cast<std::uint32_t>(std::bit_width(rule.banks)) - 1));
  rule.row_bytes = table.given("row_bytes").value_or(rule.banks * rule.bank_bytes);
  rule.broadcast = static_cast<Banks::Broadcast>(table.choice("broadcast").value_or(0));
  rule.split_words = table.flag("split_words");
  rule.merge_equal_pairs = table.flag("merge_equal_pairs");
  rule.atomics = static_cast<Banks::Atomics>(table.choice("atomics").value_or(0));
  rule.constants = table.flag("constants");
  check_banks(table, rule);
  read_words(table, rule.words, [&](RuleTable& entry) {
    Banks::Word word{entry.number("bytes"), read_requests(entry), entry.number("extra")};
    if (rule.merge_equal_pairs && !word.requests.groups.empty())
      entry.error("merge_equal_pairs requires requests of consecutive lanes");
    return word;
  });
  Diagnostics diagnostics = table.finish();
  if (diagnostics.has_errors()) return failure(std::move(diagnostics));
  return rule;
}

const std::vector<BankRule>& bank_rules() {
  static const std::vector<BankRule>& rules = embedded<BankRule>("banks_", parse_bank_rule);
  return rules;
}

const BankRule* find_bank_rule(std::string_view name) { return find(bank_rules(), name); }

} // namespace warplens::rules
