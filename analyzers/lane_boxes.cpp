// SPDX-License-Identifier: Apache-2.0
#include "analyzers/lane_boxes.hpp"

#include <algorithm>
#include <numeric>

namespace warplens::analyzers {

LaneBoxes::LaneBoxes(const exec::LaunchShape& shape) {
  const std::uint32_t columns = shape.block[0], rows = shape.block[1];
  const std::uint32_t layer = columns * rows, warps = columns % exec::kWarpSize == 0 ? 1 : layer / std::gcd(layer, 32u);
  for (std::uint32_t warp = 0; warp < std::min(warps, shape.warps()); ++warp) { // then they repeat
    Places places{};
    for (int lane = 0; lane < exec::kWarpSize; ++lane) {
      const std::uint32_t thread = warp * exec::kWarpSize + static_cast<std::uint32_t>(lane);
      places[static_cast<std::size_t>(lane)] = {thread % columns, thread / columns % rows, thread / columns / rows};
    }
    Place least = places[0];
    for (const Place& place : places)
      for (std::size_t d = 0; d < least.size(); ++d) least[d] = std::min(least[d], place[d]);
    for (Place& place : places)
      for (std::size_t d = 0; d < least.size(); ++d) place[d] -= least[d];
    if (std::find(warps_.begin(), warps_.end(), places) == warps_.end()) warps_.push_back(places);
  }
}

bool LaneBoxes::is_box(exec::Mask part, exec::Mask all) const {
  return std::any_of(warps_.begin(), warps_.end(), [&](const Places& places) {
    Place low, high{};
    low.fill(~0u);
    for (const int lane : exec::EachLane(part))
      for (std::size_t d = 0; d < low.size(); ++d) {
        const std::uint32_t at = places[static_cast<std::size_t>(lane)][d];
        low[d] = std::min(low[d], at);
        high[d] = std::max(high[d], at);
      }
    const auto inside = [&](int lane) {
      const Place& at = places[static_cast<std::size_t>(lane)];
      for (std::size_t d = 0; d < low.size(); ++d)
        if (at[d] < low[d] || at[d] > high[d]) return false;
      return true;
    };
    for (const int lane : exec::EachLane(all & ~part))
      if (inside(lane)) return false;
    return true;
  });
}

} // namespace warplens::analyzers
