// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/block/membermasks.hpp"

#include "emulator/exec/block/control.hpp"
#include "emulator/exec/block/cta.hpp"
#include "emulator/exec/block/sync_checks.hpp"

#include <fmt/format.h>

namespace warplens::exec {

namespace {

// A group of acting lanes that have the same membermask.
struct Group {
  Mask named = 0, lanes = 0;
};

Group group_of(const Op* op, Warp* warp, Mask left) {
  const auto* const masks = row<std::uint32_t>(warp, op->src[3]);
  Group group{masks[__builtin_ctz(left)], 0};
  for (int i = 0; i < kWarpSize; ++i) group.lanes |= (left >> i & 1) != 0 && masks[i] == group.named ? Mask{1} << i : 0;
  return group;
}

// The lanes of all incomplete groups.
Mask incomplete(const Op* op, Warp* warp, Mask lanes) {
  Mask found = 0;
  for (Mask left = lanes; left != 0;) {
    const Group group = group_of(op, warp, left);
    if ((group.named & warp->live & ~group.lanes) != 0) found |= group.lanes;
    left &= ~group.lanes;
  }
  return found;
}

// The lanes that their own masks do not name.
Mask unnamed(const Op* op, Warp* warp, Mask lanes) {
  Mask all = 0;
  for (Mask left = lanes; left != 0;) {
    const Group group = group_of(op, warp, left);
    all |= group.lanes & ~group.named;
    left &= ~group.lanes;
  }
  return all;
}

void wait_for_members(const Op* op, Warp* warp) {
  for (Mask left = incomplete(op, warp, acting(op, warp)); left != 0;) {
    const Group group = group_of(op, warp, left);
    park(op, warp, group.lanes, Wait::members);
    if (checks_sync(warp))
      warp->paths->waiting.back().missing = busy_elsewhere(warp, group.named & warp->live & ~group.lanes);
    left &= ~group.lanes;
  }
  warp->next = warp->active != 0 ? op : next_path(warp);
}

bool wait_together(const Warp* warp, const Path& a, const Path& b) {
  const auto at_barrier = [&](const Path& path) { return handler_of(path.next, warp) == warp_barrier; };
  return b.wait == Wait::members && (a.next == b.next || (at_barrier(a) && at_barrier(b)));
}

// The trap is of the first of `lanes`.
void stop_with_membermask(const Op* op, Warp* warp, Mask lanes, std::string why) {
  stop_with(op, warp, Trap::Kind::invalid_membermask, lanes, std::move(why));
}

// Before sm_70: stops the kernel and says why the missing lanes cannot arrive.
void stop_for_missing(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp), waiting = incomplete(op, warp, mask);
  const Group group = group_of(op, warp, waiting);
  const int lane = __builtin_ctz(waiting);
  const Mask missing = group.named & warp->live & ~group.lanes;
  const Mask elsewhere = missing & ~warp->active, guarded_off = missing & warp->active & ~mask;
  std::string why;
  if (elsewhere != 0)
    why = fmt::format("{:#010x} names {} of this warp, which took another path at a branch", group.named,
                      lanes_of(elsewhere));
  else if (guarded_off != 0)
    why = fmt::format("{:#010x} names {} of this warp, whose guard is false", group.named, lanes_of(guarded_off));
  else
    why = fmt::format("{:#010x} of lane {} names {}, whose mask differs", group.named, lane, lanes_of(missing));
  stop_with_membermask(op, warp, Mask{1} << lane, std::move(why));
}

} // namespace

std::string lanes_of(Mask mask) {
  std::string text = __builtin_popcount(mask) == 1 ? "lane" : "lanes";
  const char* separator = " ";
  for (int i = 0; i < kWarpSize; ++i) {
    if ((mask >> i & 1) == 0) continue;
    const int first = i;
    while (i + 1 < kWarpSize && (mask >> (i + 1) & 1) != 0) ++i;
    text += first == i ? fmt::format("{}{}", separator, i) : fmt::format("{}{}-{}", separator, first, i);
    separator = ", ";
  }
  return text;
}

void stop_at_membermask(const Op* op, Warp* warp) {
  if (const Mask wrong = unnamed(op, warp, acting(op, warp)); wrong != 0) {
    const int lane = __builtin_ctz(wrong);
    stop_with_membermask(op, warp, wrong,
                         fmt::format("{:#010x} does not name lane {}, which executes the instruction",
                                     row<std::uint32_t>(warp, op->src[3])[lane], lane));
  } else if (warp->cta->independent) {
    wait_for_members(op, warp);
  } else {
    stop_for_missing(op, warp);
  }
}

void stop_at_incomplete_warp(const Op* op, Warp* warp) {
  if (warp->live == kFullMask) return stop_at_membermask(op, warp);
  stop_with(
      op, warp, Trap::Kind::incomplete_warp, acting(op, warp),
      fmt::format("this instruction needs all 32 lanes of the warp, but {} exited, or the block has no such threads",
                  lanes_of(~warp->live)));
}

// Before sm_70, lanes reconverge by themselves, and masks are not checked.
const Op* warp_barrier(const Op* op, Warp* warp) {
  const Mask lanes = acting(op, warp);
  if (lanes == 0 || !warp->cta->independent) return op + 1;
  const auto* const masks = row<std::uint32_t>(warp, op->src[3]);
  const Mask named = masks[__builtin_ctz(lanes)];
  const bool all_there = (lanes & ~named) == 0 && (named & warp->live & ~lanes) == 0;
  if (all_there && (op->extra & kOneMask) != 0) return op + 1;
  if (unnamed(op, warp, lanes) == 0 && incomplete(op, warp, lanes) == 0) return op + 1;
  stop_at_membermask(op, warp);
  return nullptr;
}

Mask named_by(const Warp* warp, const Path& path) {
  return row<std::uint32_t>(const_cast<Warp*>(warp), path.next->src[3])[__builtin_ctz(path.mask)];
}

bool members_wait(const Warp* warp, const Path& path) {
  const Mask named = named_by(warp, path);
  Mask there = 0;
  for (const Path& p : warp->paths->waiting)
    if (wait_together(warp, path, p) && named_by(warp, p) == named) there |= p.mask;
  return (named & warp->live & ~there) == 0;
}

void run_members(Warp* warp, std::size_t index) {
  const Path path = warp->paths->waiting[index];
  const Mask named = named_by(warp, path);
  const auto with_it = [&](const Path& p) { return wait_together(warp, path, p) && named_by(warp, p) == named; };
  Mask members = 0;
  for (const Path& p : warp->paths->waiting)
    if (with_it(p)) members |= p.mask;
  if (checks_sync(warp))
    for (Path& p : warp->paths->waiting) {
      p.missing &= ~members;
      if (with_it(p)) check_members(warp, p, named);
    }
  resume(*warp->paths, with_it); // before the instruction runs: it may write the row of its masks
  activate(warp, members);
  if (const Handler run = handler_of(path.next, warp); run != warp_barrier) run(path.next, warp);
}

} // namespace warplens::exec
