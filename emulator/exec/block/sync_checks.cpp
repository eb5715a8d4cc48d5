// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/block/sync_checks.hpp"

#include "emulator/exec/block/barriers.hpp"
#include "emulator/exec/block/cluster.hpp"
#include "emulator/exec/block/control.hpp"
#include "emulator/exec/block/faults.hpp"
#include "emulator/exec/block/membermasks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::exec {

bool checks_sync(const Warp* warp) { return warp->worker->launch.tools.synccheck; }

namespace {

using Kind = ToolFinding::Kind;

isa::Family family_of(const Warp& warp, std::uint32_t instruction) {
  const Program& program = warp.cta->program;
  return program.module->spellings[program.function->instructions[instruction].form].entry->family;
}

bool has_membermask(const Warp* warp, std::uint32_t instruction) {
  const Program& program = warp->cta->program;
  const isa::Spelling& s = program.module->spellings[program.function->instructions[instruction].form];
  const bool names = s.entry->family == isa::Family::warp || s.entry->family == isa::Family::warp_barrier;
  return names && s.has(isa::Word::w_sync);
}

/// Whether lanes at `op` exit without doing anything else.
bool leaves(const Op* op, Warp* warp, Mask lanes) {
  constexpr int kMost = 32;
  for (int i = 0; i < kMost; ++i) {
    const Handler run = handler_of(op, warp);
    if (run == exit_lanes) return (lanes & ~(predicate(warp, op->guard) ^ op->guard_flip)) == 0;
    if (run == jump || run == jump_watched)
      op = op->target;
    else if (run == rejoin || run == count_block || run == no_op)
      ++op;
    else
      return false;
  }
  return false;
}

const std::uint32_t* masks_of(const Op* op, Warp* warp) { return row<std::uint32_t>(warp, op->src[3]); }

/// Whether lanes at two instructions with membermasks can meet.
bool can_meet(const Op* a, const Op* b, const Warp* warp) {
  return a == b || (handler_of(a, warp) == warp_barrier && handler_of(b, warp) == warp_barrier);
}

struct MaskGroup {
  Mask named = 0, lanes = 0;
};

MaskGroup group_of(const std::uint32_t* masks, Mask left) {
  MaskGroup group{masks[__builtin_ctz(left)], 0};
  for (const int i : EachLane(left)) group.lanes |= masks[i] == group.named ? Mask{1} << i : 0;
  return group;
}

void check_group(const WarpStep& step, Warp* warp, const MaskGroup& group) {
  const auto tell = [&](Kind kind, Mask lanes, const std::string& detail) {
    record(warp, kind, step.instruction, lanes, detail);
  };
  const Mask missing = group.named & warp->live & ~group.lanes;
  if (const Mask others = group.named & step.mask & ~group.lanes; others != 0)
    tell(Kind::masks_differ, group.lanes,
         fmt::format("mask {:#010x} names {}, whose mask differs", group.named, lanes_of(others)));
  else if (missing == 0 && (group.named & ~warp->live) != 0 && (group.lanes & ~group.named) == 0)
    tell(Kind::exited_lanes, group.lanes,
         fmt::format("mask {:#010x} names {}, which exited, or which the block does not have", group.named,
                     lanes_of(group.named & ~warp->live)));
  for (Path& p : warp->paths->waiting) {
    if (p.wait != Wait::members || !can_meet(p.next, step.op, warp)) continue;
    const Mask named = named_by(warp, p);
    if (named == group.named || (named & group.lanes) == 0) continue;
    record(warp, Kind::masks_differ, p.next->instruction, p.mask,
           fmt::format("mask {:#010x} names {}, whose mask is {:#010x}", named, lanes_of(named & group.lanes),
                       group.named));
    p.missing = 0;
  }
}

} // namespace

void check_masks(const WarpStep& step) {
  Warp* const warp = const_cast<Warp*>(step.warp); // rows are read only
  if (step.after || !warp->cta->independent || !has_membermask(warp, step.instruction)) return;
  const std::uint32_t* const masks = masks_of(step.op, warp);
  for (Mask left = step.mask; left != 0;) {
    const MaskGroup group = group_of(masks, left);
    check_group(step, warp, group);
    left &= ~group.lanes;
  }
}

