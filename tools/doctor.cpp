// SPDX-License-Identifier: Apache-2.0
// warplens doctor: shows what is there, and what to do about what is not.
#include "tools/checks.hpp"
#include "tools/command_line.hpp"
#include "tools/output.hpp"

#include <boost/program_options.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>

namespace warplens::tools {

namespace {

namespace po = boost::program_options;
using State = Check::State;

constexpr std::string_view kDoctorHelp = R"(usage: warplens doctor [--json]

Checks this installation: the version, the processor, the limit of memory, the emulation of a sample kernel, the tools
that some commands call (nvcc, ptxas, gnuplot), the folder of compiled .cu files, the libraries of 'warplens exec', and
the environment variables that are set.

)";
constexpr std::string_view kDoctorExamples = R"(
Examples:
  warplens doctor
  warplens doctor --json
Exit status: 0 everything that is needed works; 1 something is broken. Optional tools may be missing.
)";

std::string text_of(const std::vector<Check>& list, const Style& style) {
  std::size_t names = 0;
  for (const Check& check : list) names = std::max(names, check.name.size());
  std::string text;
  for (const Check& check : list) {
    const std::string_view colour = check.state == State::broken    ? style.red
                                    : check.state == State::missing ? style.yellow
                                                                    : style.green;
    text += fmt::format("{}{:<7}{}  {:<{}}  {}\n", colour, to_string(check.state), style.reset, check.name, names,
                        check.value);
    if (!check.hint.empty()) text += fmt::format("{:<{}}  {}\n", "", names + 9, check.hint);
  }
  return text;
}

std::string json_of(const std::vector<Check>& list, bool works) {
  using Json = nlohmann::ordered_json;
  Json all = Json::array();
  for (const Check& check : list)
    all.push_back({{"name", check.name.substr(check.name.find_first_not_of(' '))},
                   {"state", to_string(check.state)},
                   {"value", check.value},
                   {"hint", check.hint}});
  const Json report{{"works", works}, {"checks", std::move(all)}};
  // Paths and variables need not be UTF-8.
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace

int doctor(const std::vector<std::string>& arguments) {
  po::options_description visible("Options");
  auto add = visible.add_options();
  add("json", "write the result as JSON to standard output");
  add("help,h", "show this help");
  const CommandLine line = parse_command_line(arguments, visible);
  if (line.values.count("help") != 0) return show_help(kDoctorHelp, visible, kDoctorExamples);
  if (!line.inputs.empty()) throw UsageError{fmt::format("unexpected argument '{}'", line.inputs.front()), ""};
  const std::vector<Check> list = checks();
  const bool works = std::none_of(list.begin(), list.end(), [](const Check& c) { return c.state == State::broken; });
  if (line.values.count("json") != 0)
    write_data(json_of(list, works));
  else
    write(text_of(list, style_for(STDOUT_FILENO)) +
          (works ? "\nEverything that is needed works.\n" : "\nSomething is broken: see above.\n"));
  return works ? kFine : kFound;
}

} // namespace warplens::tools
