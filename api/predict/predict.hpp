// SPDX-License-Identifier: Apache-2.0
// Runs the models without an emulation, for `warplens predict` and `warplens calibrate`.
//
//   PredictedLaunch p = predict_launch(collected, device, {});
//   p.predictions[0].milliseconds, p.patterns.global_access, p.remarks …
#pragma once

#include "api/predict/collector.hpp"
#include "model/calibration.hpp"
#include "model/cornelis.hpp"
#include "model/models.hpp"
#include "model/trust.hpp"

#include <span>

namespace warplens::api {

struct PredictedLaunch {
  CollectedLaunch launch;
  std::vector<model::Prediction> predictions;
  std::optional<model::Patterns> patterns;
  std::vector<std::string> remarks; ///< why a model gives no prediction
};

/// Predicts with every model that has parameters for the device, or with the named models. A model that lacks a field
/// adds a remark. Error: a named model does not exist or cannot predict.
Expected<PredictedLaunch> predict_launch(const CollectedLaunch& launch, const model::Device& device,
                                         const model::ModelOptions& options = {},
                                         std::span<const std::string> models = {});

/// As JSON: the device, and for each launch the kernel, the statistics, and the predictions as in a report of a run.
std::string json_predictions(const model::Device& device, std::span<const PredictedLaunch> launches);

/// The launches with their measured times. Error: a launch without a measured time.
Expected<std::vector<model::MeasuredRun>> measured_runs(std::span<const CollectedLaunch> launches);

} // namespace warplens::api
