// SPDX-License-Identifier: Apache-2.0
// Spearman's rank correlation: whether predictions have the order of the measured times.
//
//   rank_correlation({1, 5, 3}, {10, 90, 80}) == 1
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace warplens::tests {

/// From 0; equal values have the mean of their ranks.
inline std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<double> result;
  for (const double v : values) {
    const auto less = std::count_if(values.begin(), values.end(), [&](double w) { return w < v; });
    const auto equal = std::count(values.begin(), values.end(), v);
    result.push_back(static_cast<double>(less) + 0.5 * static_cast<double>(equal - 1));
  }
  return result;
}

inline double rank_correlation(const std::vector<double>& first, const std::vector<double>& second) {
  const std::vector<double> a = ranks(first), b = ranks(second);
  const double middle = (static_cast<double>(a.size()) - 1) / 2; // the mean of ranks
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - middle) * (b[i] - middle);
    aa += (a[i] - middle) * (a[i] - middle);
    bb += (b[i] - middle) * (b[i] - middle);
  }
  return ab / std::sqrt(aa * bb);
}

} // namespace warplens::tests
