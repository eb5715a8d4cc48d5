// SPDX-License-Identifier: Apache-2.0
// The model to trust for a launch, and the error to expect of it. Models for one device can disagree by an order of
// magnitude, so a report marks one.
//
//   mark_trusted(predictions);
//   if (const Prediction* p = trusted(predictions)) … p->milliseconds, *p->trust->mean_percent …
#pragma once

#include "model/prediction.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace warplens::model {

struct Trust {
  std::string_view model;                             ///< id
  std::optional<double> median_percent, mean_percent; ///< absolute error, relative to the measured time
  std::string_view evaluation;                        ///< the launches and the GPU that gave these errors
  std::string_view page;                              ///< of docs/, with its anchor
};

/// In order of preference.
std::span<const Trust> trust_table();

/// Sets `trust` of the prediction to rely on, and clears that of all others. Models that need a measured run of the
/// kernel are never marked.
void mark_trusted(std::span<Prediction> predictions);
/// Null: none is marked.
const Prediction* trusted(std::span<const Prediction> predictions);

} // namespace warplens::model
