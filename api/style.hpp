// How text for people is set off: escape sequences of a terminal, or nothing.
//
//   fmt::format("{}{}{}", style.bold, kernel, style.reset)
#pragma once

#include <string_view>

namespace warplens::api {

struct Style {
  std::string_view bold, dim, red, yellow, green, reset;
};

/// What terminals understand.
constexpr Style kColours{"\033[1m", "\033[2m", "\033[31m", "\033[33m", "\033[32m", "\033[0m"};

} // namespace warplens::api
