// SPDX-License-Identifier: Apache-2.0
// The report of a launch and of the launches that its kernel made, as Python holds it.
//
//   ReportObject report(api::with_children(std::move(launched)));
//   report.text({}), report.json(false), report.html()
#pragma once

#include "api/launch/launch.hpp"
#include "python/core/failure.hpp"

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

namespace warplens::python {

class ReportObject {
public:
  explicit ReportObject(std::vector<api::LaunchReport> launches) : launches_(std::move(launches)) {}

  [[nodiscard]] const std::vector<api::LaunchReport>& launches() const { return launches_; }
  /// As `warplens run` prints it.
  [[nodiscard]] std::string text(const std::vector<std::string>& details, bool counters, std::size_t columns) const;
  /// As --json writes it; with a few recorded accesses of each instruction if requested.
  [[nodiscard]] std::string json(bool accesses) const;
  [[nodiscard]] std::string html() const;
  /// As --csv, --sarif or --junit writes it.
  [[nodiscard]] std::string file(const std::string& format, const std::vector<std::string>& conditions) const;
  /// A name of a --fail-on condition that is not a metric, such as sectors_per_request; None: no launch has it.
  [[nodiscard]] pybind11::object condition(const std::string& name) const;

  /// Counts under a rule that is a function of Python: of the launch, and of instructions by index.
  void add_rule(const std::string& name, std::uint64_t transactions, std::uint64_t bytes_moved,
                const std::vector<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>>& rows);
  /// What a model that is a function of Python predicts for the first launch.
  void add_prediction(model::Prediction prediction);

private:
  std::vector<api::LaunchReport> launches_; ///< at least one
};

void add_reports(pybind11::module_& module);

} // namespace warplens::python
