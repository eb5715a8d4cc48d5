// SPDX-License-Identifier: Apache-2.0
// The conditions of --fail-on: a name, a comparison and a number. A run for which one is true fails.
//
//   Expected<Condition> c = Condition::parse("sectors_per_request>8");
//   for (const Failure& f : failures({&*c, 1}, reports)) … f.text == "transpose_1d, transpose.cu:9: sectors_per_request
//   is 32, …"
#pragma once

#include "api/launch/launch.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::api {

/// A name that --fail-on knows in addition to the metrics and the kinds of findings.
struct ConditionName {
  std::string_view name, meaning;
};
std::span<const ConditionName> condition_names();

class Condition {
public:
  /// Names: those of condition_names(), a kind of finding (their number), or a metric of the launch, which --counters
  /// lists. Comparisons: > >= < <= == !=. Errors: another form; an unknown name, with the closest one in the hint.
  static Expected<Condition> parse(std::string_view text);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool met_by(double value) const;
  /// The analyzer that counts the metric; empty for other names.
  [[nodiscard]] std::string_view analyzer() const { return analyzer_; }

private:
  enum class Comparison : std::uint8_t { greater, at_least, less, at_most, equal, unequal };
  std::string text_, name_;
  std::string_view analyzer_;
  Comparison comparison_{};
  double number_ = 0;
};

/// A launch for which a condition is true.
struct MetCondition {
  std::size_t launch = 0; ///< index of the report
  std::string condition;  ///< as written
  double value = 0;
  std::string kernel;      ///< as in the source
  std::string source_file; ///< of the line that contributes most; empty: the whole launch or no CUDA line
  std::uint32_t source_line = 0;
  std::uint32_t ptx_line = 0; ///< 0: the whole launch
  /// "transpose_1d, transpose.cu:9 (PTX line 60): sectors_per_request is 32, which meets 'sectors_per_request>8'"
  [[nodiscard]] std::string text() const;
};

/// In the order of the launches. A launch without the value, such as a ratio of requests that it does not make, meets
/// no condition; counts that it does not have are 0.
std::vector<MetCondition> met_conditions(std::span<const Condition> conditions, std::span<const LaunchReport> reports);

/// Of the conditions that no launch can meet because what counts their metric did not run: "'dram__sectors_read.sum' is
/// counted only with --analyzers caches".
std::vector<std::string> uncounted(std::span<const Condition> conditions, std::span<const LaunchReport> reports);

/// Their texts; those of one kernel and condition share a text, with the number of launches.
std::vector<std::string> messages(std::span<const MetCondition> met);

} // namespace warplens::api
