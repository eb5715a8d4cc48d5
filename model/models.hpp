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

struct Model {
  std::string_view id;          ///< "hong-kim"
  std::string_view title;       ///< one line, for `warplens list models`
  std::string_view source;      ///< the publication
  bool (*knows)(const Device&); ///< whether a device carries the model's parameters
  Expected<Prediction> (*predict)(const KernelStatistics&, const Device&, const ModelOptions&);
};

/// All models, oldest first.
const std::vector<Model>& models();

/// Runs the model named `id`. Errors: no such model (the hint says what may have been meant); a device without the
/// model's parameters; statistics that lack a needed field or cannot be (see check_statistics).
Expected<Prediction> predict(std::string_view id, const KernelStatistics& statistics, const Device& device,
                             const ModelOptions& options = {});

/// That a device lacks what a model needs; the hint names the built-in devices that have it.
Diagnostics no_parameters(const Device& device, std::string_view model_id);

} // namespace warplens::model
