// SPDX-License-Identifier: Apache-2.0
// warplens compare: compares reports.
#include "api/files/csv.hpp"
#include "api/files/input_file.hpp"
#include "api/html/page.hpp"
#include "api/report/units.hpp"
#include "api/sweep/json_compare.hpp"
#include "tools/command_line.hpp"
#include "tools/compare_text.hpp"
#include "tools/output.hpp"
#include "tools/plot.hpp"
#include "tools/program_report.hpp"
#include "tools/progress.hpp"
#include "tools/sign_plot.hpp"

#include <boost/program_options.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <span>

namespace warplens::tools {

namespace {

namespace po = boost::program_options;
using Strings = std::vector<std::string>;
using api::Change;
using api::LaunchComparison;
using api::ReportFile;

constexpr std::string_view kCompareHelp = R"(usage: warplens compare A.json B.json [C.json…] [OPTION…]
       warplens compare [A.json…] [OPTION…] -- PROGRAM [ARGUMENT…] [-- PROGRAM [ARGUMENT…]]…
       warplens compare SWEEP.json --signs [OPTION…]

Compares reports of 'warplens run --json', 'exec --json' or 'sweep --json', and tables of 'sweep --results', also while
these grow: the first report with each of the others.
Launches are matched by kernel and settings and then in order, or only by order if no names match. For each pair of
launches, the output shows the predicted times, the counts that explain the change (the model is evaluated again with
counts of the other launch), the metrics and lines that changed, and the findings that appeared or disappeared.

A PROGRAM is run as 'warplens exec' runs it, without showing its output, and its report is compared; reports in files
come first.

With --signs or --measured, the output is a sign plot instead. It compares every launch of all reports with every other:
1 if it is faster, -1 if it is slower, 0 if there is no difference, as predicted and as measured.

)";
constexpr std::string_view kCompareExamples = R"(
Examples:
  warplens compare before.json after.json
  warplens compare gtx280.json gtx480.json --all --csv changes.csv
  warplens compare before.json after1.json after2.json --plot times.svg
  warplens compare before.json after.json --fail-on-regression 5
  warplens compare --device a100 -- ./before 4096 -- ./after 4096
  warplens compare baseline.json --fail-on-regression 5 -- ./solver input.dat
  warplens compare sweep.json --measured measured.csv --plot signs.svg
The CSV of --measured has a column 'milliseconds' and columns that identify the launch: kernel, device, file, or sweep
settings such as block.
Exit status: 0 success; 1 a program failed; 2 bad usage or input; 4 a launch, or all launches together, became slower
than --fail-on-regression permits.
)";

/// Options of `warplens exec` for programs.
struct ProgramOption {
  const char *name, *value, *help;
};
constexpr ProgramOption kProgramOptions[] = {
    {"device", "NAME|FILE", "run programs for this GPU: see 'warplens list devices'; the default is the H200"},
    {"kernel-name", "REGEX", "of programs, only kernels whose mangled or demangled name contains a match"},
    {"launch-skip", "N", "of programs, skip the first N of these launches"},
    {"launch-count", "N", "of programs, only N of these launches"},
    {"analyzers", "NAME[,NAME…]", "of programs, run further analyzers: see 'warplens list analyzers'"},
};

po::options_description compare_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("all", "show every changed metric and line, not only the most important ones");
  add("signs", "show the sign plot of the predicted times");
  add("measured", po::value<std::string>()->value_name("FILE.csv"),
      "show the sign plot of the predicted and the measured times");
  add("fail-on-regression", po::value<double>()->value_name("PERCENT"),
      "fail with exit status 4 if the predicted time of a launch, or of all launches, grows by more than PERCENT");
  add("parity", po::value<double>()->value_name("PERCENT")->default_value(10),
      "smaller differences count as 0 in the sign plot");
  add("json", po::value<std::string>()->value_name("FILE"),
      "write the comparison as JSON; '-' writes it to standard output instead of the text");
  add("csv", po::value<std::string>()->value_name("FILE"),
      "write every changed metric as CSV; '-' writes it to standard output instead of the text");
  add("html", po::value<std::string>()->value_name("FILE"), "write the comparison as an HTML page");
  add("plot", po::value<std::string>()->value_name("FILE.svg|png"),
      "plot the predicted times, or the sign plot; needs gnuplot");
  for (const ProgramOption& option : kProgramOptions)
    add(option.name, po::value<std::string>()->value_name(option.value), option.help);
  add("help,h", "show this help");
  return options;
}

