// SPDX-License-Identifier: Apache-2.0
#include "rules/rule_set.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::rules {

namespace {

std::string bytes(std::uint32_t n) { return fmt::format("{} byte{}", n, n == 1 ? "" : "s"); }

/// "0-7,16-23"
std::string lanes_text(std::uint32_t lanes) {
  std::string text;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (!(lanes >> lane & 1)) continue;
    const std::uint32_t first = lane;
    while (lane < 31 && lanes >> (lane + 1) & 1) ++lane;
    text += fmt::format("{}{}", text.empty() ? "" : ",", first);
    if (lane > first) text += fmt::format("-{}", lane);
  }
  return text;
}

std::string requests_text(const Requests& requests) {
  if (!requests.groups.empty()) {
    std::string list;
    for (const std::uint32_t group : requests.groups)
      list += fmt::format("{}{}", list.empty() ? "" : "; ", lanes_text(group));
    return fmt::format("one request for each group of lanes: {}", list);
  }
  std::string of;
  if (requests.lanes == 16) of = " (lanes 0 to 15, 16 to 31)";
  if (requests.lanes == 8) of = " (8 lanes)";
  return fmt::format("one request per {}{}", to_string(requests), of);
}

/// One line for all word sizes that are served alike; `how` describes the service.
template <class Word, class How>
void by_size(std::vector<std::string>& lines, const std::array<std::vector<Word>, kServed>& tables, How&& how) {
  constexpr std::string_view kOf[kServed] = {"", "stores, ", "atomics, ", "vector accesses, "};
  for (std::size_t of = 0; of < kServed; ++of) {
    const std::vector<Word>& words = tables[of];
    for (std::size_t i = 0; i < words.size();) {
      const std::string text = how(words[i]);
      std::string sizes;
      for (; i < words.size() && how(words[i]) == text; ++i)
        sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", words[i].bytes);
      lines.push_back(fmt::format("{}{}-byte words: {}", kOf[of], sizes, text));
    }
  }
}

std::string segments_text(const WordClass& word) {
  std::string text = fmt::format("segments of {}", bytes(word.segment));
  if (word.starts_at() != word.segment) text += fmt::format(" that start at multiples of {}", bytes(word.starts_at()));
  if (word.sector) text += fmt::format("; only the accessed sectors of {} are transferred", bytes(word.sector));
  return text;
}

std::string in_order_text(const WordClass& word) {
  const std::uint32_t count = std::max(1u, word.requests.lanes * word.bytes / word.segment);
  return fmt::format("{} of {} if lane k accesses word k of an aligned segment",
                     count == 1 ? "one transaction" : fmt::format("{} transactions", count), bytes(word.segment));
}

} // namespace

std::vector<std::string> explain(const Coalescing& rule) {
  std::vector<std::string> lines;
  const bool ordered = rule.order == Coalescing::Order::kth_word;
  by_size(lines, rule.words, [&](const WordClass& word) {
    return fmt::format("{}; {}", requests_text(word.requests), ordered ? in_order_text(word) : segments_text(word));
  });
  if (ordered)
    lines.push_back(fmt::format("otherwise, and for words of other sizes, each active lane causes a transaction of {}",
                                bytes(rule.smallest)));
  else
    lines.push_back("a request causes one transaction for each segment that its lanes access, in any order");
  if (rule.shrink)
    lines.push_back(
        fmt::format("a transaction is halved while only one half of it is used, down to {}", bytes(rule.smallest)));
  if (rule.equal_addresses_wait) lines.push_back("lanes that access the same address repeat its transaction");
  if (rule.split_vectors) lines.push_back("the elements of a vector access are requested one after the other");
  if (rule.atomics == Coalescing::Atomics::in_turns)
    lines.push_back("lanes of an atomic that access the same address repeat its transaction");
  if (!rule.describes_atomics()) lines.push_back("the rule does not describe atomics");
  return lines;
}

std::vector<std::string> explain(const Banks& rule) {
  std::vector<std::string> lines;
  std::string order = "consecutive words in consecutive banks";
  if (rule.index == Banks::Index::prime) order += ", modulo a prime number";
  if (rule.index == Banks::Index::exclusive_or)
    order = fmt::format("selected by the word number XOR the word number shifted right by {}", rule.xor_shift);
  lines.push_back(fmt::format("{} banks of {}, {}", rule.banks, bytes(rule.bank_bytes), order));
  by_size(lines, rule.words, [&](const Banks::Word& word) {
    return requests_text(word.requests) +
           (word.extra ? fmt::format(", plus {} extra pass{}", word.extra, word.extra == 1 ? "" : "es") : "");
  });
  if (rule.split_words) lines.push_back(fmt::format("wider words are requested {} at a time", bytes(rule.bank_bytes)));
  if (rule.broadcast == Banks::Broadcast::one_word)
    lines.push_back(
        "a pass serves all lanes that access one word, and one lane of each other bank; the word is not specified: "
        "the best and the worst choice are both counted");
  else if (rule.broadcast == Banks::Broadcast::none)
    lines.push_back("a pass serves one lane of each bank");
  else if (rule.row_bytes > rule.banks * rule.bank_bytes)
    lines.push_back(fmt::format("in each bank, a pass serves all lanes that access words of one aligned block of {}",
                                bytes(rule.row_bytes)));
  else
    lines.push_back("in each bank, a pass serves all lanes that access one word");
  if (rule.merge_equal_pairs)
    lines.push_back("two neighbouring requests of a load are merged if all active lanes i and i^1 have the same "
                    "address, or all active lanes i and i^2");
  if (rule.atomics != Banks::Atomics::as_stores) lines.push_back("a pass of an atomic serves one lane of each bank");
  if (rule.constants)
    lines.push_back("constants and parameters use the same unit: each further address of a request takes a pass");
  return lines;
}

} // namespace warplens::rules
