#include "analyzers/rule_set.hpp"

#include "analyzers/rule_file.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::analyzers {

Expected<void> RuleSet::add(Rule rule) {
  const std::string name = std::visit([](const auto& r) { return r.name; }, rule);
  const auto has = [&](const auto& list) {
    return std::any_of(list.begin(), list.end(), [&](const auto& r) { return r.name == name; });
  };
  if (has(coalescing) || has(banks)) return failure(fmt::format("two rules are named '{}'", name));
  if (auto* global = std::get_if<CoalescingRule>(&rule))
    coalescing.push_back(std::move(*global));
  else
    banks.push_back(std::move(std::get<BankRule>(rule)));
  return {};
}

Expected<Rule> parse_rule(std::string_view text, std::string_view file) {
  RuleTable table(text, file);
  const std::size_t kind = table.word("rule", {"coalescing", "banks"});
  // What is wrong with `rule` itself decides nothing else: no other key can be judged then.
  if (table.has_errors()) return failure(table.finish_early());
  if (kind == 0) return parse_coalescing_rule(text, file);
  return parse_bank_rule(text, file);
}

std::optional<Rule> find_rule(std::string_view name) {
  if (const CoalescingRule* rule = find_coalescing_rule(name)) return *rule;
  if (const BankRule* rule = find_bank_rule(name)) return *rule;
  return std::nullopt;
}

std::vector<std::string_view> rule_names() {
  std::vector<std::string_view> names;
  for (const CoalescingRule& rule : coalescing_rules()) names.push_back(rule.name);
  for (const BankRule& rule : bank_rules()) names.push_back(rule.name);
  return names;
}

namespace {

std::string bytes(std::uint32_t n) { return fmt::format("{} byte{}", n, n == 1 ? "" : "s"); }

std::string requests(std::uint32_t lanes) {
  switch (lanes) {
  case 16: return "a request is a half-warp (lanes 0 to 15, 16 to 31)";
  case 8: return "a request is a quarter-warp (8 lanes)";
  default: return "a request is a warp";
  }
}

/// A line for the sizes of words that are served alike; `how` says how.
template <class Word, class How>
void by_size(std::vector<std::string>& lines, const std::vector<Word>& words, How&& how) {
  for (std::size_t i = 0; i < words.size();) {
    const std::string text = how(words[i]);
    std::string sizes;
    for (; i < words.size() && how(words[i]) == text; ++i)
      sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", words[i].bytes);
    lines.push_back(fmt::format("{}-byte words: {}", sizes, text));
  }
}

} // namespace

std::vector<std::string> explain(const CoalescingRule& rule) {
  std::vector<std::string> lines;
  const bool ordered = rule.order == CoalescingRule::Order::kth_word;
  by_size(lines, rule.words, [&](const WordClass& word) {
    if (!ordered) return fmt::format("{}; segments have {}", requests(word.lanes), bytes(word.segment));
    const std::uint32_t count = std::max(1u, word.lanes * word.bytes / word.segment);
    return fmt::format("{}; {} of {} if lane k asks for word k of an aligned segment", requests(word.lanes),
                       count == 1 ? "one transaction" : fmt::format("{} transactions", count), bytes(word.segment));
  });
  if (ordered) {
    lines.push_back(fmt::format("otherwise, and for words of other sizes, each active lane makes a transaction of {}",
                                bytes(rule.smallest)));
    return lines;
  }
  lines.push_back("a request makes one transaction for each segment that its lanes touch, in any order");
  if (rule.shrink)
    lines.push_back(
        fmt::format("a transaction of which only one half is used is halved, down to {}", bytes(rule.smallest)));
  return lines;
}

std::vector<std::string> explain(const BankRule& rule) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{} banks of {}, word after word", rule.banks, bytes(rule.bank_bytes)));
  by_size(lines, rule.words, [&](const BankRule::Word& word) {
    return requests(word.lanes) + (word.extra ? fmt::format(", with {} pass more", word.extra) : "");
  });
  if (rule.split_words) lines.push_back(fmt::format("wider words are requested {} at a time", bytes(rule.bank_bytes)));
  if (rule.broadcast == BankRule::Broadcast::one_word)
    lines.push_back(
        "a pass serves all lanes of one word, and one lane of each other bank; which word is not specified: "
        "the best and the worst choice are both counted");
  else if (rule.row_bytes > rule.banks * rule.bank_bytes)
    lines.push_back(fmt::format("a pass serves, in each bank, all lanes that ask for words of one aligned block of {}",
                                bytes(rule.row_bytes)));
  else
    lines.push_back("a pass serves all lanes of one word of each bank");
  if (rule.merge_equal_pairs)
    lines.push_back("two neighbouring requests of a load are one where all active lanes i and i^1 have the same "
                    "address, or all active lanes i and i^2");
  lines.push_back("an atomic serves one lane of each bank in a pass");
  return lines;
}

} // namespace warplens::analyzers
