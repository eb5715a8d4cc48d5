// SPDX-License-Identifier: Apache-2.0
// The options that say what a report shows, which files it is written to, and when a run fails. `run`, `analyze` and
// `exec` share them.
//
//   add_report_options(options);
//   const ReportOptions report = report_options(values, STDOUT_FILENO);    // before the run
//   … return write_report(report, device, launches, [&] { … });           // after it
#pragma once

#include "api/report/report_files.hpp"
#include "api/report/report_text.hpp"

#include <boost/program_options.hpp>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace warplens::tools {

struct ReportOptions {
  api::TextOptions text;
  api::ReportFiles files;
  std::string html;                       ///< of --html; empty: not written
  std::vector<api::Condition> conditions; ///< of --fail-on
  /// One of the files is standard output: no text is shown.
  [[nodiscard]] bool writes_stdout() const;
};

void add_report_options(boost::program_options::options_description& options);

/// For text on an open file. Checks everything that can be checked before a run. Throws UsageError: an unknown section
/// or metric, a metric that no requested analyzer counts, two files on standard output.
ReportOptions report_options(const boost::program_options::variables_map& values, int file_descriptor);

/// The text report on standard output. Throws UsageError after the report if --show names no kernel.
void show_text(const ReportOptions& options, std::span<const api::LaunchReport> launches);

/// Writes the files, then calls `show`, which may throw a UsageError, as when standard output is closed, then says on
/// stderr which conditions are met. Returns kFine or kFailed. A file that cannot be written does not stop the others or
/// `show`: the UsageError is thrown at the end.
int write_report(const ReportOptions& options, const model::Device& device, std::span<const api::LaunchReport> launches,
                 const std::function<void()>& show);

/// The sections of --details and the names of --fail-on with what they mean, for --help.
std::string report_help();

} // namespace warplens::tools
