// SPDX-License-Identifier: Apache-2.0
#include "model/models.hpp"

#include "model/benefits.hpp"
#include "model/matrix_work.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::model {
namespace {

Diagnostics no_parameters(const Device& device, const Model& model) {
  std::vector<std::string_view> able;
  for (const Device& d : built_in_devices())
    if (model.knows(d)) able.push_back(d.id);
  Diagnostics errors;
  errors.error({}, fmt::format("device '{}' has no parameters for model {}", device.name, model.id),
               fmt::format("devices with these parameters: {}", fmt::join(able, ", ")));
  return errors;
}

// A device that was not loaded from a file may have no limits.
void check_launch(const KernelStatistics& s, const Device& device, Diagnostics& errors) {
  if (!s.threads_per_block || device.limits.warps == 0) return;
  if (*s.threads_per_block > device.limits.threads_per_block)
    errors.error({}, fmt::format("a block of {} threads: '{}' allows at most {}", *s.threads_per_block, device.name,
                                 device.limits.threads_per_block));
  if (!s.resident_blocks) return;
  if (const double warps = warps_per_block(s) * *s.resident_blocks; warps > device.limits.warps)
    errors.error({},
                 fmt::format("{} resident blocks of {} warps: a multiprocessor of '{}' holds at most {} warps",
                             *s.resident_blocks, warps_per_block(s), device.name, device.limits.warps),
                 "warplens occupancy computes how many blocks fit");
  if (*s.resident_blocks > device.limits.blocks)
    errors.error({}, fmt::format("{} resident blocks: a multiprocessor of '{}' holds at most {}", *s.resident_blocks,
                                 device.name, device.limits.blocks));
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> list;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = std::min(text.find(' ', at), text.size());
    if (end != at) list.push_back(text.substr(at, end - at));
  }
  return list;
}

} // namespace

const std::vector<Model>& models() {
  // Never destroyed, so that it can still be used while the program ends.
  static const std::vector<Model>& list = *new std::vector<Model>{
#define MODEL(constant, id, function, says, has_parameters, title, source, needs)                                      \
  {constant, title,       source, says, []([[maybe_unused]] const Device& device) -> bool { return has_parameters; },                         \
   function, words(needs)},
#include "model/models.def"
  };
  return list;
}

bool Model::requires_field(std::string_view name) const {
  return std::find(needs.begin(), needs.end(), name) != needs.end();
}

Expected<Prediction> Model::predict(const KernelStatistics& statistics, const Device& device,
                                    const ModelOptions& options) const {
  if (Diagnostics errors = check_inputs(id, statistics, device); errors.has_errors()) return failure(std::move(errors));
  Prediction prediction;
  prediction.model = id;
  prediction.device = device.name;
  return function(std::move(prediction), statistics, device, options);
}

std::vector<std::string_view> models_requiring(std::string_view field) {
  std::vector<std::string_view> ids;
  for (const Model& model : models())
    if (model.requires_field(field)) ids.push_back(model.id);
  return ids;
}

const Model* find_model(std::string_view id) {
  const auto found = std::find_if(models().begin(), models().end(), [&](const Model& m) { return m.id == id; });
  return found == models().end() ? nullptr : &*found;
}

namespace {

// How busy the matrix units are during the predicted time.
void note_matrix_utilisation(Prediction& p, const KernelStatistics& statistics, const Device& device) {
  if (!statistics.threads_per_block || !statistics.blocks) return;
  const MatrixWork matrices = matrix_work(statistics, device);
  if (matrices.milliseconds > 0 && p.milliseconds > 0)
    note(p, "matrix_utilisation", 100 * matrices.milliseconds / p.milliseconds, "%");
}

} // namespace

Expected<Prediction> predict(std::string_view id, const KernelStatistics& statistics, const Device& device,
                             const ModelOptions& options) {
  if (const Model* model = find_model(id)) {
    Expected<Prediction> prediction = model->predict(statistics, device, options);
    if (prediction) note_matrix_utilisation(*prediction, statistics, device);
    if (prediction && model->says != kSaysBound)
      prediction->benefits = potential_benefits(*model, *prediction, statistics, device, options);
    return prediction;
  }
  std::vector<std::string_view> ids;
  for (const Model& model : models()) ids.push_back(model.id);
  return failure(fmt::format("unknown model '{}'", id),
                 did_you_mean(id, ids, fmt::format("models: {}", fmt::join(ids, ", "))));
}

Diagnostics check_inputs(std::string_view model_id, const KernelStatistics& statistics, const Device& device) {
  if (const Model* model = find_model(model_id); model != nullptr && !model->knows(device))
    return no_parameters(device, *model);
  Diagnostics errors = check_statistics(statistics, model_id);
  if (!errors.has_errors()) check_launch(statistics, device, errors);
  return errors;
}

} // namespace warplens::model
