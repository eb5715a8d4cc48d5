// SPDX-License-Identifier: Apache-2.0
// Parses the arguments of the subcommands into options and positional arguments.
//
//   const CommandLine line = parse_command_line({"a.json", "--device", "h200"}, visible);
//   line.inputs is {"a.json"}, line.values["device"] is "h200"
#pragma once

#include <boost/program_options.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::tools {

struct CommandLine {
  boost::program_options::variables_map values;
  std::vector<std::string> inputs;                     ///< positional arguments, in order
  std::vector<boost::program_options::option> options; ///< in order
};

/// Options cannot be abbreviated. `counts`: options that take a number of at least 0. Checks that outputs can be
/// written. Throws UsageError and what Boost throws.
CommandLine parse_command_line(const std::vector<std::string>& arguments,
                               const boost::program_options::options_description& visible,
                               std::initializer_list<std::string_view> counts = {});

/// The options of a command line, in order. UsageError: an unknown one; the hint suggests a known one.
boost::program_options::parsed_options parse_options(boost::program_options::command_line_parser parser,
                                                     const boost::program_options::options_description& known);

/// UsageError if one of the options was given, because they need another one, such as "--trace FILE.h5".
void refuse_without(const boost::program_options::variables_map& values,
                    const boost::program_options::options_description& options, std::string_view needed,
                    std::string_view hint);

/// --help: the options between two texts. Returns kFine.
int show_help(std::string_view before, const boost::program_options::options_description& visible,
              std::string_view after);

} // namespace warplens::tools
