// SPDX-License-Identifier: Apache-2.0
#include "tools/rule_text.hpp"

#include "api/report/table.hpp"

#include <fmt/format.h>

namespace warplens::tools {

namespace {

/// The built-in devices that use a rule.
template <class Named> std::string obeyed_by(Named&& named) {
  std::string list;
  for (const model::Device& d : model::built_in_devices())
    if (named(d)) list += fmt::format("{}{}", list.empty() ? "" : ", ", d.id);
  return list;
}

template <class R>
std::string rule_text(const R& rule, std::string_view of, const std::string& devices, const api::Style& style) {
  std::string text = fmt::format("{}{}{} ({}): {}\n", style.bold, rule.name, style.reset, of, rule.title);
  for (const std::string& sentence : rules::explain(rule)) text += api::wrapped(sentence, "  ");
  if (!rule.source.empty()) text += api::wrapped("source: " + rule.source, "  ");
  if (!devices.empty()) text += api::wrapped("devices: " + devices, "  ");
  return text + "\n";
}

} // namespace

std::string rules_text(const rules::RuleSet& rules, const api::Style& style) {
  std::string text;
  for (const rules::CoalescingRule& r : rules.coalescing)
    text +=
        rule_text(r, "transactions", obeyed_by([&](const auto& d) { return d.coalescing_rule.name == r.name; }), style);
  for (const rules::BankRule& r : rules.banks)
    text += rule_text(r, "banks", obeyed_by([&](const auto& d) { return d.bank_rule.name == r.name; }), style);
  return text;
}

} // namespace warplens::tools
