// SPDX-License-Identifier: Apache-2.0
// warplens sweep … -- PROGRAM: runs a whole program once for each configuration, and adds up its launches.
#pragma once

#include "tools/command_line.hpp"
#include "tools/sweep_axes.hpp"

namespace warplens::tools {

/// `line`: the options; `axes`: the values of those that vary; `program`: its name and arguments. Writes a table, and
/// with --csv a row for each kernel of each configuration; --json and --html have the rows of other sweeps. Returns
/// kFound if a configuration has no result. UsageError: an option that needs a launch file.
int sweep_program(const CommandLine& line, const std::vector<Axis>& axes, const std::vector<std::string>& program);

} // namespace warplens::tools
