// SPDX-License-Identifier: Apache-2.0
#include "api/report/progress_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace warplens::api {

namespace {

/// "45 s", "3 min 20 s", "2 h 5 min"
std::string duration(std::int64_t seconds) {
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
}

} // namespace

std::string progress_text(std::string_view what, double done, std::int64_t seconds) {
  if (!(done > 0)) return fmt::format("{}: {}", what, duration(seconds));
  const double share = std::min(done, 1.0);
  std::string text = fmt::format("{}: {} %, {}", what, static_cast<int>(100 * share), duration(seconds));
  constexpr double kLeast = 0.01; // of the work, for an estimate of the rest
  constexpr double kMost = 1e9;
  if (share >= kLeast && share < 1) {
    const double left = static_cast<double>(seconds) * (1 - share) / share;
    text += fmt::format(", about {} left", duration(std::llround(std::min(left, kMost))));
  }
  return text;
}

} // namespace warplens::api
