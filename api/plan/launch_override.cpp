// SPDX-License-Identifier: Apache-2.0
#include "api/plan/launch_override.hpp"

#include "emulator/base/toml.hpp"

#include <fmt/format.h>

#include <charconv>

namespace warplens::api {

namespace {

// The node that an override's path refers to, without the last part; null: there is none.
toml::node* parent_of(toml::table& root, std::string_view& path) {
  toml::node* node = &root;
  for (std::size_t dot = path.find('.'); dot != path.npos; dot = path.find('.')) {
    const std::string_view part = path.substr(0, dot);
    path.remove_prefix(dot + 1);
    if (toml::table* table = node->as_table()) {
      node = table->get(part);
      if (node == nullptr) node = &table->insert(part, toml::table{}).first->second;
    } else if (toml::array* list = node->as_array()) {
      std::size_t index = list->size();
      std::from_chars(part.data(), part.data() + part.size(), index);
      node = list->get(index);
    } else {
      node = nullptr;
    }
    if (node == nullptr) return nullptr;
  }
  return node;
}

} // namespace

Expected<void> apply_override(toml::table& root, const Override& change) {
  const std::string name = fmt::format("{}{}={}", kOverride, change.path, change.value);
  Diagnostics no_toml;
  std::optional<toml::table> value = parse_toml("value = " + change.value, name, no_toml);
  if (!value) value = toml::table{{"value", change.value}}; // a string without quotes
  std::string_view last = change.path;
  toml::node* parent = parent_of(root, last);
  const auto no_such = [&] {
    return failure(fmt::format("{}: '{}' does not exist in the launch file", name, change.path));
  };
  if (parent == nullptr || last.empty()) return no_such();
  if (toml::table* table = parent->as_table()) {
    // Moved, not copied: copies lose their source positions.
    value->get("value")->visit([&](auto& node) { table->insert_or_assign(last, std::move(node)); });
    return {};
  }
  toml::array* list = parent->as_array();
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(last.data(), last.data() + last.size(), index);
  if (list == nullptr || error != std::errc{} || end != last.data() + last.size() || index >= list->size())
    return no_such();
  value->get("value")->visit(
      [&](auto& node) { list->replace(list->cbegin() + static_cast<std::ptrdiff_t>(index), std::move(node)); });
  return {};
}

} // namespace warplens::api
