// SPDX-License-Identifier: Apache-2.0
// The sectors of cp.async.cg: copies of 16 bytes by the lanes of a warp. An H200 fetches a sector for each different
// sector of the source, sector of the destination, and order of their halves; and looks up a sector for each different
// line of the source and sector of the destination (tests/data/hardware/counted_copies.jsonl).
//
//   lanes copy from 16 * lane to 32 * lane: 16 sectors of the source, 32 are fetched
#pragma once

#include "emulator/exec/state/events.hpp"

namespace warplens::exec {

/// Of a warp: addresses of the sources, and places in shared memory. Inactive lanes have any.
struct LanePlaces {
  std::uint64_t from[kWarpSize], to[kWarpSize];
};

LaneCopy copied_by_lanes(const LanePlaces& places, Mask mask);

/// Holds back the copies of an instruction that are like the one before: like AccessWatch.
class LaneCopyWatch {
public:
  /// `site`: of the instruction in Program::sites.
  void add(Shard& shard, std::uint32_t site, std::uint32_t instruction, const LanePlaces& places, Mask mask);
  void flush(Shard& shard);

private:
  struct Held {
    LanePlaces places{}; ///< from those of lane 0
    std::uint64_t low = 0;
    Mask mask = 0;
    LaneCopy copy;
  };
  std::vector<std::unique_ptr<Held>> held_; ///< by site
};

} // namespace warplens::exec
