// SPDX-License-Identifier: Apache-2.0
#include "api/report/report_files.hpp"

#include "api/files/csv.hpp"
#include "api/report/json_report.hpp"
#include "api/session/environment.hpp"
#include "api/session/kernel_name.hpp"

#include <fmt/format.h>

namespace warplens::api {

std::span<const ReportFileOption> report_file_options() {
  static constexpr ReportFileOption kOptions[] = {
      {"json", environment::kJson, &ReportFiles::json,
       "write the report as JSON; '-', also for the other files, is standard output, which then has no text report"},
      {"csv", environment::kCsv, &ReportFiles::csv,
       "write the counters of every launch as CSV, with the columns of Nsight Compute"},
      {"sarif", environment::kSarif, &ReportFiles::sarif,
       "write the findings as SARIF 2.1.0, which code hosts and editors show at the lines"},
      {"junit", environment::kJunit, &ReportFiles::junit,
       "write the findings as JUnit XML, which CI servers show as tests"}};
  return kOptions;
}

std::string report_text_of(const ReportFileOption& option, const ReportFiles& files, const model::Device& device,
                           std::span<const LaunchReport> reports, std::span<const Condition> conditions,
                           std::span<const ProgramOperation> operations) {
  if (option.file == &ReportFiles::json)
    return json_report(device, reports, operations, files.fold ? JsonLaunches::folded : JsonLaunches::whole);
  if (option.file == &ReportFiles::csv) return csv_report(reports);
  if (option.file == &ReportFiles::sarif) return sarif_report(reports, conditions);
  return junit_report(reports, conditions);
}

std::string csv_report(std::span<const LaunchReport> reports) {
  std::string text = "\"ID\",\"Kernel Name\",\"Device\",\"Block Size\",\"Grid Size\",\"Metric Name\",\"Metric Unit\","
                     "\"Metric Value\"\n";
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const LaunchReport& r = reports[i];
    const std::string start = fmt::format("{},{},{},\"({})\",\"({})\"", i, csv_cell(source_name(r.kernel)),
                                          csv_cell(r.device.name), fmt::join(r.block, ", "), fmt::join(r.grid, ", "));
    for (const analyzers::Metric& m : r.profile.metrics.list()) {
      const std::string value = std::visit([](auto v) { return fmt::format("{}", v); }, m.value);
      text += fmt::format("{},{},{},{}\n", start, csv_cell(m.name()), csv_cell(info(m.key.id).unit), value);
    }
  }
  return text;
}

} // namespace warplens::api
