// SPDX-License-Identifier: Apache-2.0
// Pictures of predicted against measured times (SVG): docs/h200.svg, docs/predictions_h200.svg, …
//
//   scatter_plot({{12.5, 11, true, "copy"}}, {1, 1000, "held out", "fitted to"})
#pragma once

#include <string>
#include <vector>

namespace warplens::tests {

struct Point {
  double measured = 0, predicted = 0; ///< microseconds
  bool filled = false;
  std::string title; ///< shown under the pointer
};

struct Axes {
  double least = 1, most = 1000; ///< microseconds, of both
  std::string filled, open;      ///< what the two kinds of points are
};

/// Both axes are logarithmic; the lines mark errors of 20 %.
std::string scatter_plot(const std::vector<Point>& points, const Axes& axes);

} // namespace warplens::tests
