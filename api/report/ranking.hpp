// SPDX-License-Identifier: Apache-2.0
// Which prediction of a launch stands for its run time.
//
//   ranking_prediction(report.predictions, {})->milliseconds
#pragma once

#include "model/models.hpp"

#include <span>
#include <string_view>

namespace warplens::api {

/// The prediction that ranks a launch: by the model of that name. By default, by the first of dasgupta (the only one of
/// the old models that uses transaction sizes), sim, hong-kim and throughput-latency that has parameters for the
/// device, then any other model that predicts a time, then a lower bound. Null: there is none.
const model::Prediction* ranking_prediction(std::span<const model::Prediction> predictions, std::string_view model);

} // namespace warplens::api
