// SPDX-License-Identifier: Apache-2.0
// The files that a command writes its report to, and their formats. `warplens run`, `analyze` and `exec` share them.
//
//   ReportFiles files{.json = "report.json", .sarif = "findings.sarif"};
//   Expected<void> written = write_report_files(files, device, reports, met_conditions(conditions, reports));
#pragma once

#include "api/report/conditions.hpp"
#include "api/report/timeline.hpp"

#include <array>
#include <span>
#include <string>

namespace warplens::api {

/// Names of files; empty: not written.
struct ReportFiles {
  std::string json;  ///< json_report()
  bool fold = false; ///< JsonLaunches::folded
  std::string csv;   ///< csv_report()
  std::string sarif; ///< sarif_report()
  std::string junit; ///< junit_report()
};

/// The options of the command line, in the order in which the files are written.
struct ReportFileOption {
  const char* option;   ///< "json", for --json FILE
  const char* variable; ///< of the environment: api/session/environment.hpp
  std::string ReportFiles::*file;
  std::string_view help;
};
std::span<const ReportFileOption> report_file_options();

/// The option without a file that sets ReportFiles::fold.
inline constexpr const char* kFoldOption = "json-fold";

/// The text of a file of `files`. `operations`: of a program.
std::string report_text_of(const ReportFileOption& option, const ReportFiles& files, const model::Device& device,
                           std::span<const LaunchReport> reports, std::span<const Condition> conditions,
                           std::span<const ProgramOperation> operations = {});

/// Every metric of every launch, one per row, with the columns of Nsight Compute's --csv.
std::string csv_report(std::span<const LaunchReport> reports);

/// Findings, traps and met conditions as SARIF 2.1.0 (OASIS Standard, 27 March 2020).
std::string sarif_report(std::span<const LaunchReport> reports, std::span<const Condition> conditions);

/// The same as JUnit XML: a test suite for each kernel, and in it a test case for each kind of finding and each
/// condition. Warnings and met conditions are failures, traps are errors.
std::string junit_report(std::span<const LaunchReport> reports, std::span<const Condition> conditions);

} // namespace warplens::api
