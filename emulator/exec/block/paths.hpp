// SPDX-License-Identifier: Apache-2.0
// The paths of a diverged warp: which lanes wait where, while others run.
//
//   lanes 0-7 run the taken side   waiting, top first: {other side, rejoin at M, lanes 8-31}, {M, rejoin of the whole,
//   lanes 0-31}
//
// A path merges at its end with a path below it. A lane is therefore at the position of the topmost path that contains
// it. A path can continue if none of its lanes is in a path above it.
//
// Targets before sm_70 have only this stack: its top continues when the running path has ended. From sm_70 on, threads
// are independent (CUDA C++ Programming Guide, "Independent Thread Scheduling"):
// * Paths take turns. After its turn, the running path goes on top, and the lowest path that can continue follows.
// * A path parks at a barrier that the rest of its warp has not reached, and at a .sync instruction whose membermask
//   names missing lanes.
// * Lanes at a meeting place continue without lanes that never arrive. Example: the holder of a lock is behind the loop
//   in which the others try to get it. This happens when nothing else can continue, or when the warp repeats itself.
#pragma once

#include "emulator/exec/state/tool_finding.hpp"
#include "emulator/exec/state/warp.hpp"

#include <functional>
#include <vector>

namespace warplens::exec {

/// What a parked path waits for; its `next` is the op where it waits.
enum class Wait : std::uint8_t {
  none,
  barrier, ///< for the other lanes of its warp, at a barrier of the CTA
  arrived, ///< for the other warps: its own has arrived
  members, ///< for the lanes that its membermask names
};

struct Path {
  const Op* next = nullptr;   ///< where it continues
  const Op* rejoin = nullptr; ///< where it merges with the path below it; nullptr: only at exit
  Mask mask = 0;
  Wait wait = Wait::none;
  std::uint8_t barrier = 0; ///< barrier number, if it waits at one
  Mask missing = 0;         ///< for synccheck: lanes that did something else while it waited
  bool call = false;        ///< it waits for the return of its lanes from a call
};

struct Paths {
  const Op* rejoin = nullptr; ///< of the running path
  std::vector<Path> waiting;  ///< the last one continues first

  std::uint32_t turns = 0;     ///< turns that ended while the warp was diverged
  Mask met = 0;                ///< lanes at meeting places when the last turn ended …
  std::uint32_t met_turns = 0; ///< … and the number of turns for which they have been the same
  bool impatient = false;      ///< lanes at meeting places get turns, too

  void clear() {
    rejoin = nullptr;
    waiting.clear();
    turns = met_turns = 0;
    met = 0;
    impatient = false;
  }
};

/// Call it when the running path has ended or parked. Returns where the warp continues, or nullptr if no path can
/// continue: then the warp is done or stuck.
const Op* next_path(Warp* warp);

/// Ends the running path's turn: the next path continues at Warp::next. Only for independent threads.
void change_path(Warp* warp);

/// Parks `lanes` of the running path at `op`. The other active lanes stay active.
void park(const Op* op, Warp* warp, Mask lanes, Wait wait, std::uint8_t barrier = 0);

/// The calls that a lane is in: their instructions, innermost first.
std::vector<std::uint32_t> calls_of(const Warp& warp, int lane);
/// The thread of a lane at an instruction, with its calls; without an access.
ThreadAccess thread_at(const Warp& warp, std::uint32_t instruction, int lane);

/// Resumes the `chosen` parked paths after the op where they wait: they go on top, and equal ones are merged.
void resume(Paths& paths, const std::function<bool(const Path&)>& chosen);

} // namespace warplens::exec
