// SPDX-License-Identifier: Apache-2.0
#include "tools/tool_options.hpp"

#include "api/report/check_files.hpp"
#include "tools/command_line.hpp"
#include "tools/output.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

namespace warplens::tools {

namespace po = boost::program_options;

namespace {

std::uint64_t number_or(const po::variables_map& values, const char* option, std::uint64_t otherwise) {
  if (values.count(option) == 0) return otherwise;
  const std::string text = values[option].as<std::string>();
  const bool is_number = !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == text.npos;
  if (!is_number) throw UsageError{fmt::format("--{}: expected a number, got '{}'", option, text), ""};
  return std::stoull(text);
}

std::string text_or_empty(const po::variables_map& values, const char* option) {
  return values.count(option) == 0 ? "" : values[option].as<std::string>();
}

bool asks_for_leaks(const std::string& text) {
  if (text != "full" && text != "no" && !text.empty())
    throw UsageError{fmt::format("--leak-check: expected full or no, got '{}'", text), ""};
  return text == "full";
}

} // namespace

void add_tool_options(po::options_description& options) {
  auto add = options.add_options();
  const auto word = [](const char* name) { return po::value<std::string>()->value_name(name); };
  add("tool", word("NAME"),
      "check the launches with memcheck, racecheck, initcheck, synccheck, all, or several separated by commas; the "
      "messages go to stderr");
  add("error-exitcode", word("N"), "exit status if --tool found errors in a run that succeeded; the default is 1");
  add("print-limit", word("N"), "show at most N messages of --tool; the default is 100");
  add("leak-check", word("full|no"), "memcheck reports memory that is never freed; the default is no");
  add("ignore-same-values", "racecheck leaves out races of stores that store the same value");
  add("track-unused-memory", "initcheck also reports memory that is never written");
  add("schedule-seed", word("N"), "run blocks and warps in another order: 0 is the usual one, 1 the reverse");
  add("save", word("FILE"), "write the messages of --tool as JSON");
  add("xml", "write the file of --save as XML");
  add("suppressions", word("FILE"), "leave out the messages that FILE lists: a file of --save, or a part of one");
}

void add_selection_options(po::options_description& options, const std::string& verb) {
  auto add = options.add_options();
  const auto word = [](const char* name) { return po::value<std::string>()->value_name(name); };
  add("kernel-name", word("REGEX"),
      fmt::format("{} only kernels whose mangled or demangled name contains a match", verb).c_str());
  add("launch-skip", word("N"), "skip the first N of these launches");
  add("launch-count", word("N"), fmt::format("{} only N of these launches", verb).c_str());
}

std::optional<api::CheckOptions> tool_options(const po::variables_map& values) {
  if (values.count("tool") == 0) {
    po::options_description options;
    add_tool_options(options);
    refuse_without(values, options, "--tool", "--tool memcheck");
    return std::nullopt;
  }
  api::CheckOptions options;
  const Expected<exec::Tools> tools = api::parse_tools(values["tool"].as<std::string>());
  if (!tools) {
    const Diagnostic& why = tools.error().list().front();
    throw UsageError{"--tool: " + why.message, why.hint};
  }
  options.tools = *tools;
  const std::uint64_t status = number_or(values, "error-exitcode", 1);
  if (status > 255) // the system keeps 8 bits: 256 would be a success
    throw UsageError{fmt::format("--error-exitcode: expected a number up to 255, got {}", status), ""};
  options.error_exitcode = static_cast<int>(status);
  options.print_limit = number_or(values, "print-limit", options.print_limit);
  options.leak_check = asks_for_leaks(text_or_empty(values, "leak-check"));
  options.kernel_name = text_or_empty(values, "kernel-name");
  options.launch_skip = number_or(values, "launch-skip", 0);
  options.launch_count = number_or(values, "launch-count", options.launch_count);
  options.save = text_or_empty(values, "save");
  options.xml = values.count("xml") != 0;
  options.same_values = values.count("ignore-same-values") == 0;
  options.track_unused = values.count("track-unused-memory") != 0;
  options.schedule_seed = number_or(values, "schedule-seed", 0);
  options.sarif = text_or_empty(values, "sarif");
  options.junit = text_or_empty(values, "junit");
  options.suppressions = text_or_empty(values, "suppressions");
  if (options.xml && options.save.empty()) throw UsageError{"--xml needs --save FILE", ""};
  if (!options.save.empty()) check_writable(options.save);
  return options;
}

int conclude_tools(api::Sanitizer& tools, const exec::Heap* heap) {
  tools.conclude(heap);
  const std::vector<api::CheckMessage> messages = tools.take();
  api::CheckSummary summary = tools.summary();
  std::string text = "========= WARPLENS SANITIZER\n";
  for (const api::CheckMessage& m : messages)
    if (summary.printed < tools.options().print_limit) {
      text += api::message_text(m);
      ++summary.printed;
    }
  text += api::summary_text(summary, api::names_of(tools.tools()));
  std::fputs(api::printable(text, style_for(STDERR_FILENO)).c_str(), stderr);
  value_or_throw(api::write_check_files(tools.options(), messages, ""));
  return summary.errors != 0 ? tools.options().error_exitcode : kFine;
}

} // namespace warplens::tools
