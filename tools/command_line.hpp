// How the subcommands read their arguments: options, and what is no option.
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
  std::vector<std::string> inputs;                     ///< what is no option, in order
  std::vector<boost::program_options::option> options; ///< in order
};

/// Options are written out: no abbreviations. `counts`: those that take a number from 0 on. What the options that name
/// outputs name can be written. Throws UsageError and what Boost throws.
CommandLine parse_command_line(const std::vector<std::string>& arguments,
                               const boost::program_options::options_description& visible,
                               std::initializer_list<std::string_view> counts = {});

/// --help: the options between two texts. Returns kFine.
int show_help(std::string_view before, const boost::program_options::options_description& visible,
              std::string_view after);

} // namespace warplens::tools
