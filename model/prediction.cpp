// SPDX-License-Identifier: Apache-2.0
#include "model/prediction.hpp"

#include <fmt/format.h>

#include <cmath>

namespace warplens::model {

double note(Prediction& prediction, std::string name, double value, std::string unit) {
  prediction.terms.push_back({std::move(name), value, std::move(unit)});
  return value;
}

Expected<Prediction> finish(Prediction prediction, double cycles, double clock_ghz) {
  prediction.cycles = note(prediction, "Exec_cycles", cycles, "cycles");
  prediction.milliseconds = note(prediction, "time", cycles / (clock_ghz * 1e6), "ms");
  for (const Term& term : prediction.terms)
    if (!std::isfinite(term.value) || term.value < 0)
      return failure(fmt::format("{} of model {} on '{}' is negative or not finite: the device or the statistics are "
                                 "invalid",
                                 term.name, prediction.model, prediction.device));
  return prediction;
}

} // namespace warplens::model
