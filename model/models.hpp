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

constexpr std::string_view kHongKim = "hong-kim";
constexpr std::string_view kDasgupta = "dasgupta";
constexpr std::string_view kSim = "sim";
constexpr std::string_view kAmaris = "amaris";
constexpr std::string_view kKaranKumar = "karan-kumar";
constexpr std::string_view kBounds = "bounds";
constexpr std::string_view kVolkov = "volkov";
constexpr std::string_view kRoofline = "roofline";
constexpr std::string_view kThroughputLatency = "throughput-latency";

constexpr std::string_view kSaysTime = "a time";
constexpr std::string_view kSaysBound = "a lower bound";
constexpr std::string_view kSaysTimeOnceCalibrated = "a time, once calibrated"; ///< needs adjusting_weight

struct Model {
  std::string_view id;          ///< "hong-kim"
  std::string_view title;       ///< one line, for `warplens list models`
  std::string_view source;      ///< the publication
  std::string_view says;        ///< one of kSays…
  bool (*knows)(const Device&); ///< whether a device carries the model's parameters
  Expected<Prediction> (*predict)(const KernelStatistics&, const Device&, const ModelOptions&);
};

/// All models, in the order of docs/models.md.
const std::vector<Model>& models();
/// Null: no such model.
const Model* find_model(std::string_view id);

/// Runs the model named `id`, and adds its potential benefits (model/benefits.hpp) if it predicts a time. Errors: no
/// such model (the hint says what may have been meant); see check_inputs().
Expected<Prediction> predict(std::string_view id, const KernelStatistics& statistics, const Device& device,
                             const ModelOptions& options = {});

/// What every model asks first. Errors: a device without the model's parameters (the hint names those that have them);
/// statistics that lack a needed field or cannot be (see check_statistics()); a launch that the device cannot run: more
/// threads in a block or more warps on a multiprocessor than it allows.
Diagnostics check_inputs(std::string_view model_id, const KernelStatistics& statistics, const Device& device);

} // namespace warplens::model
