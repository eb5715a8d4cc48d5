// A prediction as text for people: the time, what bounds it, what would gain, and what was taken for granted.
//
//   dasgupta: 0.01012 ms, 13280 shader cycles, bound by memory
//     MWP 8.66: warps of a multiprocessor that can wait for memory at a time (limited by departure)
//     to gain: 0.0021 ms with ideal occupancy
#pragma once

#include "api/predict/predict.hpp"
#include "api/report/style.hpp"

#include <string>

namespace warplens::api {

/// `terms`: every intermediate result too.
std::string prediction_text(const model::Prediction& prediction, const Style& style, bool terms = false);

} // namespace warplens::api
