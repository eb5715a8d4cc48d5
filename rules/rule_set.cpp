// SPDX-License-Identifier: Apache-2.0
#include "rules/rule_set.hpp"

#include "rules/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::rules {

const Label& label(const Rule& rule) {
  return std::visit([](const auto& one) -> const Label& { return one; }, rule);
}

Expected<void> RuleSet::add(Rule rule) {
  const std::string& name = label(rule).name;
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

namespace {

// tl::expected's own conversion makes a default value first and never destroys it.
template <class Kind> Expected<Rule> as_rule(Expected<Kind> rule) {
  if (!rule) return failure(std::move(rule.error()));
  return Rule(std::move(*rule));
}

} // namespace

Expected<Rule> parse_rule(std::string_view text, std::string_view file) {
  RuleTable table(text, file, "coalescing");
  const auto kind = table.choice("rule");
  // The other keys depend on `rule`: if it is wrong, they cannot be checked.
  if (table.has_errors()) return failure(table.finish_early());
  if (kind == 0) return as_rule(parse_coalescing_rule(text, file));
  return as_rule(parse_bank_rule(text, file));
}

Expected<Rule> find_rule(const std::string& name) {
  if (const CoalescingRule* rule = find_coalescing_rule(name)) return *rule;
  if (const BankRule* rule = find_bank_rule(name)) return *rule;
  return failure(fmt::format("there is no rule '{}' and no file of that name", name),
                 did_you_mean(name, rule_names(), "warplens list rules shows the built-in rules"));
}

std::vector<std::string_view> rule_names() {
  std::vector<std::string_view> names;
  for (const CoalescingRule& rule : coalescing_rules()) names.push_back(rule.name);
  for (const BankRule& rule : bank_rules()) names.push_back(rule.name);
  return names;
}

} // namespace warplens::rules
