// SPDX-License-Identifier: Apache-2.0
#include "rules/table.hpp"

#include "emulator/base/toml.hpp"
#include "rules/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>

namespace warplens::rules {

namespace {

SourceLocation place(const toml::node& node) { return {node.source().begin.line, node.source().begin.column}; }

/// A value as in the file, shortened; for anything but a single value, its kind.
std::string shown(const toml::node& node) {
  if (const auto value = node.value_exact<std::int64_t>()) return std::to_string(*value);
  if (const auto value = node.value_exact<bool>()) return *value ? "true" : "false";
  if (const auto value = node.value_exact<std::string>()) return "\"" + value->substr(0, 40) + "\"";
  if (const toml::array* array = node.as_array()) return array->empty() ? "an empty list" : "a list";
  if (node.is_table()) return "a table";
  return node.is_floating_point() ? "a floating-point number" : "a date or time";
}

bool fits_a_name(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._+-").find(c) != std::string_view::npos;
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), fits);
}

/// "0-7,16-23" as a mask of lanes; none: not a list of lanes.
std::optional<std::uint32_t> lanes_of(std::string_view text) {
  std::uint32_t lanes = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto lane = [&](std::uint32_t& number) {
    const auto [after, error] = std::from_chars(at, end, number);
    at = after;
    return error == std::errc{} && number < 32;
  };
  while (true) {
    std::uint32_t first = 0, last = 0;
    if (!lane(first)) return std::nullopt;
    last = first;
    if (at != end && *at == '-' && (++at, !lane(last) || last < first)) return std::nullopt;
    for (; first <= last; ++first) {
      if (lanes >> first & 1) return std::nullopt;
      lanes |= 1u << first;
    }
    if (at == end) return lanes;
    if (*at++ != ',') return std::nullopt;
  }
}

} // namespace

struct RuleTable::State {
  std::shared_ptr<toml::table> owner; // keeps the nodes of the sub-tables alive
  const toml::table* table = nullptr;
  std::shared_ptr<Diagnostics> diagnostics = std::make_shared<Diagnostics>();
  std::string file;
  std::string name; // in keys.hpp

  SourceLocation here() const { return table ? place(*table) : SourceLocation{}; }

  struct Found {
    const Key& key;
    const toml::node* node; // null: the key is missing
  };
  Found find(std::string_view key_name) {
    const Key& key = *find_key(name, key_name);
    const toml::node* node = table ? table->get(key_name) : nullptr;
    if (!node && key.otherwise.empty() && table)
      diagnostics->error(here(), fmt::format("the rule lacks the key '{}'", key_name));
    return {key, node};
  }
  void refuse(const Found& found, std::string_view must = "must be") {
    diagnostics->error(place(*found.node),
                       fmt::format("'{}' {} {}, got {}", found.key.name, must, takes(found.key), shown(*found.node)));
  }
  void expected(const Found& found) {
    diagnostics->error(place(*found.node), fmt::format("expected {} for '{}', got {}", takes(found.key), found.key.name,
                                                       shown(*found.node)));
  }
};

RuleTable::RuleTable(std::unique_ptr<State> state) : state_(std::move(state)) {}
RuleTable::RuleTable(RuleTable&&) noexcept = default;
RuleTable::~RuleTable() = default;

RuleTable::RuleTable(std::string_view text, std::string_view file, std::string_view table)
    : state_(std::make_unique<State>()) {
  state_->file = file;
  state_->name = table;
  if (std::optional<toml::table> root = parse_toml(text, file, *state_->diagnostics)) {
    state_->owner = std::make_shared<toml::table>(std::move(*root));
    state_->table = state_->owner.get();
  }
}

std::string RuleTable::text(std::string_view key) {
  const auto found = state_->find(key);
  if (!found.node) return {};
  std::optional<std::string> value = found.node->value_exact<std::string>();
  if (!value)
    state_->diagnostics->error(place(*found.node),
                               fmt::format("expected a string for '{}', got {}", key, shown(*found.node)));
  else if (found.key.takes == Key::Takes::name && !fits_a_name(*value))
    state_->refuse(found);
  return value.value_or("");
}

bool RuleTable::flag(std::string_view key) {
  const auto found = state_->find(key);
  if (!found.node) return found.key.otherwise == "true";
  const auto value = found.node->value_exact<bool>();
  if (!value) state_->expected(found);
  return value.value_or(false);
}

