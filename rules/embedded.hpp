// SPDX-License-Identifier: Apache-2.0
// The rule files that are compiled in.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace warplens::rules {

struct EmbeddedRule {
  std::string_view file; ///< "coalescing_1.0.toml"
  std::string_view text;
};

/// Every rule that is compiled in, by file name.
std::span<const EmbeddedRule> embedded_rules();

/// The rules whose file names start with `beginning`. Never destroyed, so that they can be used while the program ends.
template <class Rule, class Parse> const std::vector<Rule>& embedded(std::string_view beginning, Parse&& parse) {
  auto& result = *new std::vector<Rule>;
  for (const EmbeddedRule& one : embedded_rules())
    if (one.file.starts_with(beginning))
      if (auto rule = parse(one.text, one.file)) result.push_back(std::move(*rule));
  return result;
}

template <class Rule> const Rule* find(const std::vector<Rule>& rules, std::string_view name) {
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const Rule& rule) { return rule.name == name; });
  return found == rules.end() ? nullptr : &*found;
}

} // namespace warplens::rules
