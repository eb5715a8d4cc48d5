// SPDX-License-Identifier: Apache-2.0
// Text styles: escape sequences of a terminal, or empty strings.
//
//   fmt::format("{}{}{}", style.bold, kernel, style.reset)
#pragma once

#include "emulator/base/printable.hpp"

#include <string>
#include <string_view>

namespace warplens::api {

struct Style {
  std::string_view bold, dim, red, yellow, green, reset;
};

/// Escape sequences for terminals.
constexpr Style kColours{"\033[1m", "\033[2m", "\033[31m", "\033[33m", "\033[32m", "\033[0m"};

/// Makes text that contains input safe to print: no escape sequences except our own colours reach the terminal.
inline std::string printable(std::string_view text, const Style& style) {
  const std::string_view colours[] = {style.bold, style.dim, style.red, style.yellow, style.green, style.reset};
  return warplens::printable(text, colours);
}

} // namespace warplens::api
