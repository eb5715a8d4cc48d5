// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep_program.hpp"

#include "api/files/csv.hpp"
#include "api/report/table.hpp"
#include "api/report/units.hpp"
#include "api/session/kernel_name.hpp"
#include "api/sweep/sweep_json.hpp"
#include "tools/output.hpp"
#include "tools/program_report.hpp"
#include "tools/progress.hpp"
#include "tools/sweep_result.hpp"
#include "tools/sweep_space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

namespace warplens::tools {

namespace {

using Strings = std::vector<std::string>;

using api::SweepKernel;
using api::SweepRow;

/// The kernel with the longest time; null: none.
const SweepKernel* slowest(const SweepRow& row) {
  const auto at =
      std::max_element(row.kernels.begin(), row.kernels.end(),
                       [](const SweepKernel& a, const SweepKernel& b) { return a.milliseconds < b.milliseconds; });
  return at == row.kernels.end() ? nullptr : &*at;
}

double milliseconds_of(const SweepRow& row) { return row.number("milliseconds").value_or(0); }

void add_launches(SweepRow& row, const api::ReportFile& report) {
  std::map<std::string, SweepKernel> kernels;
  std::set<std::string> models;
  double milliseconds = 0;
  for (const api::ReportedLaunch& launch : report.launches) {
    SweepKernel& kernel = kernels[api::source_name(launch.kernel)];
    ++kernel.launches;
    kernel.milliseconds += launch.milliseconds.value_or(0);
    if (kernel.bound.empty()) kernel.bound = launch.bound;
    milliseconds += launch.milliseconds.value_or(0);
    if (launch.milliseconds) models.insert(launch.model);
    row.device = launch.device_name;
    row.device_id = launch.device_id;
  }
  for (auto& [name, kernel] : kernels) {
    kernel.name = name;
    row.kernels.push_back(kernel);
  }
  if (const SweepKernel* const kernel = slowest(row)) {
    row.kernel = kernel->name;
    row.bound = kernel->bound;
  }
  row.model = fmt::format("{}", fmt::join(models, ", "));
  if (milliseconds > 0) row.metrics.push_back({"milliseconds", milliseconds});
  row.metrics.push_back({"launches", static_cast<std::uint64_t>(report.launches.size())});
  if (models.size() == 1 && milliseconds > 0) row.metrics.push_back({row.model + ".milliseconds", milliseconds});
}

SweepRow run_one(const api::Settings& settings, const Strings& analyzers, const Strings& program) {
  SweepRow row{};
  row.settings = settings;
  Strings options;
  for (const auto& [name, value] : settings) options.insert(options.end(), {"--" + name, value});
  if (!analyzers.empty()) options.insert(options.end(), {"--analyzers", fmt::format("{}", fmt::join(analyzers, ","))});
  if (const Expected<api::ReportFile> report = report_of_program(options, program))
    add_launches(row, *report);
  else
    row.failure = report.error().list().front().message;
  return row;
}

std::string rows_text(const std::vector<SweepRow>& rows, const Style& style) {
  std::vector<api::Table::Column> columns;
  for (const auto& [name, value] : rows.front().settings) columns.push_back({name});
  columns.insert(columns.end(), {{"launches", api::Table::right},
                                 {"time", api::Table::right},
                                 {"relative", api::Table::right},
                                 {"slowest kernel"},
                                 {"share", api::Table::right},
                                 {"bound by"}});
  double best = 0;
  for (const SweepRow& row : rows)
    if (const double time = milliseconds_of(row); time > 0 && (best == 0 || time < best)) best = time;
  api::Table table(std::move(columns));
  std::string failures;
  std::set<std::string> models;
  for (const SweepRow& row : rows) {
    if (!row.model.empty()) models.insert(row.model);
    Strings cells;
    for (const auto& [name, value] : row.settings) cells.push_back(value);
    const SweepKernel* const kernel = slowest(row);
    if (kernel == nullptr) {
      cells.insert(cells.end(), {"", "", "", "no result", "", ""});
      failures += api::wrapped(fmt::format("{}: {}", api::text_of(row.settings), row.failure), "  ");
    } else {
      const double time = milliseconds_of(row);
      const bool timed = time > 0;
      cells.insert(cells.end(),
                   {fmt::format("{}", row.number("launches").value_or(0)), timed ? api::readable_time(time) : "",
                    timed ? fmt::format("{:.2f}", time / best) : "", api::cut(kernel->name, 40),
                    timed ? api::readable_share(kernel->milliseconds / time) : "", kernel->bound});
    }
    table.row(std::move(cells));
  }
  const std::string note = caution(models, "  ");
  return table.text(style.dim, style.reset) + (note.empty() ? "" : "\n" + note) +
         (failures.empty() ? "" : "\n" + failures);
}

std::string rows_csv(const std::vector<SweepRow>& rows) {
  std::string text;
  for (const auto& [name, value] : rows.front().settings) text += name + ",";
  text += "kernel,launches,milliseconds,bound,failure\n";
  for (const SweepRow& row : rows) {
    std::string start;
    for (const auto& [name, value] : row.settings) start += api::csv_cell(value) + ",";
    for (const SweepKernel& kernel : row.kernels)
      text += fmt::format("{}{},{},{},{},\n", start, api::csv_cell(kernel.name), kernel.launches, kernel.milliseconds,
                          kernel.bound);
    if (!row.failure.empty()) text += fmt::format("{},,,,{}\n", start, api::csv_cell(row.failure));
  }
  return text;
}

/// Whether one of them is standard output.
bool write_files(const std::vector<SweepRow>& rows, const boost::program_options::variables_map& values) {
  const Ranking ranking;
  const std::vector<Recommendation> recommended = recommend(rows, ranking);
  bool shown = false;
  const auto write_to = [&](const char* option, const auto& text) {
    if (values.count(option) == 0) return;
    const auto& file = values[option].template as<std::string>();
    write_file(file, text());
    shown = shown || file == "-";
  };
  write_to("csv", [&] { return rows_csv(rows); });
  write_to("json", [&] { return api::json_sweep(rows, recommended_settings(recommended)); });
  write_to("html", [&] { return sweep_page(rows, recommended, ranking); });
  return shown;
}

} // namespace

int sweep_program(const CommandLine& line, const std::vector<Axis>& axes, const Strings& program) {
  constexpr std::string_view kTaken[] = {"device", "l1", "registers", "csv", "json", "html", "analyzers"};
  if (program.empty()) throw UsageError{"no program", "warplens sweep --device h200,a100 -- PROGRAM [ARGUMENT…]"};
  if (!line.inputs.empty())
    throw UsageError{fmt::format("'{}' is a launch file beside a program", line.inputs.front()), ""};
  for (const auto& option : line.options)
    if (std::find(std::begin(kTaken), std::end(kTaken), option.string_key) == std::end(kTaken))
      throw UsageError{fmt::format("--{} needs a launch file, not a program", option.string_key),
                       fmt::format("options for programs: --{}", fmt::join(kTaken, ", --"))};
  SweepSpace all;
  all.add({}, axes);
  if (axes.empty()) throw UsageError{"nothing varies", "warplens sweep --device h200,a100 -- PROGRAM [ARGUMENT…]"};
  if (line.values.count("html") != 0) check_html(line.values["html"].as<std::string>());
  FileOptions files;
  for (const char* name : {"csv", "json"})
    if (line.values.count(name) != 0) files.emplace_back(name, line.values[name].as<std::string>());
  check_standard_output(files);
  const std::string names = line.values["analyzers"].as<std::string>();
  std::vector<SweepRow> rows;
  {
    Progress progress;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const api::Settings settings = all.at(i);
      progress.now(fmt::format("{} of {}: {}", rows.size() + 1, all.size(), api::text_of(settings)), rows.size(),
                   all.size());
      rows.push_back(run_one(settings, names.empty() ? Strings{} : Strings{names}, program));
    }
  }
  if (!write_files(rows, line.values)) write(rows_text(rows, style_for(STDOUT_FILENO)));
  return std::all_of(rows.begin(), rows.end(), [](const auto& row) { return row.failure.empty(); }) ? kFine : kFound;
}

} // namespace warplens::tools
