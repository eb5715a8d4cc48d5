// SPDX-License-Identifier: Apache-2.0
// Compares a report with one or more others: the changes, and which counts explain the change of the predicted time.
//
//   Expected<ReportFile> a = read_report(text_a, "a.json"), b = read_report(text_b, "b.json");
//   Expected<std::vector<LaunchComparison>> changes = compare_reports(*a, *b);
//   changes[0].factors[0]  ->  { "memory transactions per warp", -0.8 ms }
#pragma once

#include "api/sweep/sweep.hpp"

namespace warplens::api {

/// A launch of a report of `run --json`, or a row of a report of `sweep --json`.
struct ReportedLaunch {
  std::string kernel;
  Settings settings; ///< of a row of a sweep
  std::string device_name, device_id;
  std::string_view global_unit = "sectors"; ///< of the device: analyzers::cost_unit()
  bool usual_banks = true;                  ///< analyzers::are_usual_banks()
  std::string model, bound;                 ///< of the launch's ranking prediction; empty: none
  std::optional<double> milliseconds;       ///< predicted
  std::vector<analyzers::NamedValue> metrics;
  model::KernelStatistics statistics;
  struct Line {
    std::string where, text; ///< "saxpy.cu:5" or "line 17" of the PTX; the instructions there
    std::vector<analyzers::NamedValue> metrics;
    std::string opcodes; ///< of all instructions there, without registers and numbers
  };
  std::vector<Line> lines; ///< one for each place
  struct Finding {
    std::string rule, where, message;
  };
  std::vector<Finding> findings;

  [[nodiscard]] std::optional<double> number(std::string_view metric) const;
};

struct ReportFile {
  std::string name;
  std::vector<ReportedLaunch> launches; ///< without sweep rows that have no result
  std::string note{};                   ///< of the table of a sweep: what is left out; empty: nothing
};

/// Of all launches of a report; empty: one has no predicted time, or the report is of a sweep.
std::optional<double> total_milliseconds(const ReportFile& report);

/// Errors: not JSON, not one of the two kinds of report, another version, no launch or row with a result.
Expected<ReportFile> read_report(std::string_view text, std::string_view name);

/// Of a metric, a line or a time.
struct Change {
  std::string name;
  std::optional<double> before, after; ///< empty: only in the other report
  /// after / before; empty: one is missing or 0.
  [[nodiscard]] std::optional<double> ratio() const;
};

/// The part of the time change that a group of counts explains: the model's prediction with the group's counts from the
/// other launch. Groups that act together do not add up; the remainder is in LaunchComparison::unexplained.
struct Factor {
  std::string what;
  double milliseconds = 0;
};

struct LaunchComparison {
  const ReportedLaunch *before = nullptr, *after = nullptr; ///< null: only in the other report
  std::vector<Change> metrics;                              ///< changed metrics, in the order of the report
  std::vector<Factor> factors;                              ///< largest first; empty: no explanation is possible
  double unexplained = 0;                                   ///< milliseconds of the change that no factor explains
  struct Line {
    std::string where, where_after, text; ///< the places differ if the line moved, or its file was renamed
    std::vector<Change> metrics;
  };
  std::vector<Line> lines; ///< lines with a change
  std::vector<ReportedLaunch::Finding> appeared, vanished;
};

/// The label of a metric that matters most, in the units of the device: "sectors of global memory", or "transactions of
/// global memory"; empty: of less interest, or in the units of other devices.
std::string_view label_of(const LaunchComparison& comparison, std::string_view metric);

/// Matches launches by kernel and settings, or otherwise by order if both reports have the same number.
std::vector<LaunchComparison> compare_reports(const ReportFile& before, const ReportFile& after);

} // namespace warplens::api
