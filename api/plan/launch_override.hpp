// SPDX-License-Identifier: Apache-2.0
// Applies overrides to the TOML of a launch file before it is read as a plan.
//
//   apply_override(root, {"buffer.x.count", "64"});     // --set buffer.x.count=64
#pragma once

#include "api/plan/launch_file.hpp"

#include <toml++/toml.h>

namespace warplens::api {

/// Prefix of the "file" of a value that comes from an override.
constexpr std::string_view kOverride = "--set ";

/// Error: the path does not exist, or the value is nested too deeply.
Expected<void> apply_override(toml::table& root, const Override& change);

} // namespace warplens::api
