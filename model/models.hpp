// SPDX-License-Identifier: Apache-2.0
// The analytical models, by name.
//
//   Expected<Device> device = find_device("C1060");
//   Expected<Prediction> p = predict("dasgupta", statistics, *device);
//   if (p) … p->milliseconds, p->bound …
#pragma once

#include "emulator/base/expected.hpp"
#include "model/device.hpp"
#include "model/prediction.hpp"
#include "model/statistics.hpp"

#include <string_view>
#include <vector>

namespace warplens::model {

// The ids kHongKim, kDasgupta, … and the functions of the models. A function gets a prediction that names the model and
// the device, and inputs that check_inputs() accepts.
#define MODEL(constant, id, function, ...)                                                                             \
  constexpr std::string_view constant = id;                                                                            \
  Expected<Prediction> function(Prediction, const KernelStatistics&, const Device&, const ModelOptions&);
#include "model/models.def"

constexpr std::string_view kSaysTime = "a time";
constexpr std::string_view kSaysBound = "a lower bound";
constexpr std::string_view kSaysTimeOnceCalibrated = "a time, once calibrated"; ///< needs adjusting_weight

struct Model {
  std::string_view id;          ///< "hong-kim"
  std::string_view title;       ///< one line, for `warplens list models`
  std::string_view source;      ///< the publication
  std::string_view says;        ///< one of kSays…
  bool (*knows)(const Device&); ///< whether a device has the model's parameters
  Expected<Prediction> (*function)(Prediction, const KernelStatistics&, const Device&, const ModelOptions&);
  std::vector<std::string_view> needs; ///< names of the statistics that it requires
  [[nodiscard]] bool requires_field(std::string_view name) const;
  /// Errors: see check_inputs().
  [[nodiscard]] Expected<Prediction> predict(const KernelStatistics& statistics, const Device& device,
                                             const ModelOptions& options) const;
};

/// All models, in the order of docs/models.md.
const std::vector<Model>& models();
/// Ids of the models that require a field of the statistics.
std::vector<std::string_view> models_requiring(std::string_view field);
/// Null: no such model.
const Model* find_model(std::string_view id);

/// Runs the model named `id`, and adds its potential benefits (model/benefits.hpp) if it predicts a time. Errors: no
/// such model (the hint suggests a name); see check_inputs().
Expected<Prediction> predict(std::string_view id, const KernelStatistics& statistics, const Device& device,
                             const ModelOptions& options = {});

/// The checks that every model starts with. Errors: a device without the model's parameters (the hint names the devices
/// that have them); incomplete or invalid statistics (see check_statistics()); a launch that the device cannot run:
/// more threads in a block or more warps on a multiprocessor than it allows.
Diagnostics check_inputs(std::string_view model_id, const KernelStatistics& statistics, const Device& device);

} // namespace warplens::model
