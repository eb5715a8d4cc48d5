// SPDX-License-Identifier: Apache-2.0
// Parses all TOML: launch files, device files, rule files, and values on the command line.
//
//   Diagnostics errors;
//   std::optional<toml::table> root = parse_toml(text, "launch.toml", errors);
#pragma once

#include "emulator/base/diagnostic.hpp"

#include <toml++/toml.h>

#include <optional>
#include <string_view>

namespace warplens {

/// Empty after an error. The error has a place but no file. `file` is the name that the sources of the nodes give.
std::optional<toml::table> parse_toml(std::string_view text, std::string_view file, Diagnostics& errors);

} // namespace warplens
