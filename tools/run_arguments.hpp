// SPDX-License-Identifier: Apache-2.0
// The arguments of a launch on the command line.
//
//   --arg s32=5  --arg x:f32[1024]=iota  --arg y:f32[1024]=zeros  --arg buffer=x
#pragma once

#include "api/plan/launch_file.hpp"

#include <string_view>
#include <vector>

namespace warplens::tools {

/// Arguments from --arg, and the buffers that they define.
struct CommandLineArguments {
  std::vector<api::ArgumentPlan> arguments;
  std::vector<api::BufferPlan> buffers;
};

/// Parses all --arg texts, in order. UsageError: one is invalid.
CommandLineArguments parse_arguments(const std::vector<std::string>& texts);

/// "key=value" of --set. UsageError: no '='.
api::Override parse_override(std::string_view text);

} // namespace warplens::tools
