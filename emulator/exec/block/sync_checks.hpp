// SPDX-License-Identifier: Apache-2.0
// synccheck: what hardware lets pass from sm_70 on, or punishes without a reason. Barriers, masks and deadlocks; called
// only if the tool is on.
#pragma once

#include "emulator/exec/block/paths.hpp"
#include "emulator/exec/state/checker.hpp"

namespace warplens::exec {

struct Program;

/// Whether synccheck is on.
bool checks_sync(const Warp* warp);

/// Before an instruction with a membermask.
void check_masks(const WarpStep& step);
/// Lanes of a meeting place go on without others: those that wait at barriers below it have been left behind.
void note_left_behind(Warp* warp, const Path& meeting, Mask going_on);
/// The lanes of `mask` that are alive, but do something else before they exit.
Mask busy_elsewhere(const Warp* warp, Mask mask);
/// All live lanes of a warp wait at barriers.
void check_parked_barriers(Warp* warp);
/// The members that `chosen` paths name are complete.
void check_members(Warp* warp, const Path& path, Mask named);
/// A shuffle reads lanes that do not take part; `sources`: of each lane of `mask`.
void check_sources(const Op* op, Warp* warp, Mask mask, const std::uint32_t* sources);
/// Whether a kernel synchronises its grid.
bool uses_grid_barrier(const Program& program);
/// What a block that makes no progress waits for.
std::optional<ToolFinding::Kind> kind_of_wait(const Warp& warp, const Op* first, const Op* last);

} // namespace warplens::exec
