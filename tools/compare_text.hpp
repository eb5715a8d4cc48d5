// SPDX-License-Identifier: Apache-2.0
// A comparison of two reports as text: for several launches, first a table of the kernels, then what changed in each.
//
//   write(comparison_text(comparisons, false, style));
#pragma once

#include "api/report/style.hpp"
#include "api/sweep/compare.hpp"

#include <span>
#include <string>

namespace warplens::tools {

/// "saxpy on H200 (block 64)"
std::string title_of(const api::ReportedLaunch& launch);

/// `all`: every launch, metric and line that changed, not only the most important ones.
std::string comparison_text(std::span<const api::LaunchComparison> comparisons, bool all, const api::Style& style);

} // namespace warplens::tools
