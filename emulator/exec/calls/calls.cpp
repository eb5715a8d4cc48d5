// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/calls/calls.hpp"

#include "emulator/exec/block/control.hpp"
#include "emulator/exec/block/cta.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace warplens::exec {

Stacks::Stacks(Warp* warp)
    : begin(warp->cta->local + std::uint64_t{warp->index} * kWarpSize * warp->cta->local_stride),
      stride(warp->cta->local_stride) {}

namespace {

const Program& program_of(Warp* warp) { return warp->cta->program; }
std::uint32_t* frames_of(Warp* warp) { return row<std::uint32_t>(warp, program_of(warp).frame_row); }
std::uint32_t* tops_of(Warp* warp) { return row<std::uint32_t>(warp, program_of(warp).top_row); }

template <class Each> inline void for_each_lane(Mask lanes, Each each) {
  if (lanes == kFullMask) { // no bit scan: vectorises
    for (int i = 0; i < kWarpSize; ++i) each(i);
    return;
  }
  for (; lanes != 0; lanes &= lanes - 1) each(__builtin_ctz(lanes));
}

// Calls `each` with the number of bytes as a constant if rows have this width, so that copies are single moves.
template <class Each> void with_bytes(std::uint32_t bytes, Each each) {
  switch (bytes) {
  case 1: return each(std::integral_constant<std::size_t, 1>{});
  case 2: return each(std::integral_constant<std::size_t, 2>{});
  case 4: return each(std::integral_constant<std::size_t, 4>{});
  case 8: return each(std::integral_constant<std::size_t, 8>{});
  case 16: return each(std::integral_constant<std::size_t, 16>{});
  default: return each(static_cast<std::size_t>(bytes));
  }
}

// Copies the lanes' elements of a row to `offset` in their frames. The row may be wider.
void to_frames(Warp* warp, std::uint32_t from, int lane_bytes, const Stacks& stacks, const std::uint32_t* frames,
               std::uint32_t offset, std::uint32_t bytes, Mask lanes) {
  if (lane_bytes == 0) {
    const Mask mask = predicate(warp, from);
    for_each_lane(lanes, [&](int i) { *stacks.at(i, frames[i] + offset) = std::byte(mask >> i & 1); });
    return;
  }
  const std::byte* const values = row<std::byte>(warp, from);
  const std::ptrdiff_t each = lane_bytes;
  with_bytes(bytes, [&](auto size) {
    for_each_lane(lanes, [&](int i) { std::memcpy(stacks.at(i, frames[i] + offset), values + i * each, size); });
  });
}

void from_frames(Warp* warp, std::uint32_t to, int lane_bytes, const Stacks& stacks, const std::uint32_t* frames,
                 std::uint32_t offset, std::uint32_t bytes, Mask lanes) {
  if (lane_bytes == 0) {
    Mask& mask = predicate(warp, to);
    for_each_lane(lanes, [&](int i) {
      const bool truth = *stacks.at(i, frames[i] + offset) != std::byte{};
      mask = (mask & ~(Mask{1} << i)) | static_cast<Mask>(truth) << i;
    });
    return;
  }
  std::byte* const values = row<std::byte>(warp, to);
  const std::ptrdiff_t each = lane_bytes;
  with_bytes(bytes, [&](auto size) {
    for_each_lane(lanes, [&](int i) {
      if (static_cast<std::ptrdiff_t>(size) < each) std::memset(values + i * each, 0, static_cast<std::size_t>(each));
      std::memcpy(values + i * each, stacks.at(i, frames[i] + offset), size);
    });
  });
}

// Within the stack of each lane.
void copy(const Stacks& stacks, const std::uint32_t* from_frames, std::uint32_t from, const std::uint32_t* to_frames,
          std::uint32_t to, std::uint32_t bytes, Mask lanes) {
  with_bytes(bytes, [&](auto size) {
    for_each_lane(
        lanes, [&](int i) { std::memcpy(stacks.at(i, to_frames[i] + to), stacks.at(i, from_frames[i] + from), size); });
  });
}

std::uint32_t bytes_of(const FrameRow& r) { return r.lane_bytes == 0 ? 1 : static_cast<std::uint32_t>(r.lane_bytes); }

void save(Warp* warp, const std::vector<FrameRow>& rows, const Stacks& stacks, const std::uint32_t* frames,
          Mask lanes) {
  for (const FrameRow& r : rows) to_frames(warp, r.row, r.lane_bytes, stacks, frames, r.offset, bytes_of(r), lanes);
}

void restore(Warp* warp, const std::vector<FrameRow>& rows, const Stacks& stacks, const std::uint32_t* frames,
             Mask lanes) {
  for (const FrameRow& r : rows) from_frames(warp, r.row, r.lane_bytes, stacks, frames, r.offset, bytes_of(r), lanes);
}

// Where the depth of stacks is not known, memcheck applies the size that the program requested.
std::uint64_t stack_limit(Warp* warp) {
  const Program& program = program_of(warp);
  const std::uint64_t requested = warp->worker->launch.stack_bytes;
  if (requested == 0 || program.stack_limit <= program.local_bytes) return program.stack_limit;
  return std::min(program.stack_limit, std::max(requested, program.local_bytes));
}

// Makes room on the stacks of `lanes` up to `end`. False after setting the worker's trap.
bool reserve(const Op* op, Warp* warp, Mask lanes, const std::uint64_t* end) {
  std::uint64_t most = 0;
  int lane = 0;
  for_each_lane(lanes, [&](int i) {
    if (end[i] > most) most = end[i], lane = i;
  });
  const std::uint64_t limit = stack_limit(warp);
  if (most > limit) {
    Mask beyond = 0;
    for_each_lane(lanes, [&](int i) { beyond |= end[i] > limit ? Mask{1} << i : 0; });
    Trap trap = trap_at(warp, Trap::Kind::stack_overflow, op->instruction, lane);
    trap.space = isa::Space::local;
    trap.access = AccessKind::store;
    trap.detail = fmt::format("the thread needs {} bytes of local memory, but the limit is {}", most, limit);
    stop_with(warp, std::move(trap), beyond);
    return false;
  }
  if (most <= warp->cta->local_bytes || warp->cta->grow_local(most)) return true;
  stop_with(op, warp, Trap::Kind::out_of_memory, Mask{1} << lane);
  return false;
}

// Alignments are powers of two.
std::uint64_t aligned(std::uint64_t offset, std::uint64_t alignment) {
  return (offset + alignment - 1) & ~(alignment - 1);
}

// Creates the frames of a call for `lanes` and copies the arguments into them; sets `frames` to their offsets.
bool push_frames(const Op* op, Warp* warp, const CallSite& site, std::uint32_t target, Mask lanes,
                 std::uint32_t* frames) {
  const CallTarget& callee = site.targets[target];
  const CalledPart& part = program_of(warp).parts[callee.part];
  const std::uint32_t* const own = frames_of(warp);
  std::uint32_t* const tops = tops_of(warp);
  std::uint64_t end[kWarpSize]{};
  for_each_lane(lanes, [&](int i) {
    frames[i] = static_cast<std::uint32_t>(aligned(tops[i], part.alignment));
    end[i] = std::uint64_t{frames[i]} + part.frame_bytes;
  });
  if (!reserve(op, warp, lanes, end)) return false;
  const Stacks stacks(warp);
  for_each_lane(lanes, [&](int i) {
    const FrameHeader header{own[i], tops[i], target, 0};
    std::memcpy(stacks.at(i, frames[i]), &header, sizeof header);
    tops[i] = static_cast<std::uint32_t>(end[i]);
  });
  save(warp, site.saved, stacks, own, lanes);
  for (const Transfer& t : callee.arguments) {
    if (t.in_row)
      to_frames(warp, t.place, t.lane_bytes, stacks, frames, t.offset, t.bytes, lanes);
    else
      copy(stacks, own, t.place, frames, t.offset, t.bytes, lanes);
  }
  return true;
}

// Copies the results out of the frames of a call and pops the frames. False after setting the worker's trap: kernels
// can overwrite the headers of frames, as these are in their local memory.
bool pop_frames(const Op* op, Warp* warp, const CallSite& site, Mask lanes, const std::uint32_t* frames) {
  const Stacks stacks(warp);
  std::uint32_t callers[kWarpSize]{}, target = 0;
  std::uint32_t* const tops = tops_of(warp);
  std::memcpy(&target, stacks.at(__builtin_ctz(lanes), frames[__builtin_ctz(lanes)]) + offsetof(FrameHeader, target),
              sizeof target);
  Mask overwritten = target < site.targets.size() ? 0 : lanes;
  for_each_lane(lanes, [&](int i) {
    FrameHeader header;
    std::memcpy(&header, stacks.at(i, frames[i]), sizeof header);
    callers[i] = header.frame;
    tops[i] = header.top;
    const std::uint64_t least = std::uint64_t{header.frame} + program_of(warp).parts[site.caller].frame_bytes;
    if (header.target != target || header.top > frames[i] || least > header.top) overwritten |= Mask{1} << i;
  });
  if (overwritten != 0) {
    stop_with(op, warp, Trap::Kind::invalid_call, overwritten,
              "the thread has overwritten the return information in its stack frame");
    return false;
  }
  const CallTarget& callee = site.targets[target]; // the same for all lanes of a path
  save(warp, program_of(warp).parts[callee.part].results, stacks, frames, lanes);
  restore(warp, site.saved, stacks, callers, lanes);
  for (const Transfer& t : callee.results) {
    if (t.in_row)
      from_frames(warp, t.place, t.lane_bytes, stacks, frames, t.offset, t.bytes, lanes);
    else
      copy(stacks, frames, t.offset, callers, t.place, t.bytes, lanes);
  }
  std::uint32_t* const own = frames_of(warp);
  for_each_lane(lanes, [&](int i) { own[i] = callers[i]; });
  return true;
}

// Starts the activation of a target for `lanes`; `others` repeat the call.
const Op* activate_target(const Op* op, Warp* warp, std::uint32_t target, Mask lanes, Mask others) {
  const CallSite& site = program_of(warp).calls[op->extra];
  const CalledPart& part = program_of(warp).parts[site.targets[target].part];
  std::uint32_t frames[kWarpSize];
  if (!push_frames(op, warp, site, target, lanes, frames)) return nullptr;
  std::uint32_t* const own = frames_of(warp);
  for_each_lane(lanes, [&](int i) { own[i] = frames[i]; });
  restore(warp, part.params, Stacks(warp), frames, lanes);
  for (const auto& checker : warp->worker->checkers) checker->entered(*warp, site.targets[target].part, lanes, frames);

  Paths& paths = *warp->paths;
  const Op* rejoin_after = paths.rejoin;
  if (lanes != warp->active) {
    rejoin_after = op + 2;
    if (paths.rejoin != rejoin_after) paths.waiting.push_back({rejoin_after, paths.rejoin, warp->active});
    if (others != 0) paths.waiting.push_back({op, rejoin_after, others});
  }
  paths.waiting.push_back({op + 1, rejoin_after, lanes, Wait::none, 0, 0, true});
  activate(warp, lanes);
  paths.rejoin = nullptr;
  return go(warp, part.entry, op->imm);
}

} // namespace

