// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep_program.hpp"

#include "api/files/csv.hpp"
#include "api/report/table.hpp"
#include "api/report/units.hpp"
#include "api/session/kernel_name.hpp"
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
#include <optional>
#include <set>

namespace warplens::tools {

namespace {

using Strings = std::vector<std::string>;

struct ProgramKernel {
  std::size_t launches = 0;
  double milliseconds = 0; ///< predicted for all of them
  std::string bound;
};

/// The result of a configuration.
struct ProgramRow {
  api::Settings settings;
  std::string failure;                          ///< empty: there is a result
  std::map<std::string, ProgramKernel> kernels; ///< by name
  std::size_t launches = 0;
  double milliseconds = 0;
  std::set<std::string> models{}; ///< that predict the launches
};

void add_launches(ProgramRow& row, const api::ReportFile& report) {
  for (const api::ReportedLaunch& launch : report.launches) {
    ProgramKernel& kernel = row.kernels[api::source_name(launch.kernel)];
    ++kernel.launches;
    kernel.milliseconds += launch.milliseconds.value_or(0);
    if (kernel.bound.empty()) kernel.bound = launch.bound;
    ++row.launches;
    row.milliseconds += launch.milliseconds.value_or(0);
    if (launch.milliseconds) row.models.insert(launch.model);
  }
}

ProgramRow run_one(const api::Settings& settings, const Strings& analyzers, const Strings& program) {
  ProgramRow row{settings, {}, {}};
  Strings options;
  for (const auto& [name, value] : settings) options.insert(options.end(), {"--" + name, value});
  if (!analyzers.empty()) options.insert(options.end(), {"--analyzers", fmt::format("{}", fmt::join(analyzers, ","))});
  if (const Expected<api::ReportFile> report = report_of_program(options, program))
    add_launches(row, *report);
  else
    row.failure = report.error().list().front().message;
  return row;
}

/// The kernel with the longest time; null: none.
const std::pair<const std::string, ProgramKernel>* slowest(const ProgramRow& row) {
  const auto at = std::max_element(row.kernels.begin(), row.kernels.end(), [](const auto& a, const auto& b) {
    return a.second.milliseconds < b.second.milliseconds;
  });
  return at == row.kernels.end() ? nullptr : &*at;
}

std::string rows_text(const std::vector<ProgramRow>& rows, const Style& style) {
  std::vector<api::Table::Column> columns;
  for (const auto& [name, value] : rows.front().settings) columns.push_back({name});
  columns.insert(columns.end(), {{"launches", api::Table::right},
                                 {"time", api::Table::right},
                                 {"relative", api::Table::right},
                                 {"slowest kernel"},
                                 {"share", api::Table::right},
                                 {"bound by"}});
  double best = 0;
  for (const ProgramRow& row : rows)
    if (row.milliseconds > 0 && (best == 0 || row.milliseconds < best)) best = row.milliseconds;
  api::Table table(std::move(columns));
  std::string failures;
  std::set<std::string> models;
  for (const ProgramRow& row : rows) {
    models.insert(row.models.begin(), row.models.end());
    Strings cells;
    for (const auto& [name, value] : row.settings) cells.push_back(value);
    const auto* const kernel = slowest(row);
    if (kernel == nullptr) {
      cells.insert(cells.end(), {"", "", "", "no result", "", ""});
      failures += api::wrapped(fmt::format("{}: {}", api::text_of(row.settings), row.failure), "  ");
    } else {
      const bool timed = row.milliseconds > 0;
      cells.insert(cells.end(),
                   {fmt::format("{}", row.launches), timed ? api::readable_time(row.milliseconds) : "",
                    timed ? fmt::format("{:.2f}", row.milliseconds / best) : "", api::cut(kernel->first, 40),
                    timed ? api::readable_share(kernel->second.milliseconds / row.milliseconds) : "",
                    kernel->second.bound});
    }
    table.row(std::move(cells));
  }
  const std::string note = caution(models, "  ");
  return table.text(style.dim, style.reset) + (note.empty() ? "" : "\n" + note) +
         (failures.empty() ? "" : "\n" + failures);
}

std::string rows_csv(const std::vector<ProgramRow>& rows) {
  std::string text;
  for (const auto& [name, value] : rows.front().settings) text += name + ",";
  text += "kernel,launches,milliseconds,bound,failure\n";
  for (const ProgramRow& row : rows) {
    std::string start;
    for (const auto& [name, value] : row.settings) start += api::csv_cell(value) + ",";
    for (const auto& [name, kernel] : row.kernels)
      text += fmt::format("{}{},{},{},{},\n", start, api::csv_cell(name), kernel.launches, kernel.milliseconds,
                          kernel.bound);
    if (!row.failure.empty()) text += fmt::format("{},,,,{}\n", start, api::csv_cell(row.failure));
  }
  return text;
}

} // namespace

int sweep_program(const CommandLine& line, const std::vector<Axis>& axes, const Strings& program) {
  constexpr std::string_view kTaken[] = {"device", "l1", "registers", "csv", "analyzers"};
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
  const std::string names = line.values["analyzers"].as<std::string>();
  std::vector<ProgramRow> rows;
  {
    Progress progress;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const api::Settings settings = all.at(i);
      progress.now(fmt::format("{} of {}: {}", rows.size() + 1, all.size(), api::text_of(settings)), rows.size(),
                   all.size());
      rows.push_back(run_one(settings, names.empty() ? Strings{} : Strings{names}, program));
    }
  }
  const std::string csv = line.values.count("csv") != 0 ? line.values["csv"].as<std::string>() : "";
  if (!csv.empty()) write_file(csv, rows_csv(rows));
  if (csv != "-") write(rows_text(rows, style_for(STDOUT_FILENO)));
  return std::all_of(rows.begin(), rows.end(), [](const auto& row) { return row.failure.empty(); }) ? kFine : kFound;
}

} // namespace warplens::tools
