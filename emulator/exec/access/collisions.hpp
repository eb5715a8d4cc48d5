// SPDX-License-Identifier: Apache-2.0
// The order in which the lanes of a warp store. It decides which lane wins if several store to one address. PTX leaves
// it open; here it is that of an H200 (recorded in tests/data/hardware/collisions.jsonl): a warp stores 128 bytes at
// a time, and the lowest lane of those that store together wins.
//
//   all lanes store to one address: lane 0 wins with 4 bytes each, lane 16 with 8, lane 24 with 16
#pragma once

#include "emulator/exec/state/warp.hpp"

namespace warplens::exec {

/// The number of lanes that store together.
constexpr int lanes_together(unsigned lane_bytes) {
  constexpr int kBytesTogether = 128;
  return lane_bytes * kWarpSize <= kBytesTogether ? kWarpSize : kBytesTogether / static_cast<int>(lane_bytes);
}

/// All lanes in that order: the winner comes last.
template <unsigned lane_bytes, class Function> inline void for_each_storing_lane(Function&& function) {
  constexpr int kTogether = lanes_together(lane_bytes);
  for (int end = kTogether; end <= kWarpSize; end += kTogether)
    for (int lane = end - 1; lane >= end - kTogether; --lane) function(lane);
}

/// The lanes of a mask in that order.
template <class Function> inline void for_each_storing_lane(Mask mask, unsigned lane_bytes, Function&& function) {
  const int together = lanes_together(lane_bytes);
  for (int first = 0; first < kWarpSize; first += together) {
    for (Mask m = mask >> first << (kWarpSize - together); m != 0;) {
      const int leading = __builtin_clz(m);
      function(first + together - 1 - leading);
      m &= ~(Mask{0x80000000} >> leading);
    }
  }
}

} // namespace warplens::exec
