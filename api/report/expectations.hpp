// SPDX-License-Identifier: Apache-2.0
// What a report expects: the remedy of a finding, and the range of a predicted time.
//
//   range_of(prediction)->first, ->second: milliseconds
#pragma once

#include "api/launch/launch.hpp"

#include <optional>
#include <string>
#include <utility>

namespace warplens::api {

/// What to do: the remedy that follows from the evidence, or otherwise the advice for this kind of finding.
inline const std::string& remedy_of(const analyzers::Finding& finding) {
  return finding.remedy.empty() ? finding.advice : finding.remedy;
}

/// The times that a launch can take if the prediction is wrong by the error that evaluations of its model gave,
/// relative to the measured time; empty: no error is known.
inline std::optional<std::pair<double, double>> range_of(const model::Prediction& prediction) {
  const std::optional<model::ExpectedError> error = model::expected_error(prediction);
  if (!error) return std::nullopt;
  const std::optional<double> percent = error->median_percent ? error->median_percent : error->mean_percent;
  if (!percent || *percent >= 100) return std::nullopt;
  return std::pair(prediction.milliseconds / (1 + *percent / 100), prediction.milliseconds / (1 - *percent / 100));
}

} // namespace warplens::api
