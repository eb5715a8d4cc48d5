// SPDX-License-Identifier: Apache-2.0
#include "api/predict/predict.hpp"

#include <fmt/format.h>

namespace warplens::api {

Expected<PredictedLaunch> predict_launch(const CollectedLaunch& launch, const model::Device& device,
                                         const model::ModelOptions& options, std::span<const std::string> models) {
  PredictedLaunch result;
  result.launch = launch;
  for (const std::string& id : models) {
    Expected<model::Prediction> p = model::predict(id, launch.statistics, device, options);
    if (!p) return failure(p.error());
    result.predictions.push_back(std::move(*p));
  }
  if (models.empty()) {
    for (const model::Model& m : model::models()) {
      if (!m.knows(device)) continue;
      if (Expected<model::Prediction> p = model::predict(m.id, launch.statistics, device, options))
        result.predictions.push_back(std::move(*p));
      else
        result.remarks.push_back(fmt::format("no prediction by {}: {}", m.id, p.error().list().front().message));
    }
  }
  model::mark_trusted(result.predictions);
  if (const Expected<model::Patterns> patterns = model::antiparallel_patterns(launch.statistics, device))
    result.patterns = *patterns;
  return result;
}

Expected<std::vector<model::MeasuredRun>> measured_runs(std::span<const CollectedLaunch> launches) {
  std::vector<model::MeasuredRun> runs;
  for (const CollectedLaunch& launch : launches) {
    if (!launch.milliseconds)
      return failure(fmt::format("no measured time for '{}'", launch.kernel),
                     "add a column 'milliseconds', or 'gputime' of the CUDA Visual Profiler");
    runs.push_back({launch.kernel, launch.statistics, *launch.milliseconds});
  }
  return runs;
}

} // namespace warplens::api