const Op* enter_kernel(const Op* op, Warp* warp) {
  std::fill_n(frames_of(warp), kWarpSize, 0u);
  std::fill_n(tops_of(warp), kWarpSize, program_of(warp).parts.front().frame_bytes);
  return op + 1;
}

const Op* call(const Op* op, Warp* warp) {
  const Mask lanes = acting(op, warp);
  if (lanes == 0) return go(warp, op + 2, op->imm);
  return activate_target(op, warp, 0, lanes, 0);
}

const Op* call_indirect(const Op* op, Warp* warp) {
  const Mask lanes = acting(op, warp);
  if (lanes == 0) return go(warp, op + 2, op->imm);
  const auto address_of = [&](int lane) { return lane_word(warp, op->src[0], op->dst[0], lane); };
  const std::uint64_t address = address_of(__builtin_ctz(lanes));
  const std::vector<CallTarget>& targets = program_of(warp).calls[op->extra].targets;
  const auto target =
      std::find_if(targets.begin(), targets.end(), [&](const CallTarget& t) { return t.address == address; });
  if (target == targets.end())
    return stop_with(op, warp, Trap::Kind::invalid_call, lanes,
                     fmt::format("{:#x} is not the address of a function that can be called here", address));
  Mask agree = 0;
  for_each_lane(lanes, [&](int i) { agree |= address_of(i) == address ? Mask{1} << i : 0; });
  return activate_target(op, warp, static_cast<std::uint32_t>(target - targets.begin()), agree, lanes & ~agree);
}

