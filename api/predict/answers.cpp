// SPDX-License-Identifier: Apache-2.0
#include "api/predict/answers.hpp"

#include "api/files/csv.hpp"
#include "api/files/input_file.hpp"
#include "model/device_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace warplens::api {

Expected<std::vector<model::MicroBenchmark>> micro_benchmarks(std::string_view csv, std::string_view file) {
  const Expected<CsvTable> table = parse_csv(csv, file);
  if (!table) return failure(table.error());
  Diagnostics errors;
  const std::vector<std::string>& titles = table->titles.cells;
  const auto column = [&](const char* title) {
    const auto found = std::find(titles.begin(), titles.end(), title);
    if (found == titles.end())
      errors.error({table->titles.line, 1}, fmt::format("no column '{}'", title),
                   "tests/data/hardware/ask/calibration.py writes the answers");
    return static_cast<std::size_t>(found - titles.begin());
  };
  const std::size_t name = column("name");
  const std::pair<std::size_t, double model::MicroBenchmark::*> numbers[] = {
      {column("times"), &model::MicroBenchmark::times},
      {column("cycles"), &model::MicroBenchmark::cycles},
      {column("nanoseconds"), &model::MicroBenchmark::nanoseconds},
      {column("device_cycles"), &model::MicroBenchmark::device_cycles},
      {column("bytes_written"), &model::MicroBenchmark::bytes_written}};
  std::vector<model::MicroBenchmark> answers;
  for (const CsvRow& row : table->rows) {
    if (errors.has_errors()) break;
    model::MicroBenchmark& answer = answers.emplace_back();
    if (name < row.cells.size()) answer.name = row.cells[name];
    for (const auto& [at, member] : numbers) {
      const std::string cell = at < row.cells.size() ? row.cells[at] : "";
      const auto [stop, error] = std::from_chars(cell.data(), cell.data() + cell.size(), answer.*member);
      if (error != std::errc{} || stop != cell.data() + cell.size())
        errors.error({row.line, 1}, fmt::format("'{}' is '{}': expected a number", titles[at], cell));
    }
  }
  errors.in_file(file);
  if (errors.has_errors()) return failure(std::move(errors));
  return answers;
}

Expected<MeasuredDevice> measured_device(const std::filesystem::path& file, const model::Device& device) {
  const Expected<std::string> text = read_file(file);
  if (!text) return failure(text.error());
  const Expected<std::vector<model::MicroBenchmark>> answers = micro_benchmarks(*text, file.string());
  if (!answers) return failure(answers.error());
  Expected<model::Device> measured = model::with_micro_benchmarks(device, *answers, "measured: " + file.string());
  if (!measured) return failure(measured.error());
  MeasuredDevice result{std::move(*measured), {}};
  std::vector<std::optional<double>> before;
  if (device.critical_path)
    model::visit_fields(*device.critical_path, [&](std::string_view, const auto& value) { before.push_back(value); });
  std::size_t i = 0;
  model::visit_fields(*result.device.critical_path, [&](std::string_view key, const std::optional<double>& value) {
    if (value) result.parameters.push_back({key, i < before.size() ? before[i] : std::nullopt, *value});
    ++i;
  });
  return result;
}

} // namespace warplens::api
