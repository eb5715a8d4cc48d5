// Overrides of the keys of a launch file, in its TOML before it is read as a plan.
//
//   apply_override(root, {"buffer.x.count", "64"});     // --set buffer.x.count=64
#pragma once

#include "api/plan/launch_file.hpp"

#include <toml++/toml.h>

namespace warplens::api {

/// What the "file" of a value that an override gave begins with.
constexpr std::string_view kOverride = "--set ";

/// Error: the path leads nowhere, or the value is nested too deep.
Expected<void> apply_override(toml::table& root, const Override& change);

} // namespace warplens::api