std::string comparison_csv(const ReportFile& before, std::span<const ReportFile> others,
                           std::span<const std::vector<LaunchComparison>> comparisons) {
  std::string text = "before,after,kernel,settings,line,metric,value before,value after,ratio\n";
  const auto exact = [](const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; };
  for (std::size_t i = 0; i < others.size(); ++i)
    for (const LaunchComparison& c : comparisons[i]) {
      if (c.before == nullptr || c.after == nullptr) continue;
      const auto row = [&](const std::string& line, const Change& change) {
        text += fmt::format("{},{},{},{},{},{},{},{},{}\n", api::csv_cell(before.name), api::csv_cell(others[i].name),
                            api::csv_cell(c.after->kernel), api::csv_cell(api::text_of(c.after->settings)),
                            api::csv_cell(line), api::csv_cell(change.name), exact(change.before), exact(change.after),
                            exact(change.ratio()));
      };
      row("", {"milliseconds", c.before->milliseconds, c.after->milliseconds});
      for (const Change& change : c.metrics)
        if (change.name != "milliseconds") row("", change);
      for (const auto& line : c.lines)
        for (const Change& change : line.metrics) row(line.where, change);
    }
  return text;
}

/// Predicted times: a position for each launch of the first report, a line for each report.
Plot times_plot(std::span<const ReportFile> reports, std::span<const std::vector<LaunchComparison>> comparisons) {
  Plot plot{"", "kernel", "predicted time, ms", {}, {{reports[0].name, {}}}, false};
  for (const api::ReportedLaunch& launch : reports[0].launches) {
    plot.places.push_back(launch.settings.empty() ? launch.kernel
                                                  : launch.kernel + " " + api::text_of(launch.settings));
    plot.lines[0].values.push_back(launch.milliseconds);
  }
  for (std::size_t i = 0; i < comparisons.size(); ++i) {
    Plot::Line& line = plot.lines.emplace_back(Plot::Line{reports[i + 1].name, {}});
    for (const LaunchComparison& c : comparisons[i])
      if (c.before != nullptr) line.values.push_back(c.after != nullptr ? c.after->milliseconds : std::nullopt);
  }
  return plot;
}

/// UsageError: a program, which needs "--" before it.
ReportFile read_one(const std::string& name) {
  const std::string text = value_or_throw(api::read_file(name));
  if (text.starts_with("\x7f"
                       "ELF"))
    throw UsageError{fmt::format("'{}' is a program, not a report", name),
                     "put '--' before each program: warplens compare -- ./before -- ./after"};
  ReportFile report = value_or_throw(api::read_report(text, name));
  if (!report.note.empty()) {
    Diagnostics notes;
    notes.warning({}, fmt::format("warplens: {}: {}", name, report.note));
    print(notes);
  }
  return report;
}

std::string option(const po::variables_map& values, const char* name) {
  return values.count(name) != 0 ? values[name].as<std::string>() : "";
}

void show_signs(std::span<const ReportFile> reports, const po::variables_map& values) {
  for (const char* name : {"json", "csv", "html", "fail-on-regression"})
    if (values.count(name) != 0) throw UsageError{fmt::format("--{} cannot be used with the sign plot", name), ""};
  const SignPlot plot = sign_plot(versions_of(reports, option(values, "measured")), values["parity"].as<double>());
  if (plot.versions.size() < 2) throw UsageError{"the sign plot needs two launches with a predicted time", ""};
  if (const std::string file = option(values, "plot"); !file.empty()) draw(sign_plot_matrix(plot), file);
  write(sign_plot_text(plot));
}

/// A launch, or all launches of a report, before and after.
struct Times {
  std::string what;
  std::optional<double> before, after;
};

/// Of each pair of launches, and of all launches if there are several.
std::vector<Times> times_of(const ReportFile& first, const ReportFile& other,
                            std::span<const LaunchComparison> comparisons) {
  std::vector<Times> list;
  for (const LaunchComparison& c : comparisons)
    if (c.before != nullptr && c.after != nullptr)
      list.push_back(
          {fmt::format("{} in {}", title_of(*c.after), c.after->model), c.before->milliseconds, c.after->milliseconds});
  if (first.launches.size() > 1 || other.launches.size() > 1)
    list.push_back({"all launches", api::total_milliseconds(first), api::total_milliseconds(other)});
  return list;
}

/// Says what became slower than the limit. Returns kFine or kFailed.
int tell_regressions(std::span<const ReportFile> reports, std::span<const std::vector<LaunchComparison>> comparisons,
                     double percent) {
  Diagnostics errors;
  for (std::size_t i = 0; i < comparisons.size(); ++i)
    for (const Times& t : times_of(reports[0], reports[i + 1], comparisons[i])) {
      if (!t.before || !t.after || *t.after <= *t.before * (1 + percent / 100)) continue;
      errors.error({}, fmt::format("warplens: --fail-on-regression: {}: {}: {} -> {}, {:.1f} % more than before",
                                   reports[i + 1].name, t.what, api::readable_time(*t.before),
                                   api::readable_time(*t.after), 100 * (*t.after / *t.before - 1)));
    }
  print(errors);
  return errors.has_errors() ? kFailed : kFine;
}

