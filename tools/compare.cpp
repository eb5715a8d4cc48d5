// SPDX-License-Identifier: Apache-2.0
// warplens compare: compares reports.
#include "api/files/csv.hpp"
#include "api/files/input_file.hpp"
#include "api/html/page.hpp"
#include "api/report/table.hpp"
#include "api/report/units.hpp"
#include "api/session/kernel_name.hpp"
#include "api/sweep/json_compare.hpp"
#include "tools/command_line.hpp"
#include "tools/output.hpp"
#include "tools/plot.hpp"
#include "tools/sign_plot.hpp"

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include <unistd.h>

#include <cmath>

namespace warplens::tools {

namespace {

namespace po = boost::program_options;
using Strings = std::vector<std::string>;
using api::Change;
using api::LaunchComparison;
using api::ReportFile;

constexpr std::string_view kCompareHelp = R"(usage: warplens compare A.json B.json [C.json…] [OPTION…]
       warplens compare SWEEP.json --signs [OPTION…]

Compares reports of 'warplens run --json' or 'warplens sweep --json': the first report with each of the others. Launches
are matched by kernel and settings, or by order if no names match. For each pair of launches, the output shows the
predicted times, the counts that explain the change (the model is evaluated again with counts of the other launch), the
metrics and lines that changed, and the findings that appeared or disappeared.

With --signs or --measured, the output is a sign plot instead. It compares every launch of all reports with every other:
1 if it is faster, -1 if it is slower, 0 if there is no difference, as predicted and as measured.

)";
constexpr std::string_view kCompareExamples = R"(
Examples:
  warplens compare before.json after.json
  warplens compare gtx280.json gtx480.json --all --csv changes.csv
  warplens compare before.json after1.json after2.json --plot times.svg
  warplens compare before.json after.json --fail-on-regression 5
  warplens compare sweep.json --measured measured.csv --plot signs.svg
The CSV of --measured has a column 'milliseconds' and columns that identify the launch: kernel, device, file, or sweep
settings such as block.
Exit status: 0 success; 2 bad usage or input; 4 a launch became slower than --fail-on-regression permits.
)";

po::options_description compare_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("all", "show every changed metric and line, not only the most important ones");
  add("signs", "show the sign plot of the predicted times");
  add("measured", po::value<std::string>()->value_name("FILE.csv"),
      "show the sign plot of the predicted and the measured times");
  add("fail-on-regression", po::value<double>()->value_name("PERCENT"),
      "fail with exit status 4 if the predicted time of a launch grows by more than PERCENT");
  add("parity", po::value<double>()->value_name("PERCENT")->default_value(10),
      "smaller differences count as 0 in the sign plot");
  add("json", po::value<std::string>()->value_name("FILE"),
      "write the comparison as JSON; '-' writes it to standard output instead of the text");
  add("csv", po::value<std::string>()->value_name("FILE"),
      "write every changed metric as CSV; '-' writes it to standard output instead of the text");
  add("html", po::value<std::string>()->value_name("FILE"), "write the comparison as an HTML page");
  add("plot", po::value<std::string>()->value_name("FILE.svg|png"),
      "plot the predicted times, or the sign plot; needs gnuplot");
  add("help,h", "show this help");
  return options;
}

/// The label of an important metric, or empty; --all also shows metrics without a label.
std::string_view label_of(std::string_view metric) {
  const analyzers::MetricInfo* known = analyzers::find_metric(metric);
  return known != nullptr ? known->label : "";
}

std::string number(const std::optional<double>& value) {
  if (!value) return "";
  const bool whole = *value == std::floor(*value) && std::abs(*value) < 1e15;
  return whole ? fmt::format("{:.0f}", *value) : fmt::format("{:.4g}", *value);
}

std::string ratio(const Change& change) {
  const auto r = change.ratio();
  return r ? fmt::format("x {:.3g}", *r) : "";
}

std::string title(const api::ReportedLaunch& launch) {
  std::string text = fmt::format("{} on {}", api::source_name(launch.kernel), launch.device_name);
  if (!launch.settings.empty()) text += fmt::format(" ({})", api::text_of(launch.settings));
  return text;
}

std::string heading(const LaunchComparison& c, const Style& style) {
  if (c.before == nullptr || c.after == nullptr)
    return fmt::format("{}{}{}: {}\n", style.bold, title(c.before != nullptr ? *c.before : *c.after), style.reset,
                       c.before != nullptr ? "only in the first report" : "only in the second report");
  const std::string a = title(*c.before), b = title(*c.after);
  return fmt::format("{}{}{}{}\n", style.bold, a, style.reset, a == b ? "" : " -> " + b);
}

std::string times(const LaunchComparison& c, const Style& style) {
  const auto &a = *c.before, &b = *c.after;
  if (!a.milliseconds || !b.milliseconds) return "";
  const double r = *b.milliseconds / *a.milliseconds;
  const std::string_view colour = r < 0.995 ? style.green : r > 1.005 ? style.red : std::string_view();
  std::string text = fmt::format("  predicted: {} -> {}, {}{}{}\n", api::readable_time(*a.milliseconds),
                                 api::readable_time(*b.milliseconds), colour,
                                 r < 0.995   ? fmt::format("{:.2f} times as fast", 1 / r)
                                 : r > 1.005 ? fmt::format("{:.2f} times as slow", r)
                                             : "the same",
                                 style.reset);
  text += a.model == b.model ? fmt::format("    by {}", a.model)
                             : fmt::format("    by {} and {}: different models", a.model, b.model);
  text += a.bound == b.bound ? fmt::format("; bound by {}\n", a.bound)
                             : fmt::format("; bound by {} -> {}\n", a.bound, b.bound);
  for (const api::Factor& f : c.factors) text += fmt::format("    {:+.4g} ms: {}\n", f.milliseconds, f.what);
  if (!c.factors.empty() && std::abs(c.unexplained) > 0.01 * *a.milliseconds)
    text += fmt::format("    {:+.4g} ms: combined effect of these changes\n", c.unexplained);
  return text;
}

