// SPDX-License-Identifier: Apache-2.0
#include "model/trust.hpp"

#include "model/models.hpp"

#include <algorithm>

namespace warplens::model {

std::span<const Trust> trust_table() {
  static constexpr Trust kTable[] = {
#define TRUST(model, median, mean, evaluation, page) {model, median, mean, evaluation, page},
#include "model/trust.def"
  };
  return kTable;
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

const Prediction* trusted(std::span<const Prediction> predictions) {
  const auto found =
      std::find_if(predictions.begin(), predictions.end(), [](const Prediction& p) { return p.trust != nullptr; });
  return found == predictions.end() ? nullptr : &*found;
}

} // namespace warplens::model