std::optional<std::uint32_t> RuleTable::given(std::string_view key) {
  const auto found = state_->find(key);
  if (!found.node) return std::nullopt;
  const auto value = found.node->value_exact<std::int64_t>();
  const bool fits = value && *value >= found.key.least && *value <= found.key.most &&
                    (found.key.takes != Key::Takes::power || std::has_single_bit(static_cast<std::uint64_t>(*value)));
  if (fits) return static_cast<std::uint32_t>(*value);
  state_->refuse(found);
  return found.key.least;
}

std::uint32_t RuleTable::number(std::string_view key) {
  if (const auto value = given(key)) return *value;
  const Key& declared = *find_key(state_->name, key);
  std::uint32_t otherwise = declared.least;
  std::from_chars(declared.otherwise.data(), declared.otherwise.data() + declared.otherwise.size(), otherwise);
  return otherwise;
}

std::optional<std::size_t> RuleTable::choice(std::string_view key) {
  const auto found = state_->find(key);
  const auto position = [&](std::string_view word) -> std::optional<std::size_t> {
    const auto& all = found.key.choices;
    const auto at = std::find(all.begin(), all.end(), word);
    return at == all.end() || word.empty() ? std::nullopt : std::optional(static_cast<std::size_t>(at - all.begin()));
  };
  if (!found.node) return position(found.key.otherwise);
  const auto value = found.node->value_exact<std::string>();
  const auto at = value ? position(*value) : std::nullopt;
  if (!at) state_->refuse(found);
  return at.value_or(0);
}

std::vector<std::uint32_t> RuleTable::groups(std::string_view key) {
  const auto found = state_->find(key);
  std::vector<std::uint32_t> result;
  if (!found.node) return result;
  const toml::array* array = found.node->as_array();
  if (!array || array->empty()) return state_->refuse(found), result;
  std::uint32_t all = 0;
  for (const toml::node& node : *array) {
    const auto text = node.value_exact<std::string>();
    const auto lanes = text ? lanes_of(*text) : std::nullopt;
    if (!lanes || (all & *lanes) != 0) {
      state_->diagnostics->error(place(node),
                                 fmt::format("'{}': expected lanes from 0 to 31 such as \"0-7,16-23\", each "
                                             "once, got {}",
                                             key, shown(node)));
      return {};
    }
    all |= *lanes;
    result.push_back(*lanes);
  }
  if (all != ~0u)
    state_->diagnostics->error(place(*found.node), fmt::format("'{}': some of the 32 lanes are in no request", key));
  return result;
}

std::vector<RuleTable> RuleTable::tables(std::string_view key) {
  const auto found = state_->find(key);
  std::vector<RuleTable> result;
  if (!found.node) return result;
  const toml::array* array = found.node->as_array();
  if (!array || array->empty() || !array->is_homogeneous(toml::node_type::table)) {
    state_->diagnostics->error(place(*found.node),
                               fmt::format("expected {}, got {}", takes(found.key), shown(*found.node)));
    return result;
  }
  for (const toml::node& element : *array) {
    auto state = std::make_unique<State>();
    state->owner = state_->owner;
    state->table = element.as_table();
    state->diagnostics = state_->diagnostics;
    state->file = state_->file;
    state->name = state_->name + ".word";
    result.push_back(RuleTable(std::move(state)));
  }
  return result;
}

void RuleTable::error(std::string message, std::string hint) {
  state_->diagnostics->error(state_->here(), std::move(message), std::move(hint));
}

void RuleTable::wrong(std::string_view key, std::string message, std::string hint) {
  const toml::node* node = state_->table ? state_->table->get(key) : nullptr;
  state_->diagnostics->error(node ? place(*node) : state_->here(), std::move(message), std::move(hint));
}

bool RuleTable::has_errors() const { return state_->diagnostics->has_errors(); }

Diagnostics RuleTable::finish_early() {
  Diagnostics result = *state_->diagnostics;
  result.in_file(state_->file);
  return result;
}

Diagnostics RuleTable::finish() {
  std::vector<std::string_view> known;
  for (const Key& key : keys())
    if (key.table == state_->name) known.push_back(key.name);
  if (state_->table)
    for (const auto& [key, node] : *state_->table)
      if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
        const auto& at = key.source().begin;
        state_->diagnostics->error({at.line, at.column}, fmt::format("unknown key '{}'", key.str()),
                                   did_you_mean(key.str(), known));
      }
  return finish_early();
}

} // namespace warplens::rules
