// SPDX-License-Identifier: Apache-2.0
#include "tools/sign_plot.hpp"

#include "api/files/csv.hpp"
#include "api/files/input_file.hpp"
#include "api/report/table.hpp"
#include "tools/output.hpp"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <set>

namespace warplens::tools {

namespace {

/// The properties of a launch, by the names of CSV columns; they also form the launch's own name.
using Traits = std::map<std::string, std::string>;

Traits traits_of(const api::ReportFile& file, const api::ReportedLaunch& launch) {
  Traits traits(launch.settings.begin(), launch.settings.end());
  traits["kernel"] = launch.kernel;
  traits["device"] = launch.device_id;
  traits["file"] = file.name;
  return traits;
}

/// The traits that differ; the kernel comes first.
std::string name_of(const Traits& traits, const std::vector<Traits>& all) {
  std::string name;
  for (const char* first : {"kernel", "file"})
    if (name.empty() &&
        std::any_of(all.begin(), all.end(), [&](const Traits& t) { return t.at(first) != traits.at(first); }))
      name = traits.at(first);
  for (const auto& [key, value] : traits) {
    if (key == "kernel" || key == "file" || key == "index") continue;
    const auto differs = [&, &k = key, &v = value](const Traits& t) { return !t.contains(k) || t.at(k) != v; };
    if (std::any_of(all.begin(), all.end(), differs))
      name += fmt::format("{}{} {}", name.empty() ? "" : ", ", key, value);
  }
  return name.empty() ? traits.at("kernel") : name;
}

api::CsvTable read_table(const std::string& file) {
  return value_or_throw(api::parse_csv(value_or_throw(api::read_file(file)), file));
}

double time_in(const std::string& cell, const std::string& where) {
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc{} || end != cell.data() + cell.size() || !(value > 0) || value > 1e300)
    throw UsageError{fmt::format("{}: expected milliseconds, got '{}'", where, cell), ""};
  return value;
}

void add_measured(std::vector<Version>& versions, const std::vector<Traits>& traits, const std::string& file) {
  const api::CsvTable table = read_table(file);
  const std::vector<std::string>& titles = table.titles.cells;
  const auto time = std::find(titles.begin(), titles.end(), "milliseconds");
  if (time == titles.end()) throw UsageError{fmt::format("{}: there is no column 'milliseconds'", file), ""};
  const auto column = static_cast<std::size_t>(time - titles.begin());
  for (const api::CsvRow& row : table.rows) {
    const std::string where = fmt::format("{}:{}", file, row.line);
    if (row.cells.size() <= column) throw UsageError{where + ": no milliseconds", ""};
    const double value = time_in(row.cells[column], where);
    bool used = false;
    for (std::size_t i = 0; i < versions.size(); ++i) {
      bool fits = true;
      for (std::size_t c = 0; c < row.cells.size() && fits; ++c)
        fits = c == column || (traits[i].contains(titles[c]) && traits[i].at(titles[c]) == row.cells[c]);
      if (fits && !versions[i].measured) versions[i].measured = value;
      used = used || fits;
    }
    if (!used)
      throw UsageError{where + ": no launch of the reports matches this row",
                       "columns: kernel, device, file, the settings of a sweep, milliseconds"};
  }
}

/// Compares a with b: 1 if a is faster.
int sign(double a, double b, double parity) {
  return b > a * (1 + parity / 100) ? 1 : a > b * (1 + parity / 100) ? -1 : 0;
}

} // namespace

std::vector<Version> versions_of(std::span<const api::ReportFile> reports, const std::string& measured) {
  std::vector<Version> versions;
  std::vector<Traits> traits;
  for (const api::ReportFile& file : reports)
    for (const api::ReportedLaunch& launch : file.launches) {
      if (!launch.milliseconds) continue;
      traits.push_back(traits_of(file, launch));
      versions.push_back({"", *launch.milliseconds, std::nullopt});
    }
  for (std::size_t i = 0; i < versions.size(); ++i) versions[i].name = name_of(traits[i], traits);
  if (!measured.empty()) add_measured(versions, traits, measured);
  return versions;
}

SignPlot sign_plot(std::vector<Version> versions, double parity) {
  SignPlot plot;
  const bool measured = std::any_of(versions.begin(), versions.end(), [](const Version& v) { return v.measured; });
  if (measured) std::erase_if(versions, [](const Version& v) { return !v.measured; });
  plot.versions = std::move(versions);
  for (const Version& row : plot.versions) {
    auto& predicted = plot.predicted.emplace_back();
    for (const Version& column : plot.versions) predicted.push_back(sign(row.predicted, column.predicted, parity));
    if (!measured) continue;
    auto& real = plot.measured.emplace_back();
    for (const Version& column : plot.versions) real.push_back(sign(*row.measured, *column.measured, parity));
  }
  for (std::size_t r = 0; r < plot.measured.size(); ++r)
    for (std::size_t c = 0; c < r; ++c) {
      ++plot.pairs;
      plot.agree += plot.predicted[r][c] == plot.measured[r][c] ? 1 : 0;
    }
  return plot;
}

std::string sign_plot_text(const SignPlot& plot) {
  std::vector<api::Table::Column> columns{{"faster (1) or slower (-1) than"}, {"predicted, ms", api::Table::right}};
  if (!plot.measured.empty()) columns.push_back({"measured, ms", api::Table::right});
  for (std::size_t i = 0; i < plot.versions.size(); ++i)
    columns.push_back({fmt::format("{}", i + 1), api::Table::right});
  api::Table table(columns);
  for (std::size_t r = 0; r < plot.versions.size(); ++r) {
    const Version& v = plot.versions[r];
    std::vector<std::string> cells{fmt::format("{} {}", r + 1, v.name), fmt::format("{:.4g}", v.predicted)};
    if (!plot.measured.empty()) cells.push_back(fmt::format("{:.4g}", *v.measured));
    for (std::size_t c = 0; c < plot.versions.size(); ++c) {
      const int predicted = plot.predicted[r][c];
      const bool wrong = !plot.measured.empty() && plot.measured[r][c] != predicted;
      cells.push_back(r == c  ? "."
                      : wrong ? fmt::format("{}!{}", predicted, plot.measured[r][c])
                              : fmt::format("{}", predicted));
    }
    table.row(std::move(cells));
  }
  std::string text = table.text();
  if (!plot.measured.empty())
    text += fmt::format(
        "  {} of {} pairs match the measurement ({:.0f} %); p!m: predicted p, measured m\n", plot.agree, plot.pairs,
        plot.pairs == 0 ? 100.0 : 100.0 * static_cast<double>(plot.agree) / static_cast<double>(plot.pairs));
  return text;
}

Matrix sign_plot_matrix(const SignPlot& plot) {
  Matrix matrix;
  matrix.title = "Row compared with column: 1 faster, 0 equal, -1 slower";
  matrix.legend = plot.measured.empty()
                      ? "colour and number: predicted (blue faster, white equal, orange slower)"
                      : "colour: predicted (blue faster, white equal, orange slower); number: measured";
  for (const Version& v : plot.versions) matrix.rows.push_back(v.name), matrix.columns.push_back(v.name);
  matrix.colours = plot.predicted;
  const auto& shown = plot.measured.empty() ? plot.predicted : plot.measured;
  for (std::size_t r = 0; r < shown.size(); ++r) {
    auto& texts = matrix.texts.emplace_back();
    for (std::size_t c = 0; c < shown.size(); ++c) texts.push_back(r == c ? "" : fmt::format("{}", shown[r][c]));
  }
  return matrix;
}

} // namespace warplens::tools
