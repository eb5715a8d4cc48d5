// SPDX-License-Identifier: Apache-2.0
#include "api/report/ranking.hpp"

#include "model/trust.hpp"

namespace warplens::api {

const model::Prediction* ranking_prediction(std::span<const model::Prediction> predictions, std::string_view model) {
  const auto by = [&](std::string_view id) -> const model::Prediction* {
    for (const model::Prediction& p : predictions)
      if (p.model == id) return &p;
    return nullptr;
  };
  if (!model.empty()) return by(model);
  return model::trusted(predictions);
}

} // namespace warplens::api