Mask busy_elsewhere(const Warp* of, Mask mask) {
  Warp* const warp = const_cast<Warp*>(of);
  Mask busy = 0, above = warp->active;
  const std::vector<Path>& waiting = warp->paths->waiting;
  for (auto p = waiting.rbegin(); p != waiting.rend(); ++p) {
    const Mask here = p->mask & warp->live & ~above & mask;
    above |= p->mask;
    if (here != 0 && !leaves(p->next, warp, here)) busy |= here;
  }
  return busy;
}

void note_left_behind(Warp* warp, const Path& meeting, Mask going_on) {
  if (leaves(meeting.next, warp, going_on)) return;
  for (Path& p : warp->paths->waiting)
    if (p.wait == Wait::barrier && (p.mask & meeting.mask) != 0) p.missing |= going_on;
}

// Lanes of an aligned barrier must be at the same one. Others may be at any, but not have exited instead.
void check_parked_barriers(Warp* warp) {
  const Path* first = nullptr;
  bool differ = false;
  const auto is_aligned = [](const Path& p) { return (p.next->extra & kAligned) != 0; };
  for (const Path& p : warp->paths->waiting) {
    if (p.wait != Wait::barrier || !is_aligned(p)) continue;
    differ = differ || (first != nullptr && first->next != p.next);
    first = &p;
  }
  for (const Path& p : warp->paths->waiting) {
    if (p.wait != Wait::barrier) continue;
    const Mask missing = is_aligned(p) ? p.missing : p.missing & ~warp->live;
    if (missing != 0)
      record(warp, Kind::divergent_barrier, p.next->instruction, p.mask,
             fmt::format("{} of the warp went on without it", lanes_of(missing)));
    else if (differ && is_aligned(p))
      record(warp, Kind::divergent_barrier, p.next->instruction, p.mask,
             "other threads of the warp are at another barrier");
  }
}

void check_members(Warp* warp, const Path& path, Mask named) {
  if (path.missing != 0)
    record(warp, Kind::lanes_missing, path.next->instruction, path.mask,
           fmt::format("mask {:#010x} names {}, which did something else", named, lanes_of(path.missing)));
  else if (const Mask gone = named & ~warp->live; gone != 0)
    record(
        warp, Kind::exited_lanes, path.next->instruction, path.mask,
        fmt::format("mask {:#010x} names {}, which exited, or which the block does not have", named, lanes_of(gone)));
}

void check_sources(const Op* op, Warp* warp, Mask mask, const std::uint32_t* sources) {
  Mask wrong = 0;
  for (const int i : EachLane(mask)) wrong |= (mask >> (sources[i] & 31) & 1) == 0 ? Mask{1} << i : 0;
  if (wrong != 0)
    record(warp, Kind::inactive_source, op->instruction, wrong,
           fmt::format("it reads lane {}, which does not take part", sources[__builtin_ctz(wrong)]));
}

// Cooperative groups find the barrier of the grid by these registers.
bool uses_grid_barrier(const Program& program) {
  return std::any_of(program.specials.begin(), program.specials.end(), [](const SpecialRow& s) {
    return s.special == isa::Special::envreg1 || s.special == isa::Special::envreg2;
  });
}

std::optional<Kind> kind_of_wait(const Warp& warp, const Op* first, const Op* last) {
  for (const Op* op = first; op <= last; ++op) {
    switch (family_of(warp, op->instruction)) {
    case isa::Family::mbarrier: return Kind::mbarrier_phase;
    case isa::Family::cluster_barrier: return Kind::cluster_barrier;
    case isa::Family::barrier: return Kind::thread_count;
    case isa::Family::warp:
    case isa::Family::warp_barrier: return Kind::lanes_missing;
    default: break;
    }
  }
  if (uses_grid_barrier(warp.cta->program)) return Kind::grid_sync;
  return std::nullopt;
}

} // namespace warplens::exec
