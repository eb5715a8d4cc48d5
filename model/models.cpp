#include "model/models.hpp"

#include "model/dasgupta.hpp"
#include "model/hong_kim.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::model {
namespace {

const Model* find_model(std::string_view id) {
  const auto found = std::find_if(models().begin(), models().end(), [&](const Model& m) { return m.id == id; });
  return found == models().end() ? nullptr : &*found;
}

} // namespace

const std::vector<Model>& models() {
  static const std::vector<Model> list{
      {kHongKim, "memory and computation warp parallelism, from coalesced and uncoalesced requests",
       "S. Hong, H. Kim, An Analytical Model for a GPU Architecture, ISCA 2009",
       [](const Device& device) { return device.hong_kim && device.issue_cycles; }, hong_kim},
      {kDasgupta, "the same, from transactions by size, with merging, vector requests and slow instructions",
       "A. Dasgupta, CUDA Performance Analyzer, Georgia Institute of Technology 2011",
       [](const Device& device) { return device.dasgupta && device.issue_cycles; }, dasgupta},
  };
  return list;
}

Expected<Prediction> predict(std::string_view id, const KernelStatistics& statistics, const Device& device,
                             const ModelOptions& options) {
  if (const Model* model = find_model(id)) return model->predict(statistics, device, options);
  std::vector<std::string_view> ids;
  for (const Model& model : models()) ids.push_back(model.id);
  const std::string near = closest(id, ids);
  return failure(fmt::format("unknown model '{}'", id), near.empty() ? fmt::format("models: {}", fmt::join(ids, ", "))
                                                                     : fmt::format("did you mean '{}'?", near));
}

Diagnostics no_parameters(const Device& device, std::string_view model_id) {
  std::vector<std::string_view> able;
  if (const Model* model = find_model(model_id))
    for (const Device& d : built_in_devices())
      if (model->knows(d)) able.push_back(d.id);
  Diagnostics errors;
  errors.error({}, fmt::format("device '{}' has no parameters for model {}", device.name, model_id),
               fmt::format("devices that have: {}", fmt::join(able, ", ")));
  return errors;
}

} // namespace warplens::model
