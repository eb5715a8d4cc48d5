// SPDX-License-Identifier: Apache-2.0
// Rules of both kinds: the rules of a device, and rules that are counted in addition, from a user's files or built-in
// ones by name.
//
//   Expected<Rule> rule = parse_rule(text, "full_warp.toml");
//   RuleSet rules;
//   rules.add(std::move(*rule));                      // error: a rule of that name exists
//   explain(rules.coalescing.front())[0] == "4-byte words: one request per warp; segments of 64 bytes"
#pragma once

#include "rules/banks.hpp"
#include "rules/coalescing.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace warplens::rules {

using Rule = std::variant<CoalescingRule, BankRule>;

const Label& label(const Rule& rule);

struct RuleSet {
  std::vector<CoalescingRule> coalescing; ///< global memory
  std::vector<BankRule> banks;            ///< shared memory

  /// Error: a rule of that name exists already.
  Expected<void> add(Rule rule);
  [[nodiscard]] bool empty() const { return coalescing.empty() && banks.empty(); }
};

/// Reads a rule of either kind from TOML; its key `rule` gives the kind. Errors: as parse_coalescing_rule() and
/// parse_bank_rule(), with file, line and column.
Expected<Rule> parse_rule(std::string_view text, std::string_view file);

/// Finds a rule by name or by the path of its file.
using Finder = std::function<Expected<Rule>(const std::string&)>;
/// A built-in rule. Error: no such rule; the hint has the nearest name.
Expected<Rule> find_rule(const std::string& name);
/// The names of all built-in rules, for messages.
std::vector<std::string_view> rule_names();

/// Explains a rule in sentences, one per line.
std::vector<std::string> explain(const Coalescing& rule);
std::vector<std::string> explain(const Banks& rule);

} // namespace warplens::rules
