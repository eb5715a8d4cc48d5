// The paths of a diverged warp: which lanes wait where, while others run.
//
//   lanes 0-7 run the taken side   waiting, top first: {other side, rejoin at M, lanes 8-31}, {M, rejoin of the whole,
//   lanes 0-31}
//
// Whatever a path meets at its end stands below it, so a lane is where the topmost path that has it says. A path none
// of whose lanes is in one above it can go on.
//
// Targets before sm_70 know no more than this stack: its top goes on when the running path has ended. From sm_70 on
// threads are independent (CUDA C++ Programming Guide, "Independent Thread Scheduling"):
// * Paths take turns. When a turn is over the running path comes on top, and the lowest one that can go on follows.
// * A path parks at a barrier that the rest of its warp has not reached, and at a .sync instruction whose membermask
//   names lanes that are not there.
// * Lanes at a meeting place go on without those that never come, as where the holder of a lock stands behind the loop
//   in which the others try to get it. That is done when nothing else can go on, or when the warp repeats itself.
#pragma once

#include "emulator/exec/state/warp.hpp"

#include <functional>
#include <vector>

namespace warplens::exec {

/// What a parked path waits for; its `next` is the op where it waits.
enum class Wait : std::uint8_t {
  none,
  barrier, ///< the other lanes of its warp, at a barrier of the CTA
  arrived, ///< the other warps: its own has arrived
  members, ///< the lanes that its membermask names
};

struct Path {
  const Op* next = nullptr;   ///< where it continues
  const Op* rejoin = nullptr; ///< where it meets the path below it; nullptr: only at exit
  Mask mask = 0;
  Wait wait = Wait::none;
  std::uint8_t barrier = 0; ///< number, where it waits at one
};

struct Paths {
  const Op* rejoin = nullptr; ///< of the path that runs
  std::vector<Path> waiting;  ///< the last one goes on first

  std::uint32_t turns = 0;     ///< that were over while the warp was diverged
  Mask met = 0;                ///< lanes that stood at meeting places when the last one was …
  std::uint32_t met_turns = 0; ///< … and for how many turns the same ones have
  bool impatient = false;      ///< lanes at meeting places get turns, too

  void clear() {
    rejoin = nullptr;
    waiting.clear();
    turns = met_turns = 0;
    met = 0;
    impatient = false;
  }
};

/// The running path has ended or parked: where the warp continues. nullptr where no path can go on: then the warp is
/// done or stuck.
const Op* next_path(Warp* warp);

/// The running path's turn is over: the path that follows continues at Warp::next. Only for independent threads.
void change_path(Warp* warp);

/// Parks `lanes` of the running path at `op`. The other active lanes stay active.
void park(const Op* op, Warp* warp, Mask lanes, Wait wait, std::uint8_t barrier = 0);

/// The parked paths that are `chosen` go on after the op where they wait: they come on top, and those that are alike
/// become one.
void resume(Paths& paths, const std::function<bool(const Path&)>& chosen);

} // namespace warplens::exec
