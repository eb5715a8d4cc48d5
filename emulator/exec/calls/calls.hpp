// Handlers of calls: frames on the threads' stacks, activations on the stack of paths.
//
// Each thread has a stack in its local memory. The rows `frame` and `top` of the program say, per lane, where the frame
// of the running function begins and where the stack ends. A frame:
//
//   a header (FrameHeader) | parameters and results | variables of the body | registers kept for calls in a circle |
//   what alloca adds
//
// A call copies arguments into the new frame, leaves a path behind that goes on at the op after it (finish_call) with
// the lanes that called, and runs the function, which ends at no rejoin point. A ret takes lanes out of the paths of
// the running activation; when none is left, the path of finish_call is next. That copies the results.
//
// Indirect calls and brx.idx serve the lanes that agree with the first one, and come again for the others.
#pragma once

#include "emulator/exec/block/worker.hpp"

namespace warplens::exec {

/// What a frame begins with.
struct FrameHeader {
  std::uint32_t frame, top; ///< of the caller
  std::uint32_t target;     ///< of the CallSite: whose frame this is
  std::uint32_t unused;
};
constexpr std::uint32_t kFrameAlignment = 16;

/// The first op of a program with a stack.
const Op* enter_kernel(const Op*, Warp*);
/// Op::extra is the CallSite, imm the instructions since the last accounting. The next op is finish_call; behind that
/// is a rejoin where lanes may wait, that is unless the call is direct and has no guard.
const Op* call(const Op*, Warp*);
/// src[0]: row of addresses; dst[0]: their bytes.
const Op* call_indirect(const Op*, Warp*);
/// A function of the device's library: done at once.
const Op* call_library(const Op*, Warp*);
/// Op::extra is the CallSite.
const Op* finish_call(const Op*, Warp*);
const Op* return_lanes(const Op*, Warp*);
/// src[0]: distance in ops to the rejoin op (0: none); src[1]: row of indices; src[2]: the jump table; extra: branch
/// counter of watched programs.
const Op* branch_indexed(const Op*, Warp*);
const Op* branch_indexed_watched(const Op*, Warp*);
/// dst[0] = the top of the stack, aligned to `extra`, which src[0] bytes are added to; imm: bytes of a lane.
const Op* allocate_on_stack(const Op*, Warp*);
const Op* save_stack(const Op*, Warp*);
/// extra: the part, whose frame stays.
const Op* restore_stack(const Op*, Warp*);

/// Where each lane of a warp has its local memory.
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
