// SPDX-License-Identifier: Apache-2.0
// docs/h200.svg: predicted and measured times.
#pragma once

#include "tests/hardware/asked_launches.hpp"

namespace warplens::tests {

/// Both axes are logarithmic, in microseconds. Held-out launches are filled; the lines mark errors of 20 %.
std::string times_plot(const std::vector<AskedLaunch>& launches);

} // namespace warplens::tests
