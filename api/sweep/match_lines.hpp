// SPDX-License-Identifier: Apache-2.0
// Finds the lines of a report in another report of a changed program: lines that moved, and files that were renamed.
//
//   before: k.cu:5 ld.global, k.cu:6 mul     after: kernel.cu:8 ld.global, kernel.cu:9 mul
//   match_lines(before, after, true)  ->  {0, 1}
#pragma once

#include "api/sweep/compare.hpp"

namespace warplens::api {

/// For each line of `before`, the index of the same line in `after`; empty: there is none. Lines of one kernel are the
/// same if they have the same opcodes in the same order, or if they stand between such lines, or have the same place.
/// Lines of different kernels are the same only if they have the same place.
std::vector<std::optional<std::size_t>> match_lines(std::span<const ReportedLaunch::Line> before,
                                                    std::span<const ReportedLaunch::Line> after, bool one_kernel);

} // namespace warplens::api
