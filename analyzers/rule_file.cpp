#include "analyzers/rule_file.hpp"

#include "emulator/base/toml_depth.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <set>

namespace warplens::analyzers {

struct RuleTable::State {
  std::shared_ptr<toml::table> owner; // keeps the nodes of the sub-tables alive
  const toml::table* table = nullptr;
  std::shared_ptr<Diagnostics> diagnostics = std::make_shared<Diagnostics>();
  std::string file;
  std::set<std::string, std::less<>> asked;

  static SourceLocation place(const toml::node& node) { return {node.source().begin.line, node.source().begin.column}; }
  SourceLocation here() const { return table ? place(*table) : SourceLocation{}; }

  const toml::node* get(std::string_view key, bool required) {
    asked.emplace(key);
    const toml::node* node = table ? table->get(key) : nullptr;
    if (!node && required && table) diagnostics->error(here(), "the rule lacks the key '" + std::string(key) + "'");
    return node;
  }
};

namespace {

/// A value as it stands in the file, cut short; what kind of thing it is where it is no single value.
std::string shown(const toml::node& node) {
  if (const auto value = node.value_exact<std::int64_t>()) return std::to_string(*value);
  if (const auto value = node.value_exact<bool>()) return *value ? "true" : "false";
  if (const auto value = node.value_exact<std::string>()) return "\"" + value->substr(0, 40) + "\"";
  if (const toml::array* array = node.as_array()) return array->empty() ? "an empty list" : "a list";
  if (node.is_table()) return "a table";
  return node.is_floating_point() ? "a number with a fraction" : "a date or time";
}

} // namespace

RuleTable::RuleTable(std::unique_ptr<State> state) : state_(std::move(state)) {}
RuleTable::RuleTable(RuleTable&&) noexcept = default;
RuleTable::~RuleTable() = default;

RuleTable::RuleTable(std::string_view text, std::string_view file) : state_(std::make_unique<State>()) {
  state_->file = file;
  if (const SourceLocation place = too_deep(text); place.line != 0) {
    state_->diagnostics->error(place, std::string(kTooDeep));
    return;
  }
  try {
    state_->owner = std::make_shared<toml::table>(toml::parse(text, file));
    state_->table = state_->owner.get();
  } catch (const toml::parse_error& error) {
    const auto& at = error.source().begin;
    state_->diagnostics->error({at.line, at.column}, std::string(error.description()));
  }
}

std::string RuleTable::text(std::string_view key) {
  const toml::node* node = state_->get(key, true);
  if (!node) return {};
  if (auto value = node->value_exact<std::string>()) return *value;
  state_->diagnostics->error(State::place(*node),
                             "expected a text for '" + std::string(key) + "', got " + shown(*node));
  return {};
}

std::string RuleTable::text_or(std::string_view key, std::string_view otherwise) {
  return state_->get(key, false) ? text(key) : std::string(otherwise);
}

std::string RuleTable::name(std::string_view key) {
  std::string result = text(key);
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._+-").find(c) != std::string_view::npos;
  };
  const toml::node* node = state_->get(key, false);
  if (node && node->is_string() && (result.empty() || !std::all_of(result.begin(), result.end(), fits)))
    state_->diagnostics->error(State::place(*node), "'" + std::string(key) + "' must be made of letters, digits, " +
                                                        "'.', '_', '+' and '-', got \"" + result + "\"");
  return result;
}

bool RuleTable::flag(std::string_view key) {
  const toml::node* node = state_->get(key, true);
  if (!node) return false;
  if (auto value = node->value_exact<bool>()) return *value;
  state_->diagnostics->error(State::place(*node),
                             "expected true or false for '" + std::string(key) + "', got " + shown(*node));
  return false;
}

std::uint32_t RuleTable::number(std::string_view key, std::initializer_list<std::uint32_t> allowed) {
  if (!state_->get(key, true)) return *allowed.begin();
  return number_or(key, allowed, *allowed.begin());
}

std::uint32_t RuleTable::number_or(std::string_view key, std::initializer_list<std::uint32_t> allowed,
                                   std::uint32_t otherwise) {
  const toml::node* node = state_->get(key, false);
  if (!node) return otherwise;
  if (auto value = node->value_exact<std::int64_t>())
    for (std::uint32_t candidate : allowed)
      if (*value == candidate) return candidate;
  std::string list;
  for (std::uint32_t candidate : allowed) list += (list.empty() ? "" : ", ") + std::to_string(candidate);
  state_->diagnostics->error(State::place(*node),
                             "'" + std::string(key) + "' must be one of " + list + ", got " + shown(*node));
  return otherwise;
}

std::size_t RuleTable::word(std::string_view key, std::initializer_list<std::string_view> allowed) {
  const toml::node* node = state_->get(key, true);
  if (!node) return 0;
  const std::optional<std::string> value = node->value_exact<std::string>();
  std::string list;
  std::size_t position = 0;
  for (std::string_view candidate : allowed) {
    if (value && *value == candidate) return position;
    list += (list.empty() ? "" : ", ") + std::string(candidate);
    ++position;
  }
  state_->diagnostics->error(State::place(*node),
                             "'" + std::string(key) + "' must be one of " + list + ", got " + shown(*node));
  return 0;
}

std::vector<RuleTable> RuleTable::tables(std::string_view key) {
  std::vector<RuleTable> result;
  const toml::node* node = state_->get(key, true);
  if (!node) return result;
  const toml::array* array = node->as_array();
  if (!array || array->empty() || !array->is_homogeneous(toml::node_type::table)) {
    state_->diagnostics->error(State::place(*node),
                               "expected [[" + std::string(key) + "]] tables, got " + shown(*node));
    return result;
  }
  for (const toml::node& element : *array) {
    auto state = std::make_unique<State>();
    state->owner = state_->owner;
    state->table = element.as_table();
    state->diagnostics = state_->diagnostics;
    state->file = state_->file;
    result.push_back(RuleTable(std::move(state)));
  }
  return result;
}

void RuleTable::error(std::string message, std::string hint) {
  state_->diagnostics->error(state_->here(), std::move(message), std::move(hint));
}

bool RuleTable::has_errors() const { return state_->diagnostics->has_errors(); }

Diagnostics RuleTable::finish_early() {
  Diagnostics result = *state_->diagnostics;
  result.in_file(state_->file);
  return result;
}

Diagnostics RuleTable::finish() {
  if (state_->table)
    for (const auto& [key, node] : *state_->table)
      if (!state_->asked.contains(key.str())) {
        std::vector<std::string_view> known(state_->asked.begin(), state_->asked.end());
        const std::string near = closest(key.str(), known);
        const auto& at = key.source().begin;
        state_->diagnostics->error({at.line, at.column}, "unknown key '" + std::string(key.str()) + "'",
                                   near.empty() ? "" : "did you mean '" + near + "'?");
      }
  return finish_early();
}

} // namespace warplens::analyzers
