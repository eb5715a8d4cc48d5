// SPDX-License-Identifier: Apache-2.0
#include "emulator/base/toml.hpp"

namespace warplens {

namespace {

/// The first line with more than 100 dots, and the place of the next dot in it; line 0 if there is none. toml++ limits
/// how deep values nest, but not how many parts a dotted key has. Each part is a table in a table, and too many of them
/// overflow the stack when the tables are destroyed. A key ends with its line, so this limits the parts of a key.
SourceLocation too_deep(std::string_view text) {
  constexpr int kMost = 100;
  SourceLocation place{1, 0};
  int dots = 0;
  for (const char c : text) {
    ++place.column;
    if (c == '.' && ++dots > kMost) return place;
    if (c != '\n') continue;
    place = {place.line + 1, 0};
    dots = 0;
  }
  return {};
}

} // namespace

std::optional<toml::table> parse_toml(std::string_view text, std::string_view file, Diagnostics& errors) {
  if (const SourceLocation place = too_deep(text); place.line != 0) {
    errors.error(place, "more than 100 dots in a line: nested too deeply");
    return std::nullopt;
  }
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    const auto& at = error.source().begin;
    errors.error({at.line, at.column}, std::string(error.description()));
    return std::nullopt;
  }
}

} // namespace warplens
