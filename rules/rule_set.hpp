// Rules of either kind: those that a device obeys, and those that are counted besides, a user's own files or built-in
// ones by name.
//
//   Expected<Rule> rule = parse_rule(text, "full_warp.toml");
//   RuleSet rules;
//   rules.add(std::move(*rule));                      // error: a second rule of that name
//   explain(rules.coalescing.front())[0] == "4-byte words: a request is a warp; segments have 64 bytes"
#pragma once

#include "rules/banks.hpp"
#include "rules/coalescing.hpp"

#include <functional>
#include <optional>
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

  /// Error: there is a rule of that name already.
  Expected<void> add(Rule rule);
  [[nodiscard]] bool empty() const { return coalescing.empty() && banks.empty(); }
};

/// Reads either kind of rule from TOML; its key `rule` says which. Errors: as parse_coalescing_rule() and
/// parse_bank_rule(), with file, line and column.
Expected<Rule> parse_rule(std::string_view text, std::string_view file);

/// A rule by its name, or by the path of its file.
using Finder = std::function<Expected<Rule>(const std::string&)>;
/// A built-in rule. Error: there is none, with the nearest name.
Expected<Rule> find_rule(const std::string& name);
/// The names of all built-in rules, for messages.
std::vector<std::string_view> rule_names();

/// What a rule says, in sentences for people, one a line.
std::vector<std::string> explain(const Coalescing& rule);
std::vector<std::string> explain(const Banks& rule);

} // namespace warplens::rules
