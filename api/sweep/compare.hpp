// Two or more reports side by side: what changed from the first to each of the others, and which counts explain the
// change of the predicted time.
//
//   Expected<ReportFile> a = read_report(text_a, "a.json"), b = read_report(text_b, "b.json");
//   Expected<std::vector<LaunchComparison>> changes = compare_reports(*a, *b);
//   changes[0].factors[0]  ->  { "memory transactions of a warp", -0.8 ms }
#pragma once

#include "api/sweep/sweep.hpp"

namespace warplens::api {

/// A launch of a report of `run --json`, or a row of one of `sweep --json`.
struct ReportedLaunch {
  std::string kernel;
  Settings settings; ///< of a row of a sweep
  std::string device_name, device_id;
  std::string model, bound;           ///< of the prediction that speaks for it; empty: none
  std::optional<double> milliseconds; ///< predicted
  std::vector<analyzers::Metric> metrics;
  model::KernelStatistics statistics;
  struct Line {
    std::string where, text; ///< "saxpy.cu:5" or "line 17" of the PTX; the instructions there
    std::vector<analyzers::Metric> metrics;
  };
  std::vector<Line> lines; ///< those of one place together
  struct Finding {
    std::string rule, where, message;
    bool operator==(const Finding& o) const { return rule == o.rule && where == o.where; }
  };
  std::vector<Finding> findings;

  [[nodiscard]] std::optional<double> number(std::string_view metric) const;
};

struct ReportFile {
  std::string name;
  std::vector<ReportedLaunch> launches; ///< without the rows of a sweep that have no result
};

/// Errors: not JSON, not one of the two kinds of report, another version, nothing in it.
Expected<ReportFile> read_report(std::string_view text, std::string_view name);

/// Of a metric, a line or a time.
struct Change {
  std::string name;
  std::optional<double> before, after; ///< empty: only the other has it
  /// after / before; empty: one is missing or 0.
  [[nodiscard]] std::optional<double> ratio() const;
};

/// What part of the change of the time a group of counts explains: the model asked again with those of the other
/// launch. Parts do not add up where groups act together; the rest says so.
struct Factor {
  std::string what;
  double milliseconds = 0;
};

struct LaunchComparison {
  const ReportedLaunch *before = nullptr, *after = nullptr; ///< null: only the other report has it
  std::vector<Change> metrics;                              ///< those that changed, in the order of the report
  std::vector<Factor> factors;                              ///< largest first; empty: nothing to explain it by
  double unexplained = 0;                                   ///< milliseconds of the change that are in no factor
  struct Line {
    std::string where, text;
    std::vector<Change> metrics;
  };
  std::vector<Line> lines; ///< those with a change
  std::vector<ReportedLaunch::Finding> appeared, vanished;
};

/// Launches belong together by kernel and settings, or else, where both have as many, by order.
std::vector<LaunchComparison> compare_reports(const ReportFile& before, const ReportFile& after);

} // namespace warplens::api
