// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line.hpp"

#include "tools/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>

namespace warplens::tools {

namespace po = boost::program_options;

namespace {

/// Rejects outputs that cannot be written before the work starts, and outputs that would overwrite an input.
void check_outputs(const CommandLine& line) {
  if (line.values.count("help") != 0) return;
  for (const auto& option : line.options) {
    constexpr std::string_view kOutputs[] = {"json", "csv", "sarif", "junit", "plot", "output", "trace"};
    if (std::find(std::begin(kOutputs), std::end(kOutputs), option.string_key) == std::end(kOutputs)) continue;
    for (const std::string& file : option.value) {
      check_writable(file);
      std::error_code ignored;
      for (const std::string& input : line.inputs)
        if (std::filesystem::equivalent(file, input, ignored))
          throw UsageError{fmt::format("--{} {} would overwrite the input", option.string_key, file), ""};
    }
  }
}

} // namespace

CommandLine parse_command_line(const std::vector<std::string>& arguments, const po::options_description& visible,
                               std::initializer_list<std::string_view> counts) {
  po::options_description all;
  all.add(visible).add_options()("input", po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("input", -1);
  const po::parsed_options parsed =
      parse_options(po::command_line_parser(arguments).options(all).positional(positional), visible);
  for (const auto& option : parsed.options) { // Boost would wrap a negative number
    const bool count = std::find(counts.begin(), counts.end(), option.string_key) != counts.end();
    if (count && !option.value.empty() && option.value.front().starts_with('-'))
      throw UsageError{fmt::format("--{}: expected a number, got '{}'", option.string_key, option.value.front()), ""};
  }
  CommandLine line;
  po::store(parsed, line.values);
  po::notify(line.values);
  if (line.values.count("input") != 0) line.inputs = line.values["input"].as<std::vector<std::string>>();
  line.options = parsed.options;
  check_outputs(line);
  return line;
}

po::parsed_options parse_options(po::command_line_parser parser, const po::options_description& known) {
  try {
    return parser.style(po::command_line_style::default_style & ~po::command_line_style::allow_guessing).run();
  } catch (const po::unknown_option& e) {
    const std::string written = e.get_option_name(),
                      name = written.substr(std::min(written.find_first_not_of('-'), written.size()));
    std::vector<std::string_view> names;
    for (const auto& option : known.options()) names.push_back(option->long_name());
    const std::string near = closest(name, names);
    throw UsageError{fmt::format("unrecognised option '{}'", written),
                     near.empty() ? "--help shows the options" : fmt::format("did you mean '--{}'?", near)};
  }
}

void refuse_without(const po::variables_map& values, const po::options_description& options, std::string_view needed,
                    std::string_view hint) {
  for (const auto& option : options.options())
    if (values.count(option->long_name()) != 0)
      throw UsageError{fmt::format("--{} needs {}", option->long_name(), needed), std::string(hint)};
}

int show_help(std::string_view before, const po::options_description& visible, std::string_view after) {
  std::ostringstream options;
  options << visible;
  write(fmt::format("{}{}{}", before, options.str(), after));
  return kFine;
}

} // namespace warplens::tools
