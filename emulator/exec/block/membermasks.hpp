// The lanes that the membermask of a .sync instruction names.
//
// Lanes with the same mask are a group, and it is complete when all lanes that the mask names execute the instruction;
// those that have exited do not count. The manual leaves undefined what happens when a lane is not in its own mask:
// that stops the kernel. Where lanes are missing, a group waits for them from sm_70 on (see paths.hpp); before, the
// paths of a warp run one after another, so that they cannot come, and the kernel is stopped.
#pragma once

#include "emulator/exec/block/paths.hpp"

#include <string>

namespace warplens::exec {

/// At an op whose row src[3] holds membermasks, one of which is wrong or has a group that is not complete: stops the
/// kernel, or parks these groups. The warp's turn ends.
void stop_at_membermask(const Op* op, Warp* warp);

/// At an op that all lanes of a warp must execute together (.aligned), whose row src[3] names all lanes, and that only
/// some execute: parks them until the others come; stops the kernel where they cannot. The warp's turn ends.
void stop_at_incomplete_warp(const Op* op, Warp* warp);

/// bar.warp.sync: src[3] as above; extra: kOneMask where all lanes have the same mask.
constexpr std::uint32_t kOneMask = 1;
const Op* warp_barrier(const Op* op, Warp* warp);

/// Do all lanes wait that the membermask of a parked path names? Those at the same instruction count, and for
/// bar.warp.sync those at any.
bool members_wait(const Warp* warp, const Path& path);

/// Executes the instruction for all that wait with the parked path at `index`, and resumes them.
void run_members(Warp* warp, std::size_t index);

/// The mask of a parked path.
Mask named_by(const Warp* warp, const Path& path);

/// "lane 3", "lanes 0-15, 20"
std::string lanes_of(Mask mask);

} // namespace warplens::exec
