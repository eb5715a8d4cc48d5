// SPDX-License-Identifier: Apache-2.0
// A comparison as JSON.
//
//   { "warplens": "0.2.0", "comparisons": [ { "before": "a.json", "after": "b.json", "launches": [ … ] } ] }
#pragma once

#include "api/sweep/compare.hpp"

namespace warplens::api {

/// `comparisons[i]` compares `before` with `others[i]`. The text ends with a newline.
std::string json_comparison(const ReportFile& before, std::span<const ReportFile> others,
                            std::span<const std::vector<LaunchComparison>> comparisons);

} // namespace warplens::api
