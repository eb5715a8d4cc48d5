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
#include <string>
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

/// The errors of those launches of an evaluation that are alike: the model names the same bound for all of them.
struct AlikeLaunches {
  std::string_view model, bound;
  int launches = 0;
  double median_percent = 0, mean_percent = 0;
};
std::span<const AlikeLaunches> alike_launches();

/// The errors of a model on one GPU, for all launches of which a paper prints a measured time.
struct JudgedOnDevice {
  std::string_view model, device; ///< device: its name
  int launches = 0;
  double median_percent = 0, mean_percent = 0;
};
std::span<const JudgedOnDevice> judged_on_devices();

/// A GPU of an evaluation that says nothing of other GPUs.
struct EvaluatedOnDevice {
  std::string_view model, device; ///< device: its name
};
std::span<const EvaluatedOnDevice> evaluated_on_devices();
/// Whether the evaluation of the model says nothing of the device of the prediction.
bool evaluated_elsewhere_only(const Prediction& prediction);

/// The error to expect of a marked prediction: that of the launches that are alike, if at least 5 were measured, else
/// that of the launches on the same GPU, else that of all launches of the evaluation. Without numbers if the model was
/// evaluated on other GPUs only. Nothing is known of a prediction that is not marked.
struct ExpectedError {
  std::optional<double> median_percent, mean_percent;
  std::string evaluation; ///< the launches and the GPU that were measured, or why there are no numbers
};
std::optional<ExpectedError> expected_error(const Prediction& prediction);

/// Sets `trust` of the prediction to rely on, and clears that of all others. Models that need a measured run of the
/// kernel are never marked.
void mark_trusted(std::span<Prediction> predictions);
/// Null: none is marked.
const Prediction* trusted(std::span<const Prediction> predictions);
/// The one to compare with a prediction for other code: that of the model to trust among those that follow from counts.
/// The critical path of a warp is that of the code that ran; what other code would have is not known. Null: none.
const Prediction* trusted_for_changes(std::span<const Prediction> predictions);
/// Whether the model for changes knows what takes the time: it predicts at least half of what the model to trust
/// predicts. If not, as with contended atomics of shared memory, it cannot say that a change would save little.
bool knows_what_takes_time(std::span<const Prediction> predictions);

} // namespace warplens::model
