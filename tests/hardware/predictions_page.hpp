// SPDX-License-Identifier: Apache-2.0
// docs/predictions.md and its pictures: predictions of critical-path beside the measured times of public programs.
#pragma once

#include "tests/hardware/public_programs.hpp"

#include <string>
#include <vector>

namespace warplens::tests {

std::string predictions_page();
/// docs/predictions_h200.svg or docs/predictions_h100.svg.
std::string predictions_plot(const Gpu& gpu);

/// The kernels of tests/data/hardware/error_causes.csv.
struct KnownCause {
  std::string program, kernel, cause;
};
const std::vector<KnownCause>& known_causes();

} // namespace warplens::tests
