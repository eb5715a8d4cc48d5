// SPDX-License-Identifier: Apache-2.0
// Handlers that move a warp from one instruction to another: branches, reconvergence, exits, barriers, traps.
//
// Reconvergence: a branch that splits a warp pushes a path that waits at the immediate post-dominator onto a stack, and
// the other side on top of it. Then it runs the taken side. A path that reaches its `rejoin` op ends there, and the
// next one on the stack runs; the last one merges with the waiting path. Guarded exits only remove lanes.
// Independent threads extend this scheme: see paths.hpp.
#pragma once

#include "emulator/exec/block/worker.hpp"

namespace warplens::exec {

/// A trap that a lane causes at an instruction.
Trap trap_at(const Warp* warp, Trap::Kind kind, std::uint32_t instruction, int lane);
/// Stops the kernel; always returns nullptr. Without a trap, it is about the first of `lanes`. The tools are told of
/// all of `lanes`, or of the trap's thread if there are none.
const Op* stop_with(Warp* warp, Trap trap, Mask lanes = 0);
const Op* stop_with(const Op* op, Warp* warp, Trap::Kind kind, Mask lanes, std::string detail = {});

/// Charges `steps` to the warp's turn and continues at `next`, or pauses there.
const Op* go(Warp* warp, const Op* next, std::int64_t steps);
/// The running path has ended: the topmost one that still has lanes continues, unless it is parked.
const Op* end_path(Warp* warp);

/// The running path enters a counted block.
inline void count(Warp* warp, std::uint32_t block) {
  BlockCounter& counter = warp->worker->blocks[block];
  ++counter.warps;
  counter.lanes += warp->lanes;
  warp->counted += counter.instructions;
  ++warp->visits[block];
}

constexpr std::uint32_t kNotCounted = 0xffffffffu;

/// Op::imm is the number of instructions since the last accounting (for the budget); Op::extra the branch counter.
const Op* jump(const Op*, Warp*);
const Op* jump_watched(const Op*, Warp*);
/// Conditional: src[0] is the distance in ops to the rejoin op (0: none). Watched branches: `extra` is the branch
/// counter, src[1] the block that is entered at the target, or kNotCounted if that block counts itself.
const Op* branch(const Op*, Warp*);
const Op* branch_watched(const Op*, Warp*);
/// Stands before the instruction where paths meet.
const Op* rejoin(const Op*, Warp*);
const Op* exit_lanes(const Op*, Warp*);
const Op* trap(const Op*, Warp*);
/// Gives the other warps, and the other paths of the warp, their turn.
const Op* sleep(const Op* op, Warp* warp);
const Op* no_op(const Op*, Warp*);
/// Watched programs: counts a basic block (extra), or the lanes whose guard is true (extra).
const Op* count_block(const Op*, Warp*);
const Op* count_guarded(const Op*, Warp*);
/// For handlers of levels, which must not call virtual functions: lanes of the instruction have special operands.
void tell_special(Warp*, std::uint32_t instruction, Mask lanes);
/// Checked programs: tells the checkers of a step (extra: after it) of the instruction whose op is `imm` ops away.
const Op* tell_step(const Op*, Warp*);
/// Watched programs: a step of asynchronous work (`extra`: its work, and from bit 8 on its kind; imm:
/// AsyncStep::running).
const Op* tell_async_step(const Op*, Warp*);
/// As tell_step, before an instruction that reads or writes registers that may be unwritten.
const Op* tell_registers(const Op*, Warp*);
/// Predicate logic: dst[0] = src[0] OP src[1]; src[1] flipped by imm. The decoder combines comparisons with these.
const Op* predicate_and(const Op*, Warp*);
const Op* predicate_or(const Op*, Warp*);
const Op* predicate_xor(const Op*, Warp*);
/// Writes the row of a special register that changes while the warp runs (extra: isa::Special; imm: lane bytes).
const Op* read_special(const Op*, Warp*);
/// dst[0] |= the address in src[0] (imm: its bytes) is in a variable of constant memory.
const Op* or_in_constant(const Op*, Warp*);
/// A whole row of `imm` bytes from src[0] to dst[0], all lanes (temporary rows only).
const Op* copy_row(const Op*, Warp*);

} // namespace warplens::exec