std::string metrics_text(const std::vector<Change>& changes, bool all, const Style& style) {
  api::Table table({{"metric"}, {"before", api::Table::right}, {"after", api::Table::right}, {"", api::Table::right}});
  for (const Change& change : changes) {
    const std::string_view words = label_of(change.name);
    if (all || !words.empty())
      table.row({all ? change.name : std::string(words), number(change.before), number(change.after), ratio(change)});
  }
  return table.empty() ? "" : table.text(style.dim, style.reset);
}

std::string lines_text(const LaunchComparison& c, bool all, const Style& style) {
  constexpr std::size_t kMost = 10;
  api::Table table({{"line"},
                    {"instruction"},
                    {"metric"},
                    {"before", api::Table::right},
                    {"after", api::Table::right},
                    {"", api::Table::right}});
  std::size_t shown = 0;
  for (const auto& line : c.lines)
    for (const Change& change : line.metrics) {
      const std::string_view words = label_of(change.name);
      if (!all && (words.empty() || words == "ideal sectors" || ++shown > kMost)) continue;
      table.row({line.where == line.where_after ? line.where : fmt::format("{} -> {}", line.where, line.where_after),
                 line.text, all ? change.name : std::string(words), number(change.before), number(change.after),
                 ratio(change)});
    }
  return table.empty() ? "" : table.text(style.dim, style.reset);
}

std::string findings_text(const LaunchComparison& c) {
  std::string text;
  for (const auto& f : c.vanished) text += api::wrapped(fmt::format("resolved: {} ({})", f.message, f.where), "  ");
  for (const auto& f : c.appeared) text += api::wrapped(fmt::format("new: {} ({})", f.message, f.where), "  ");
  return text;
}

std::string comparison_text(const LaunchComparison& c, bool all, const Style& style) {
  std::string text = heading(c, style);
  if (c.before == nullptr || c.after == nullptr) return text;
  text += times(c, style);
  if (c.metrics.empty()) text += "  all metrics are the same\n";
  return text + metrics_text(c.metrics, all, style) + lines_text(c, all, style) + findings_text(c);
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

ReportFile read_one(const std::string& name) {
  return value_or_throw(api::read_report(value_or_throw(api::read_file(name)), name));
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

/// Says which launches became slower than the limit. Returns kFine or kFailed.
int tell_regressions(std::span<const ReportFile> others, std::span<const std::vector<LaunchComparison>> comparisons,
                     double percent) {
  Diagnostics errors;
  for (std::size_t i = 0; i < others.size(); ++i)
    for (const LaunchComparison& c : comparisons[i]) {
      if (c.before == nullptr || c.after == nullptr || !c.before->milliseconds || !c.after->milliseconds) continue;
      const double before = *c.before->milliseconds, after = *c.after->milliseconds;
      if (after <= before * (1 + percent / 100)) continue;
      errors.error({}, fmt::format("warplens: --fail-on-regression: {}: {} in {}: {} -> {}, {:.1f} % more than before",
                                   others[i].name, title(*c.after), c.after->model, api::readable_time(before),
                                   api::readable_time(after), 100 * (after / before - 1)));
    }
  print(errors);
  return errors.has_errors() ? kFailed : kFine;
}

/// Launches in sequence whose comparisons have the same text show it once.
void show_comparisons(std::span<const LaunchComparison> comparisons, bool all, const Style& style) {
  std::string last;
  std::size_t times = 0;
  const auto flush = [&] {
    if (times > 1) write(fmt::format("  the same for {} launches\n", times));
  };
  for (const LaunchComparison& c : comparisons) {
    std::string text = comparison_text(c, all, style);
    if (text != last) {
      flush();
      write("\n" + text);
      times = 0;
    }
    last = std::move(text);
    ++times;
  }
  flush();
}

int show_changes(std::span<const ReportFile> reports, const po::variables_map& values) {
  if (reports.size() < 2) throw UsageError{"only one report given", "warplens compare A.json B.json"};
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
    show_comparisons(comparisons[i], values.count("all") != 0, style);
  }
  if (values.count("fail-on-regression") == 0) return kFine;
  return tell_regressions(others, comparisons, values["fail-on-regression"].as<double>());
}

} // namespace

int compare(const Strings& arguments) {
  const po::options_description visible = compare_options();
  const CommandLine line = parse_command_line(arguments, visible);
  const po::variables_map& values = line.values;
  if (values.count("help") != 0) return show_help(kCompareHelp, visible, kCompareExamples);
  if (line.inputs.empty()) throw UsageError{"no report", "warplens compare A.json B.json"};
  if (const std::string plot = option(values, "plot"); !plot.empty()) check_plot_name(plot);
  if (values.count("html") != 0) check_html(option(values, "html"));
  if (const double parity = values["parity"].as<double>(); !(parity >= 0 && parity < 1e6))
    throw UsageError{"--parity: expected a percentage >= 0", ""};
  if (values.count("fail-on-regression") != 0)
    if (const double percent = values["fail-on-regression"].as<double>(); !(percent >= 0 && percent < 1e6))
      throw UsageError{"--fail-on-regression: expected a percentage >= 0", ""};
  std::vector<ReportFile> reports;
  for (const std::string& name : line.inputs) reports.push_back(read_one(name));
  if (values.count("signs") == 0 && values.count("measured") == 0) return show_changes(reports, values);
  show_signs(reports, values);
  return kFine;
}

} // namespace warplens::tools
