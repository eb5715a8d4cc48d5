// SPDX-License-Identifier: Apache-2.0
#include "rules/coalescing.hpp"

#include "rules/embedded.hpp"
#include "rules/table.hpp"
#include "rules/words.hpp"

#include <algorithm>
#include <bit>

namespace warplens::rules {

const WordClass& Coalescing::word(std::uint32_t bytes, Served served) const { return word_of(words, bytes, served); }

std::uint32_t Coalescing::largest() const {
  std::uint32_t most = smallest;
  for (const auto& list : words)
    for (const WordClass& one : list) most = std::max(most, one.segment);
  return most;
}

std::uint32_t Coalescing::fewest(std::uint32_t lane_bytes) const {
  const WordClass& one = word(lane_bytes);
  std::uint32_t sum = 0;
  one.requests.for_each([&](std::uint32_t lanes) {
    const auto bytes = static_cast<std::uint32_t>(std::popcount(lanes)) * lane_bytes;
    sum += std::max(1u, (bytes + one.segment - 1) / one.segment);
  });
  return sum;
}

namespace {

WordClass read_word(RuleTable& entry, const Coalescing& rule) {
  WordClass word;
  word.bytes = entry.number("bytes");
  word.requests = read_requests(entry);
  word.segment = entry.number("segment");
  word.alignment = entry.given("alignment").value_or(0);
  word.sector = entry.given("sector").value_or(0);
  if (word.segment < rule.smallest) entry.error("the segment is smaller than the smallest transaction");
  if (word.alignment > word.segment) entry.error("the alignment of a segment is larger than the segment");
  if (word.alignment && word.alignment < rule.smallest)
    entry.error("the alignment of a segment is smaller than the smallest transaction");
  if (word.sector > word.segment || (word.sector && word.sector < rule.smallest))
    entry.error("a sector must be as large as the smallest transaction or larger, and no larger than the segment");
  if (word.sector && rule.shrink) entry.error("sector requires shrink = false");
  if (rule.order != Coalescing::Order::kth_word) return word;
  if (word.sector) entry.error("sector requires order = \"any\"");
  if (!word.requests.groups.empty()) entry.error("groups requires order = \"any\"");
  if (word.requests.lanes * word.bytes < word.segment) entry.error("the words of a request do not fill a segment");
  return word;
}

Coalescing::Unit read_unit(RuleTable& table, const Coalescing& rule) {
  const auto given = table.choice("unit");
  if (given && rule.order == Coalescing::Order::kth_word) table.error("unit requires order = \"any\"");
  if (rule.order == Coalescing::Order::kth_word) return Coalescing::Unit::transactions;
  if (given) return static_cast<Coalescing::Unit>(*given);
  return rule.largest() == 32 && rule.smallest == 32 ? Coalescing::Unit::sectors : Coalescing::Unit::bytes;
}

} // namespace

Expected<CoalescingRule> parse_coalescing_rule(std::string_view text, std::string_view file) {
  RuleTable table(text, file, "coalescing");
  CoalescingRule rule;
  read_label(table, text, rule);
  rule.order = static_cast<Coalescing::Order>(table.choice("order").value_or(0));
  rule.shrink = table.flag("shrink");
  rule.smallest = table.number("smallest");
  rule.equal_addresses_wait = table.choice("equal_addresses").value_or(0) == 1;
  rule.atomics = static_cast<Coalescing::Atomics>(table.choice("atomics").value_or(0));
  rule.split_vectors = table.flag("split_vectors");
  if (rule.order == Coalescing::Order::kth_word && (rule.shrink || rule.equal_addresses_wait))
    table.error("shrink and equal_addresses require order = \"any\"");
  read_words(table, rule.words, [&](RuleTable& entry) { return read_word(entry, rule); });
  rule.unit = read_unit(table, rule);
  Diagnostics diagnostics = table.finish();
  if (diagnostics.has_errors()) return failure(std::move(diagnostics));
  return rule;
}

const std::vector<CoalescingRule>& coalescing_rules() {
  static const std::vector<CoalescingRule>& rules = embedded<CoalescingRule>("coalescing_", parse_coalescing_rule);
  return rules;
}

const CoalescingRule* find_coalescing_rule(std::string_view name) { return find(coalescing_rules(), name); }

} // namespace warplens::rules
