// A guard for readers of TOML files. toml++ limits how deep values nest, but not how many parts a dotted key has: each
// part is a table in a table, and enough of them overflow the stack when the tables are destroyed.
//
//   if (const SourceLocation place = too_deep(text); place.line != 0) errors.error(place, kTooDeep);
#pragma once

#include "emulator/base/diagnostic.hpp"

#include <string_view>

namespace warplens {

constexpr std::string_view kTooDeep = "more than 100 dots in a line: nested too deeply";

/// The first line of a TOML text with more than 100 dots, and the place of the next dot in it; line 0 where there is
/// none. A key ends with its line, so no key has more parts than that.
inline SourceLocation too_deep(std::string_view text) {
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

} // namespace warplens
