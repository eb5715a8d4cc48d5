// SPDX-License-Identifier: Apache-2.0
// Handlers of calls: frames on the threads' stacks, activations on the stack of paths.
//
// Each thread has a stack in its local memory. The program's rows `frame` and `top` hold, per lane, the start of the
// running function's frame and the end of the stack. A frame:
//
//   a header (FrameHeader) | parameters and results | variables of the body | registers saved for recursive calls |
//   memory from alloca
//
// A call copies the arguments into the new frame. It leaves a path with the calling lanes that continues at the next op
// (finish_call), and runs the function, which has no rejoin point at its end. A ret removes lanes from the paths of the
// running activation. When none is left, the path at finish_call runs and copies the results.
//
// Indirect calls and brx.idx handle the lanes with the same target as the first one, and repeat for the others.
#pragma once

#include "emulator/exec/block/worker.hpp"

namespace warplens::exec {

/// The header of a frame.
struct FrameHeader {
  std::uint32_t frame, top; ///< of the caller
  std::uint32_t target;     ///< index into CallSite::targets: the function of this frame
  std::uint32_t unused;
};
constexpr std::uint32_t kFrameAlignment = 16;

/// The first op of a program with a stack.
const Op* enter_kernel(const Op*, Warp*);
/// Op::extra is the CallSite, imm the instructions since the last accounting. The next op is finish_call. A
/// rejoin op for waiting lanes follows, unless the call is direct and has no guard.
const Op* call(const Op*, Warp*);
/// src[0]: row of addresses; dst[0]: their bytes.
const Op* call_indirect(const Op*, Warp*);
/// A function of the device library: completes at once.
const Op* call_library(const Op*, Warp*);
/// Op::extra is the CallSite.
const Op* finish_call(const Op*, Warp*);
const Op* return_lanes(const Op*, Warp*);
/// src[0]: distance in ops to the rejoin op (0: none); src[1]: row of indices; src[2]: the jump table; extra: branch
/// counter of watched programs.
const Op* branch_indexed(const Op*, Warp*);
const Op* branch_indexed_watched(const Op*, Warp*);
/// dst[0] = the top of the stack, aligned to `extra`; then adds src[0] bytes to the top. imm: bytes per lane.
const Op* allocate_on_stack(const Op*, Warp*);
const Op* save_stack(const Op*, Warp*);
/// extra: the part, whose frame stays.
const Op* restore_stack(const Op*, Warp*);

/// The local memory of each lane of a warp.
struct Stacks {
  explicit Stacks(Warp* warp);
  [[nodiscard]] std::byte* at(int lane, std::uint32_t offset) const { return begin + lane * stride + offset; }
  std::byte* begin;
  std::uint64_t stride;
};

/// Runs a function of the library for `lanes`, whose frames begin at `frames`. False after setting the worker's trap.
bool run_library(const Op* op, Warp* warp, const CallSite& site, const CalledPart& part, Mask lanes,
                 const std::uint32_t* frames);

} // namespace warplens::exec