int show_changes(std::span<const ReportFile> reports, const po::variables_map& values) {
  const std::span<const ReportFile> others = reports.subspan(1);
  std::vector<std::vector<LaunchComparison>> comparisons;
  for (const ReportFile& other : others) comparisons.push_back(api::compare_reports(reports[0], other));
  const std::string json = option(values, "json"), csv = option(values, "csv"), plot = option(values, "plot");
  if (!json.empty()) write_file(json, api::json_comparison(reports[0], others, comparisons));
  if (values.count("html") != 0)
    write_file(option(values, "html"),
               value_or_throw(api::html_page(api::json_comparison(reports[0], others, comparisons))));
  if (!csv.empty()) write_file(csv, comparison_csv(reports[0], others, comparisons));
  if (!plot.empty()) draw(times_plot(reports, comparisons), plot);
  const Style style = style_for(STDOUT_FILENO);
  for (std::size_t i = 0; i < others.size() && json != "-" && csv != "-"; ++i) {
    write(fmt::format("{}{} -> {}\n", i == 0 ? "" : "\n", reports[0].name, others[i].name));
    write(comparison_text(comparisons[i], values.count("all") != 0, style));
  }
  if (values.count("fail-on-regression") == 0) return kFine;
  return tell_regressions(reports, comparisons, values["fail-on-regression"].as<double>());
}

/// What stands behind the first "--": programs, with "--" between them.
std::vector<Strings> split_programs(std::span<const std::string> words) {
  std::vector<Strings> programs(1);
  for (const std::string& word : words)
    if (word == "--")
      programs.emplace_back();
    else
      programs.back().push_back(word);
  for (const Strings& program : programs)
    if (program.empty()) throw UsageError{"no program behind '--'", "warplens compare -- ./before -- ./after"};
  return programs;
}

/// The options of `warplens exec` among those given. UsageError: some, but there is no program.
Strings program_options(const po::variables_map& values, bool programs) {
  Strings options;
  for (const ProgramOption& option : kProgramOptions) {
    if (values.count(option.name) == 0) continue;
    if (!programs)
      throw UsageError{fmt::format("--{} needs a program", option.name), "warplens compare -- ./before -- ./after"};
    options.insert(options.end(), {fmt::format("--{}", option.name), values[option.name].as<std::string>()});
  }
  return options;
}

/// Runs the programs and adds their reports. Returns whether all of them have one.
bool add_programs(std::vector<ReportFile>& reports, const std::vector<Strings>& programs, const Strings& options) {
  Progress progress;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const std::string name = fmt::format("{}", fmt::join(programs[i], " "));
    progress.now(fmt::format("program {} of {}: {}", i + 1, programs.size(), name), i, programs.size());
    Expected<ReportFile> report = report_of_program(options, programs[i]);
    if (!report) {
      Diagnostics errors;
      errors.error({}, fmt::format("warplens: {}: {}", name, report.error().list().front().message));
      print(errors);
      return false;
    }
    reports.push_back(std::move(*report));
  }
  return true;
}

void check_options(const po::variables_map& values) {
  if (const std::string plot = option(values, "plot"); !plot.empty()) check_plot_name(plot);
  if (values.count("html") != 0) check_html(option(values, "html"));
  check_standard_output({{"json", option(values, "json")}, {"csv", option(values, "csv")}});
  if (const double parity = values["parity"].as<double>(); !(parity >= 0 && parity < 1e6))
    throw UsageError{"--parity: expected a percentage >= 0", ""};
  if (values.count("fail-on-regression") != 0)
    if (const double percent = values["fail-on-regression"].as<double>(); !(percent >= 0 && percent < 1e6))
      throw UsageError{"--fail-on-regression: expected a percentage >= 0", ""};
}

} // namespace

int compare(const Strings& arguments) {
  const po::options_description visible = compare_options();
  const auto behind = std::find(arguments.begin(), arguments.end(), "--");
  const CommandLine line = parse_command_line({arguments.begin(), behind}, visible);
  const po::variables_map& values = line.values;
  if (values.count("help") != 0) return show_help(kCompareHelp, visible, kCompareExamples);
  std::vector<Strings> programs;
  if (behind != arguments.end())
    programs = split_programs(std::span(arguments).subspan(behind - arguments.begin() + 1));
  const Strings options = program_options(values, !programs.empty());
  const bool signs = values.count("signs") != 0 || values.count("measured") != 0;
  const std::size_t count = line.inputs.size() + programs.size();
  if (count == 0) throw UsageError{"no report", "warplens compare A.json B.json"};
  if (count == 1 && !signs) throw UsageError{"only one report given", "warplens compare A.json B.json"};
  check_options(values);
  std::vector<ReportFile> reports;
  for (const std::string& name : line.inputs) reports.push_back(read_one(name));
  if (!add_programs(reports, programs, options)) return kFound;
  if (!signs) return show_changes(reports, values);
  show_signs(reports, values);
  return kFine;
}

} // namespace warplens::tools
