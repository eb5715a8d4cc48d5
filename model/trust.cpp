// SPDX-License-Identifier: Apache-2.0
#include "model/trust.hpp"

#include "model/models.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::model {

std::span<const Trust> trust_table() {
  static constexpr Trust kTable[] = {
#define TRUST(model, median, mean, evaluation, page) {model, median, mean, evaluation, page},
#define ALIKE(model, bound, launches, median, mean)
#define JUDGED(model, device, launches, median, mean)
#define EVALUATED(model, device)
#include "model/trust.def"
  };
  return kTable;
}

std::span<const AlikeLaunches> alike_launches() {
  static constexpr AlikeLaunches kTable[] = {
#define TRUST(model, median, mean, evaluation, page)
#define ALIKE(model, bound, launches, median, mean) {model, bound, launches, median, mean},
#define JUDGED(model, device, launches, median, mean)
#define EVALUATED(model, device)
#include "model/trust.def"
  };
  return kTable;
}

std::span<const JudgedOnDevice> judged_on_devices() {
  static constexpr JudgedOnDevice kTable[] = {
#define TRUST(model, median, mean, evaluation, page)
#define ALIKE(model, bound, launches, median, mean)
#define JUDGED(model, device, launches, median, mean) {model, device, launches, median, mean},
#define EVALUATED(model, device)
#include "model/trust.def"
  };
  return kTable;
}

std::span<const EvaluatedOnDevice> evaluated_on_devices() {
  static constexpr EvaluatedOnDevice kTable[] = {
#define TRUST(model, median, mean, evaluation, page)
#define ALIKE(model, bound, launches, median, mean)
#define JUDGED(model, device, launches, median, mean)
#define EVALUATED(model, device) {model, device},
#include "model/trust.def"
  };
  return kTable;
}

bool evaluated_elsewhere_only(const Prediction& prediction) {
  bool elsewhere = false;
  for (const EvaluatedOnDevice& evaluated : evaluated_on_devices()) {
    if (evaluated.model != prediction.model) continue;
    if (evaluated.device == prediction.device) return false;
    elsewhere = true;
  }
  return elsewhere;
}

std::optional<ExpectedError> expected_error(const Prediction& prediction) {
  const Trust* const trust = prediction.trust;
  if (trust == nullptr || !(trust->median_percent || trust->mean_percent)) return std::nullopt;
  if (evaluated_elsewhere_only(prediction)) return ExpectedError{{}, {}, "not evaluated on this device"};
  for (const AlikeLaunches& alike : alike_launches())
    if (alike.model == prediction.model && alike.bound == prediction.bound)
      return ExpectedError{
          alike.median_percent, alike.mean_percent,
          fmt::format("{}: the {} that are limited by the same, {}", trust->evaluation, alike.launches, alike.bound)};
  for (const JudgedOnDevice& judged : judged_on_devices())
    if (judged.model == prediction.model && judged.device == prediction.device)
      return ExpectedError{judged.median_percent, judged.mean_percent,
                           fmt::format("{} launches on a {} whose times papers print", judged.launches, judged.device)};
  return ExpectedError{trust->median_percent, trust->mean_percent, std::string(trust->evaluation)};
}

void mark_trusted(std::span<Prediction> predictions) {
  for (Prediction& p : predictions) p.trust = nullptr;
  for (const Trust& row : trust_table()) {
    const auto found =
        std::find_if(predictions.begin(), predictions.end(), [&](const Prediction& p) { return p.model == row.model; });
    if (found == predictions.end()) continue;
    found->trust = &row;
    return;
  }
}

const Prediction* trusted_for_changes(std::span<const Prediction> predictions) {
  for (const Trust& row : trust_table()) {
    const Model* const model = find_model(row.model);
    if (model == nullptr || model->requires_field("path_l2")) continue;
    const auto found =
        std::find_if(predictions.begin(), predictions.end(), [&](const Prediction& p) { return p.model == row.model; });
    if (found != predictions.end()) return &*found;
  }
  return nullptr;
}

bool knows_what_takes_time(std::span<const Prediction> predictions) {
  const Prediction *const time = trusted(predictions), *const changes = trusted_for_changes(predictions);
  return time == nullptr || changes == nullptr || 2 * changes->milliseconds >= time->milliseconds;
}

const Prediction* trusted(std::span<const Prediction> predictions) {
  const auto found =
      std::find_if(predictions.begin(), predictions.end(), [](const Prediction& p) { return p.trust != nullptr; });
  return found == predictions.end() ? nullptr : &*found;
}

} // namespace warplens::model
