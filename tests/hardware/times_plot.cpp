// SPDX-License-Identifier: Apache-2.0
#include "tests/hardware/times_plot.hpp"

#include "tests/hardware/scatter_plot.hpp"

namespace warplens::tests {

std::string times_plot(const std::vector<AskedLaunch>& launches) {
  std::vector<Point> points;
  for (const AskedLaunch& one : launches)
    if (one.counted)
      points.push_back(
          {1e3 * one.milliseconds, 1e3 * predicted_milliseconds(one), one.held_out, one.kernel + ", " + one.label});
  return scatter_plot(points, {2, 10000, "held out", "fitted to"});
}

} // namespace warplens::tests
