// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/block/control.hpp"

#include "emulator/exec/block/cta.hpp"
#include "emulator/exec/block/faults.hpp"
#include "emulator/exec/block/sync_checks.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace warplens::exec {

namespace {

const Op* pause(Warp* warp, const Op* next) {
  warp->next = next;
  return nullptr;
}

// Charges `steps` to the warp's turn; true if the turn is over.
bool spent(Warp* warp, std::int64_t steps) {
  warp->budget -= steps;
  return warp->budget <= 0;
}

} // namespace

const Op* go(Warp* warp, const Op* next, std::int64_t steps) { return spent(warp, steps) ? pause(warp, next) : next; }

const Op* end_path(Warp* warp) {
  Paths& paths = *warp->paths;
  while (!paths.waiting.empty() && paths.waiting.back().wait == Wait::none) {
    const Path& path = paths.waiting.back(); // not a copy: it would stall on the stores of its members
    const Mask mask = path.mask & warp->live;
    const Op* const next = path.next;
    paths.rejoin = path.rejoin;
    paths.waiting.pop_back();
    if (mask == 0) continue;
    activate(warp, mask);
    return next;
  }
  return next_path(warp);
}

namespace {

// Goes to the target of a branch. A watched branch counts the block that it enters and skips that block's counter.
template <bool watched> const Op* take(const Op* op, Warp* warp) {
  if constexpr (watched)
    if (op->src[1] != kNotCounted) count(warp, op->src[1]);
  return go(warp, op->target, op->imm);
}

// Not inlined, so that branches of whole warps save no registers.
template <bool watched> [[gnu::noinline]] const Op* diverge(const Op* op, Warp* warp, Mask taken) {
  const Mask active = warp->active;
  const Op* const meet = op->src[0] == 0 ? nullptr : op + static_cast<std::int32_t>(op->src[0]);
  // If the running path already ends at the same place, the paths that wait there wait for these lanes too.
  Paths& paths = *warp->paths;
  if (meet != nullptr && paths.rejoin != meet) paths.waiting.push_back({meet, paths.rejoin, active});
  if (op + 1 != meet) paths.waiting.push_back({op + 1, meet, active & ~taken}); // the others wait there already
  activate(warp, taken);
  paths.rejoin = meet;
  return take<watched>(op, warp);
}

template <bool watched> const Op* split(const Op* op, Warp* warp, Mask taken) {
  if (taken == 0) return go(warp, op + 1, op->imm);
  if (taken == warp->active) return take<watched>(op, warp);
  return diverge<watched>(op, warp, taken);
}

// A watched branch that count_again() refuses; not inlined, like diverge().
[[gnu::noinline]] const Op* other_branch(const Op* op, Warp* warp, Mask taken) {
  warp->worker->count_branch(*warp, op->extra, warp->active, taken);
  return split<true>(op, warp, taken);
}

const Op* count_and_split(const Op* op, Warp* warp, Mask taken) {
  if (!warp->worker->count_again(*warp, op->extra, warp->active, taken)) return other_branch(op, warp, taken);
  return split<true>(op, warp, taken);
}

// The lanes that a trap is about: those that act, or that could.
Mask concerned(const Op* op, Warp* warp) { return acting(op, warp) != 0 ? acting(op, warp) : warp->active; }

} // namespace

Trap trap_at(const Warp* warp, Trap::Kind kind, std::uint32_t instruction, int lane) {
  Trap trap;
  trap.kind = kind;
  trap.instruction = instruction;
  trap.cta = warp->cta->number;
  trap.thread = warp->index * kWarpSize + static_cast<std::uint32_t>(lane);
  trap.calls = calls_of(*warp, lane);
  return trap;
}

const Op* stop_with(Warp* warp, Trap trap, Mask lanes) {
  record_stop(*warp->worker, trap, lanes);
  warp->worker->trapped(std::move(trap));
  warp->state = WarpState::trapped;
  return nullptr;
}

const Op* stop_with(const Op* op, Warp* warp, Trap::Kind kind, Mask lanes, std::string detail) {
  Trap trap = trap_at(warp, kind, op->instruction, __builtin_ctz(lanes));
  trap.detail = std::move(detail);
  return stop_with(warp, std::move(trap), lanes);
}

const Op* jump(const Op* op, Warp* warp) { return take<false>(op, warp); }

const Op* jump_watched(const Op* op, Warp* warp) { return count_and_split(op, warp, warp->active); }

const Op* branch(const Op* op, Warp* warp) { return split<false>(op, warp, acting(op, warp)); }

const Op* branch_watched(const Op* op, Warp* warp) { return count_and_split(op, warp, acting(op, warp)); }

const Op* rejoin(const Op* op, Warp* warp) {
  if (warp->paths->rejoin != op) return op + 1;
  return end_path(warp);
}

const Op* exit_lanes(const Op* op, Warp* warp) {
  const Mask leaving = acting(op, warp);
  warp->budget -= op->imm;
  warp->live &= ~leaving;
  activate(warp, warp->active & ~leaving);
  return warp->active != 0 ? op + 1 : end_path(warp);
}

