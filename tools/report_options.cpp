// SPDX-License-Identifier: Apache-2.0
#include "tools/report_options.hpp"

#include "api/html/page.hpp"
#include "api/report/catalogue.hpp"
#include "api/report/json_report.hpp"
#include "api/report/terminal.hpp"
#include "tools/output.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>
#include <sstream>

namespace warplens::tools {

namespace po = boost::program_options;

namespace {
using Strings = std::vector<std::string>;
}

bool ReportOptions::writes_stdout() const {
  const auto all = api::report_file_options();
  return std::any_of(all.begin(), all.end(), [&](const auto& o) { return files.*o.file == "-"; });
}

void add_report_options(po::options_description& options) {
  auto add = options.add_options();
  add("details", po::value<Strings>()->value_name("SECTION|all"),
      "also show this section of the report, see above; may be repeated");
  add("show", po::value<std::string>()->value_name("KERNELS"),
      "of several kernels, show these: numbers of the table, regular expressions for names, or all, separated by "
      "commas; the default is the kernel with the longest predicted time");
  add("counters", "show every counter under its profiler name");
  for (const api::ReportFileOption& o : api::report_file_options())
    add(o.option, po::value<std::string>()->value_name("FILE"), std::string(o.help).c_str());
  add(api::kFoldOption, "in the JSON report, a launch that equals an earlier one refers to it ('same_as')");
  add("html", po::value<std::string>()->value_name("FILE"),
      "write the report as an HTML page: one file, which a browser opens without a network");
  add("fail-on", po::value<Strings>()->value_name("CONDITION"),
      "fail with exit status 4 if this is true for a launch, such as 'sectors_per_request>8' or 'findings>0', see "
      "above; may be repeated");
}

namespace {

/// Only counted if an analyzer was asked for by name.
void need_analyzer(const api::Condition& condition, const po::variables_map& values) {
  for (const analyzers::AnalyzerInfo* known : analyzers::analyzers()) {
    if (known->id != condition.analyzer() || known->cost == analyzers::Cost::small) continue;
    std::istringstream asked(values.count("analyzers") != 0 ? values["analyzers"].as<std::string>() : "");
    bool runs = false;
    for (std::string name; std::getline(asked, name, ',');) runs = runs || name == known->id || name == "all";
    if (!runs)
      throw UsageError{fmt::format("--fail-on: '{}' is counted only with --analyzers {}", condition.name(), known->id),
                       ""};
  }
}

api::ReportFiles files_of(const po::variables_map& values) {
  api::ReportFiles files;
  FileOptions given;
  for (const api::ReportFileOption& o : api::report_file_options()) {
    if (values.count(o.option) == 0) continue;
    const std::string name = values[o.option].as<std::string>();
    given.emplace_back(o.option, name);
    files.*o.file = name;
  }
  check_standard_output(given);
  files.fold = values.count(api::kFoldOption) != 0;
  if (files.fold && files.json.empty()) throw UsageError{fmt::format("--{} needs --json", api::kFoldOption), ""};
  return files;
}

} // namespace

ReportOptions report_options(const po::variables_map& values, int file_descriptor) {
  ReportOptions options{api::text_options_for(file_descriptor), files_of(values), {}, {}};
  if (values.count("html") != 0) options.html = values["html"].as<std::string>();
  check_html(values.count("html") != 0 ? std::optional(options.html) : std::nullopt);
  if (values.count("details") != 0) {
    const Expected<api::Sections> sections = api::parse_sections(values["details"].as<Strings>());
    if (!sections)
      throw UsageError{"--details: " + sections.error().list().front().message, sections.error().list().front().hint};
    options.text.details = *sections;
  }
  if (values.count("show") != 0) options.text.shown = values["show"].as<std::string>();
  options.text.counters = values.count("counters") != 0;
  if (values.count("fail-on") == 0) return options;
  if (values.count("no-analyze") != 0) throw UsageError{"--fail-on cannot be combined with --no-analyze", ""};
  for (const std::string& text : values["fail-on"].as<Strings>()) {
    const Expected<api::Condition> condition = api::Condition::parse(text);
    if (!condition)
      throw UsageError{"--fail-on: " + condition.error().list().front().message, condition.error().list().front().hint};
    need_analyzer(*condition, values);
    options.conditions.push_back(*condition);
  }
  return options;
}

void show_text(const ReportOptions& options, std::span<const api::LaunchReport> launches) {
  const Style style = style_for(STDOUT_FILENO);
  const Expected<std::string> text = text_report(launches, style, options.text);
  if (text) return write(*text);
  ReportOptions others = options;
  others.text.shown.clear();
  write(value_or_throw(text_report(launches, style, others.text)));
  throw UsageError{"--show: " + text.error().list().front().message, text.error().list().front().hint};
}

int write_report(const ReportOptions& options, const model::Device& device, std::span<const api::LaunchReport> launches,
                 const std::function<void()>& show) {
  std::optional<UsageError> first;
  const auto attempt = [&](const auto& action) {
    try {
      action();
    } catch (UsageError& e) {
      if (!first) first = std::move(e);
    } catch (const Diagnostics& errors) {
      if (!first) first = UsageError{errors.list().front().message, errors.list().front().hint};
    }
  };
  for (const api::ReportFileOption& o : api::report_file_options())
    if (const std::string& file = options.files.*o.file; !file.empty())
      attempt([&] { write_file(file, api::report_text_of(o, options.files, device, launches, options.conditions)); });
  if (!options.html.empty())
    attempt([&] { write_file(options.html, value_or_throw(api::html_page(api::json_for_page(device, launches)))); });
  attempt(show);
  const std::vector<std::string> met = api::messages(api::met_conditions(options.conditions, launches));
  for (const std::string& text : met) {
    Diagnostics errors;
    errors.error({}, "warplens: --fail-on: " + text);
    print(errors);
  }
  if (const std::vector<std::string> none = api::uncounted(options.conditions, launches); !none.empty() && !first)
    first = UsageError{"--fail-on: " + none.front(), ""};
  if (first) throw UsageError(*first);
  return met.empty() ? kFine : kFailed;
}

std::string report_help() {
  std::string text = "Sections (--details), in the order in which they are shown:\n";
  for (const api::SectionInfo& info : api::kSections) text += fmt::format("  {:<30}{}\n", info.name, info.shows);
  text += fmt::format("  {:<30}{}\n\n", api::kAllSections, "all of them");
  text +=
      "Conditions (--fail-on): a name, one of > >= < <= == !=, and a number. Names are the metrics (--counters), the\n"
      "kinds of findings ('warplens explain', their number), and:\n";
  for (const api::ConditionName& name : api::condition_names())
    text += fmt::format("  {:<30}{}\n", name.name, name.meaning);
  return text + "\n";
}

} // namespace warplens::tools
