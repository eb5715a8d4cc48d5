// SPDX-License-Identifier: Apache-2.0
// Which lanes of a warp are a box of threads: those whose coordinates in the block are between two bounds in each
// dimension. Bounds checks select boxes, such as the points of a grid without those at its borders.
//
//   blocks of 16 x 16:  LaneBoxes(shape).is_box(0xfffe'fffe, ~0u)   // true: all but the first column
#pragma once

#include "emulator/exec/state/events.hpp"

#include <array>
#include <vector>

namespace warplens::analyzers {

class LaneBoxes {
public:
  explicit LaneBoxes(const exec::LaunchShape& shape);
  /// Whether the lanes of `part`, which are some of `all`, are those of `all` in a box, in any warp of the block.
  [[nodiscard]] bool is_box(exec::Mask part, exec::Mask all) const;

private:
  using Place = std::array<std::uint32_t, 3>;
  using Places = std::array<Place, exec::kWarpSize>; ///< by lane, relative to the first one in each dimension
  std::vector<Places> warps_;                        ///< those that differ
};

} // namespace warplens::analyzers