const Op* call_library(const Op* op, Warp* warp) {
  const Mask lanes = acting(op, warp);
  if (lanes == 0) return op + 1;
  const CallSite& site = program_of(warp).calls[op->extra];
  std::uint32_t frames[kWarpSize]{};
  if (!push_frames(op, warp, site, 0, lanes, frames)) return nullptr;
  if (!run_library(op, warp, site, program_of(warp).parts[site.targets[0].part], lanes, frames)) return nullptr;
  return pop_frames(op, warp, site, lanes, frames) ? op + 1 : nullptr;
}

const Op* finish_call(const Op* op, Warp* warp) {
  std::uint32_t frames[kWarpSize];
  std::copy_n(frames_of(warp), kWarpSize, frames);
  return pop_frames(op, warp, program_of(warp).calls[op->extra], warp->active, frames) ? op + 1 : nullptr;
}

const Op* return_lanes(const Op* op, Warp* warp) {
  const Mask leaving = acting(op, warp);
  warp->budget -= op->imm;
  if (leaving == 0) return op + 1;
  // The lanes leave the paths of the activation; the caller's paths are below the path that it returns to.
  std::vector<Path>& waiting = warp->paths->waiting;
  Mask inside = leaving;
  for (std::size_t i = waiting.size(); i-- > 0 && inside != 0;) {
    if (handler_of(waiting[i].next, warp) == finish_call)
      inside &= ~waiting[i].mask;
    else
      waiting[i].mask &= ~inside;
  }
  activate(warp, warp->active & ~leaving);
  return warp->active != 0 ? op + 1 : end_path(warp);
}

