// SPDX-License-Identifier: Apache-2.0
// A prediction as text: the time, the bottleneck, potential savings, and assumptions.
//
//   dasgupta: 10.1 µs, 13280 shader cycles, bound by memory
//     MWP 8.66: warps of a multiprocessor that can access memory at the same time (limited by departure)
//     potential saving: 2.1 µs (21 %) with ideal occupancy
#pragma once

#include "api/predict/predict.hpp"
#include "api/report/style.hpp"

#include <string>

namespace warplens::api {

/// "without bank conflicts", "with ideal occupancy": when the benefit would come.
std::string ideal_of(const model::Benefit& benefit);

/// `terms`: also write every intermediate result.
std::string prediction_text(const model::Prediction& prediction, const Style& style, bool terms = false,
                            std::size_t columns = 100);

} // namespace warplens::api
