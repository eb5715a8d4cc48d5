// The paths of a diverged warp: which lanes wait where, while others run.
//
//   lanes 0-7 run the taken side   waiting, top first: {other side, rejoin at M, lanes 8-31}, {M, rejoin of the whole,
//   lanes 0-31}
//
// Whatever a path meets at its end stands below it.
#pragma once

#include "emulator/exec/warp.hpp"

#include <vector>

namespace warplens::exec {

struct Path {
  const Op* next = nullptr;   ///< where it continues
  const Op* rejoin = nullptr; ///< where it meets the path below it; nullptr: only at exit
  Mask mask = 0;
};

struct Paths {
  const Op* rejoin = nullptr; ///< of the path that runs
  std::vector<Path> waiting;  ///< the last one goes on first

  void clear() {
    rejoin = nullptr;
    waiting.clear();
  }
};

} // namespace warplens::exec
