// SPDX-License-Identifier: Apache-2.0
// --tool and its options, with the names of compute-sanitizer. `run` and `exec` share them.
//
//   add_tool_options(options);  …  const std::optional<api::CheckOptions> checks = tool_options(values);
#pragma once

#include "api/check/sanitizer.hpp"

#include <boost/program_options.hpp>

#include <optional>
#include <span>

namespace warplens::tools {

void add_tool_options(boost::program_options::options_description& options);
/// --kernel-name, --launch-skip and --launch-count, which `exec` also has for its analysis.
void add_selection_options(boost::program_options::options_description& options, const std::string& verb);

/// Empty: no --tool. Errors: UsageError, also for options that need --tool.
std::optional<api::CheckOptions> tool_options(const boost::program_options::variables_map& values);

/// Prints the messages and the summary on stderr, and writes --save. Returns the exit status for the errors, or kFine.
int conclude_tools(api::Sanitizer& tools, const exec::Heap* heap);

} // namespace warplens::tools
