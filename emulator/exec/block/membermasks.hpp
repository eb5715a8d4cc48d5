// SPDX-License-Identifier: Apache-2.0
// The lanes that the membermask of a .sync instruction names.
//
// Lanes with the same mask form a group. A group is complete when all lanes that the mask names execute the
// instruction; lanes that have exited do not count. A lane that is not in its own mask is undefined behaviour in the
// manual; here it stops the kernel. From sm_70 on, a group waits for missing lanes (see paths.hpp). Before sm_70, the
// paths of a warp run one after another; missing lanes cannot arrive, and the kernel stops.
#pragma once

#include "emulator/exec/block/paths.hpp"

#include <string>

namespace warplens::exec {

/// For an op whose row src[3] holds membermasks, if one of them is wrong or its group is incomplete: stops the kernel,
/// or parks these groups. The warp's turn ends.
void stop_at_membermask(const Op* op, Warp* warp);

/// For an op that all lanes of a warp must execute together (.aligned; row src[3] names all lanes), if only some do:
/// parks them until the others arrive, or stops the kernel if they cannot arrive. The warp's turn ends.
void stop_at_incomplete_warp(const Op* op, Warp* warp);

/// bar.warp.sync: src[3] as above; extra: kOneMask if all lanes have the same mask.
constexpr std::uint32_t kOneMask = 1;
const Op* warp_barrier(const Op* op, Warp* warp);

/// Whether all lanes that the membermask of a parked path names are waiting: at the same instruction, or for
/// bar.warp.sync at any bar.warp.sync.
bool members_wait(const Warp* warp, const Path& path);

/// Executes the instruction for all paths that wait together with the parked path at `index`, and resumes them.
void run_members(Warp* warp, std::size_t index);

/// The mask of a parked path.
Mask named_by(const Warp* warp, const Path& path);

/// "lane 3", "lanes 0-15, 20"
std::string lanes_of(Mask mask);

} // namespace warplens::exec
