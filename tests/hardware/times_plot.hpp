// docs/h200.svg: predicted against measured times.
#pragma once

#include "tests/hardware/asked_launches.hpp"

namespace warplens::tests {

/// Both axes are logarithmic, in microseconds. Held-out launches are filled; the lines are 20 % off.
std::string times_plot(const std::vector<AskedLaunch>& launches);

} // namespace warplens::tests