const Op* trap(const Op* op, Warp* warp) {
  if (acting(op, warp) == 0) return op + 1;
  const Mask lanes = concerned(op, warp);
  Trap trap = trap_at(warp, Trap::Kind::trap_instruction, op->instruction, __builtin_ctz(lanes));
  // Cooperative groups trap where the grid's barrier is missing.
  if (checks_sync(warp) && !warp->worker->launch.cooperative && uses_grid_barrier(warp->cta->program))
    trap.finding = ToolFinding::Kind::grid_sync;
  return stop_with(warp, std::move(trap), lanes);
}

const Op* sleep(const Op* op, Warp* warp) {
  if (acting(op, warp) == 0) return op + 1;
  warp->turn -= warp->budget; // gives up the rest of the turn
  warp->budget = 0;
  return pause(warp, op + 1);
}

const Op* no_op(const Op* op, Warp*) { return op + 1; }

const Op* count_block(const Op* op, Warp* warp) {
  count(warp, op->extra);
  return op + 1;
}

const Op* count_guarded(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  warp->worker->guarded[op->extra] +=
      mask == warp->active ? warp->lanes : static_cast<unsigned>(__builtin_popcount(mask));
  return op + 1;
}

void tell_special(Warp* warp, std::uint32_t instruction, Mask lanes) {
  if (warp->worker->shard) warp->worker->shard->special_operands({instruction, lanes});
}

const Op* tell_step(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  if (mask == 0) return op + 1;
  const WarpStep step{warp, {warp->cta->number, warp->index}, op->instruction, mask, op->extra != 0, op + op->imm};
  if (checks_sync(warp)) check_masks(step);
  for (const auto& checker : warp->worker->checkers) checker->step(step);
  return op + 1;
}

const Op* tell_async_step(const Op* op, Warp* warp) {
  if (acting(op, warp) == 0 || !warp->worker->shard) return op + 1;
  warp->worker->shard->async_step({static_cast<AsyncStep::Work>(op->extra & 0xff),
                                   static_cast<AsyncStep::Kind>(op->extra >> 8),
                                   op->instruction,
                                   static_cast<std::uint32_t>(op->imm),
                                   {warp->cta->number, warp->index}});
  return op + 1;
}

const Op* tell_registers(const Op* op, Warp* warp) {
  const WarpStep step{warp, {warp->cta->number, warp->index}, op->instruction, acting(op, warp), false, op + 1};
  for (const auto& checker : warp->worker->checkers) checker->registers(step);
  return op + 1;
}

namespace {
template <class Operation> const Op* combine(const Op* op, Warp* warp, Operation operation) {
  const Mask mask = acting(op, warp);
  const Mask value = operation(predicate(warp, op->src[0]) ^ static_cast<Mask>(op->extra),
                               predicate(warp, op->src[1]) ^ static_cast<Mask>(op->imm));
  Mask& d = predicate(warp, op->dst[0]);
  d = (d & ~mask) | (value & mask);
  return op + 1;
}
} // namespace

const Op* predicate_and(const Op* op, Warp* warp) {
  return combine(op, warp, [](Mask a, Mask b) { return a & b; });
}
const Op* predicate_or(const Op* op, Warp* warp) {
  return combine(op, warp, [](Mask a, Mask b) { return a | b; });
}
const Op* predicate_xor(const Op* op, Warp* warp) {
  return combine(op, warp, [](Mask a, Mask b) { return a ^ b; });
}

const Op* read_special(const Op* op, Warp* warp) {
  const auto special = static_cast<isa::Special>(op->extra);
  std::uint64_t value = 0;
  switch (special) {
  case isa::Special::globaltimer:
  case isa::Special::globaltimer_lo:
  case isa::Special::globaltimer_hi:
    value = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count());
    break;
  default: // %clock and similar: the instructions of this warp so far, which makes runs repeatable
    warp->budget -= 1;
    value = warp->steps + static_cast<std::uint64_t>(warp->turn - warp->budget);
  }
  if (special == isa::Special::clock_hi || special == isa::Special::globaltimer_hi) value >>= 32;
  for (int i = 0; i < kWarpSize; ++i) {
    if (op->imm == 8)
      row<std::uint64_t>(warp, op->dst[0])[i] = value;
    else
      row<std::uint32_t>(warp, op->dst[0])[i] = static_cast<std::uint32_t>(value);
  }
  return op + 1;
}

const Op* or_in_constant(const Op* op, Warp* warp) {
  const std::vector<AddressRange>& all = warp->cta->program.constant_variables;
  Mask inside = 0;
  for (const int i : EachLane(acting(op, warp))) {
    const std::uint64_t address = lane_word(warp, op->src[0], op->imm, i);
    const auto after = std::upper_bound(all.begin(), all.end(), address,
                                        [](std::uint64_t a, const AddressRange& range) { return a < range.begin; });
    if (after != all.begin() && address < (after - 1)->end) inside |= Mask{1} << i;
  }
  predicate(warp, op->dst[0]) |= inside;
  return op + 1;
}

const Op* copy_row(const Op* op, Warp* warp) {
  std::memmove(row<std::byte>(warp, op->dst[0]), row<std::byte>(warp, op->src[0]), static_cast<std::size_t>(op->imm));
  return op + 1;
}

} // namespace warplens::exec