namespace {

template <bool watched> const Op* branch_by_index(const Op* op, Warp* warp) {
  const Mask lanes = acting(op, warp), active = warp->active;
  if constexpr (watched)
    if (lanes == 0) warp->worker->count_branch(*warp, op->extra, active, 0);
  if (lanes == 0) return go(warp, op + 1, op->imm);
  const std::vector<const Op*>& table = program_of(warp).jump_tables[op->src[2]];
  const std::uint32_t* const indices = row<std::uint32_t>(warp, op->src[1]);
  const std::uint32_t first = indices[__builtin_ctz(lanes)];
  if (first >= table.size())
    return stop_with(op, warp, Trap::Kind::invalid_branch, lanes,
                     fmt::format("index {} is outside the table of {} targets", first, table.size()));
  Mask taken = 0;
  for_each_lane(lanes, [&](int i) {
    taken |= indices[i] < table.size() && table[indices[i]] == table[first] ? Mask{1} << i : 0;
  });
  if constexpr (watched) warp->worker->count_branch(*warp, op->extra, active, taken);
  if (taken != active) {
    const Op* const meet = op->src[0] == 0 ? nullptr : op + static_cast<std::int32_t>(op->src[0]);
    Paths& paths = *warp->paths;
    if (meet != nullptr && paths.rejoin != meet) paths.waiting.push_back({meet, paths.rejoin, active});
    if (active != lanes) paths.waiting.push_back({op + 1, meet, active & ~lanes});
    if (lanes != taken) paths.waiting.push_back({op, meet, lanes & ~taken});
    activate(warp, taken);
    paths.rejoin = meet;
  }
  return go(warp, table[first], op->imm);
}

} // namespace

const Op* branch_indexed(const Op* op, Warp* warp) { return branch_by_index<false>(op, warp); }
const Op* branch_indexed_watched(const Op* op, Warp* warp) { return branch_by_index<true>(op, warp); }

namespace {

void set_lane(Warp* warp, std::uint32_t offset, std::int64_t bytes, int lane, std::uint32_t value) {
  if (bytes == 4)
    row<std::uint32_t>(warp, offset)[lane] = value;
  else
    row<std::uint64_t>(warp, offset)[lane] = value;
}

} // namespace

const Op* allocate_on_stack(const Op* op, Warp* warp) {
  const Mask lanes = acting(op, warp);
  std::uint32_t* const tops = tops_of(warp);
  std::uint64_t end[kWarpSize]{};
  constexpr std::uint64_t kTooMuch = std::uint64_t{1} << 32; // the sum must not wrap around
  for_each_lane(lanes, [&](int i) {
    end[i] = aligned(tops[i], op->extra) + std::min(lane_word(warp, op->src[0], op->imm, i), kTooMuch);
  });
  if (!reserve(op, warp, lanes, end)) return nullptr;
  for (const auto& checker : warp->worker->checkers)
    for_each_lane(lanes, [&](int i) { checker->fresh(*warp, i, isa::Space::local, tops[i], end[i] - tops[i]); });
  for_each_lane(lanes, [&](int i) {
    set_lane(warp, op->dst[0], op->imm, i, static_cast<std::uint32_t>(aligned(tops[i], op->extra)));
    tops[i] = static_cast<std::uint32_t>(end[i]);
  });
  return op + 1;
}

const Op* save_stack(const Op* op, Warp* warp) {
  const std::uint32_t* const tops = tops_of(warp);
  for_each_lane(acting(op, warp), [&](int i) { set_lane(warp, op->dst[0], op->imm, i, tops[i]); });
  return op + 1;
}

const Op* restore_stack(const Op* op, Warp* warp) {
  const Mask lanes = acting(op, warp);
  std::uint32_t* const tops = tops_of(warp);
  for (const int i : EachLane(lanes)) {
    const std::uint64_t value = lane_word(warp, op->src[0], op->imm, i);
    if (value > tops[i] || value < std::uint64_t{frames_of(warp)[i]} + program_of(warp).parts[op->extra].frame_bytes)
      return stop_with(op, warp, Trap::Kind::stack_overflow, Mask{1} << i,
                       fmt::format("stackrestore of {:#x}, which no stacksave of this function returned", value));
    tops[i] = static_cast<std::uint32_t>(value);
  }
  return op + 1;
}

} // namespace warplens::exec
