// SPDX-License-Identifier: Apache-2.0
#include "api/predict/collector.hpp"

#include "api/files/csv.hpp"
#include "api/files/input_file.hpp"
#include "model/occupancy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace warplens::api {
namespace {

// Computes the resident blocks from registers and shared memory, unless the file gives them.
Expected<void> add_residency(CollectedLaunch& launch, const model::Device& device) {
  model::KernelStatistics& s = launch.statistics;
  if (s.resident_blocks || !s.threads_per_block || !s.registers_per_thread) return {};
  constexpr double kMost = 1e9;
  for (const auto& [field, what] :
       {std::pair{s.threads_per_block, "threads_per_block"}, std::pair{s.registers_per_thread, "registers_per_thread"},
        std::pair{s.shared_bytes_per_block, "shared_bytes_per_block"}})
    if (field && !(*field >= 0 && *field <= kMost))
      return failure(fmt::format("'{}' is {}: expected a number from 0 to {}", what, *field, kMost));
  model::OccupancyQuery query;
  query.capability = device.capability;
  query.threads = static_cast<std::int64_t>(*s.threads_per_block);
  query.registers = static_cast<std::int64_t>(*s.registers_per_thread);
  query.shared_bytes = static_cast<std::int64_t>(s.shared_bytes_per_block.value_or(0));
  const Expected<model::Occupancy> fits = model::occupancy(query);
  if (!fits) {
    const Diagnostic& why = fits.error().list().front();
    return failure(fmt::format("kernel '{}' does not fit on '{}': {}", launch.kernel, device.name, why.message),
                   why.hint);
  }
  s.resident_blocks = fits->blocks;
  return {};
}

bool is_profiler_table(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.empty() || line.front() == '#' || line == "\r") continue;
    return line.find("method") != line.npos;
  }
  return false;
}

} // namespace

Expected<std::vector<CollectedLaunch>> collect_fields(std::string_view csv, std::string_view name) {
  const Expected<CsvTable> table = parse_csv(csv, name);
  if (!table) return failure(table.error());
  Diagnostics errors;
  std::vector<std::string_view> known{"kernel", "milliseconds"};
  for (const model::StatisticField& field : model::statistic_fields()) known.push_back(field.name);
  for (const std::string& title : table->titles.cells) {
    if (std::find(known.begin(), known.end(), title) != known.end()) continue;
    const std::string near = closest(title, known);
    errors.error({table->titles.line, 1}, fmt::format("unknown column '{}'", title),
                 near.empty() ? "use warplens predict --fields to list the columns"
                              : fmt::format("did you mean '{}'?", near));
  }
  std::vector<CollectedLaunch> launches;
  for (const CsvRow& row : table->rows) {
    CollectedLaunch& launch = launches.emplace_back();
    launch.kernel = fmt::format("row {}", launches.size());
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const std::string& title = table->titles.cells[i];
      const std::string& cell = row.cells[i];
      if (cell.empty()) continue;
      if (title == "kernel") {
        launch.kernel = cell;
        continue;
      }
      double value = 0;
      const auto [stop, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
      if (error != std::errc{} || stop != cell.data() + cell.size()) {
        errors.error({row.line, 1}, fmt::format("'{}' is '{}': expected a number", title, cell));
        continue;
      }
      if (title == "milliseconds") launch.milliseconds = value;
      for (const model::StatisticField& field : model::statistic_fields())
        if (field.name == title) field.get(launch.statistics) = value;
    }
  }
  if (launches.empty() && !errors.has_errors()) errors.error({1, 1}, "no rows");
  errors.in_file(name);
  if (errors.has_errors()) return failure(std::move(errors));
  return launches;
}

Expected<std::vector<CollectedLaunch>> collect_text(std::string_view text, std::string_view name,
                                                    const model::Device& device) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return failure(fmt::format("'{}' is empty", name));
  Expected<std::vector<CollectedLaunch>> launches = text[first] == '{' ? collect_report(text, name, device)
                                                    : is_profiler_table(text)
                                                        ? collect_visual_profiler(text, name, device)
                                                        : collect_fields(text, name);
  if (!launches) return launches;
  for (CollectedLaunch& launch : *launches)
    if (const Expected<void> fits = add_residency(launch, device); !fits) return failure(fits.error());
  return launches;
}

Expected<std::vector<CollectedLaunch>> collect(const std::filesystem::path& file, const model::Device& device) {
  const Expected<std::string> text = read_file(file);
  if (!text) return failure(text.error());
  return collect_text(*text, file.string(), device);
}

} // namespace warplens::api
