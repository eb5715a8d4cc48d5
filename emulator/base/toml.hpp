// How all TOML is parsed: launch files, device files, rule files, and values given on the command line.
//
//   Diagnostics errors;
//   std::optional<toml::table> root = parse_toml(text, "launch.toml", errors);
#pragma once

#include "emulator/base/diagnostic.hpp"

#include <toml++/toml.h>

#include <optional>
#include <string_view>

namespace warplens {

/// Nothing after an error, which has a place but no file. `file` is what the nodes' sources name.
std::optional<toml::table> parse_toml(std::string_view text, std::string_view file, Diagnostics& errors);

} // namespace warplens
