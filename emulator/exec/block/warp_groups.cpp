// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/block/warp_groups.hpp"

#include "emulator/exec/block/control.hpp"
#include "emulator/exec/block/cta.hpp"
#include "emulator/exec/block/group_faults.hpp"

#include <fmt/format.h>

namespace warplens::exec {

namespace {

constexpr std::uint32_t kAllWarps = (1u << kGroupWarps) - 1;

bool stop(const Op* op, Warp* warp, Trap::Kind kind, std::string why) {
  stop_with(op, warp, kind, warp->active, std::move(why));
  return false;
}

// Four warps must be able to come.
bool is_incomplete(const Op* op, Warp* warp) {
  const std::uint32_t first = warp->index / kGroupWarps * kGroupWarps, all = warp->worker->launch.shape.warps();
  if (first + kGroupWarps > all)
    return !stop(
        op, warp, Trap::Kind::incomplete_warp,
        fmt::format("this instruction needs the four warps {} to {} of a warp group, but the block has {} warps", first,
                    first + kGroupWarps - 1, all));
  for (std::uint32_t i = 0; i < kGroupWarps; ++i)
    if (const Warp* const other = warp_of_group(warp, i); other->state == WarpState::done)
      return !stop(
          op, warp, Trap::Kind::incomplete_warp,
          fmt::format("this instruction needs all four warps of the warp group, but warp {} has exited", other->index));
  return false;
}

} // namespace

Warp* warp_of_group(Warp* warp, std::uint32_t number) {
  return &warp->cta->warp(warp->index / kGroupWarps * kGroupWarps + number);
}

bool arrive_in_group(const Op* op, Warp* warp) {
  if (is_incomplete(op, warp)) return false;
  WarpGroup& group = warp->cta->groups[warp->index / kGroupWarps];
  if (group.arrived != 0 && group.op != op)
    return stop(op, warp, Trap::Kind::invalid_group,
                fmt::format("other warps of the warp group wait at another multiplication (line {})",
                            warp->cta->program.function->instructions[group.op->instruction].where.line));
  group.op = op;
  group.arrived |= 1u << warp->index % kGroupWarps;
  if (group.arrived == kAllWarps) {
    group.arrived = 0;
    return true;
  }
  warp->state = WarpState::in_group;
  warp->next = op + 1;
  return false;
}

void stop_at_descriptors(const Op* op, Warp* warp, const char* matrix, std::uint64_t one, std::uint64_t other) {
  stop(op, warp, Trap::Kind::invalid_group,
       fmt::format("the threads have different descriptors of {}: {:#x} and {:#x}", matrix, one, other));
}

void stop_at_descriptor(const Op* op, Warp* warp, const char* matrix, std::uint64_t descriptor) {
  stop(op, warp, Trap::Kind::invalid_group,
       fmt::format("the descriptor of {}, {:#x}, reaches beyond the {} bytes of shared memory of the block", matrix,
                   descriptor, warp->cta->shared_bytes));
}

void release_group(const Op*, Warp* warp) {
  for (std::uint32_t i = 0; i < kGroupWarps; ++i)
    if (Warp* const other = warp_of_group(warp, i); other != warp) other->state = WarpState::ready;
}

} // namespace warplens::exec
