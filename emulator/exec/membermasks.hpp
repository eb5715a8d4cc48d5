// What is wrong with the membermask of a .sync instruction, for people.
//
// The manual leaves undefined what happens when a lane is not in its own mask. A lane that the mask names and that has
// not exited must execute the same instruction with the same mask; hardware waits for it. As the paths of a diverged
// warp run one after another here, such a lane cannot come, and the kernel is stopped.
#pragma once

#include "emulator/exec/warp.hpp"

namespace warplens::exec {

/// Stops the kernel at an op whose row src[3] holds membermasks, one of which is wrong.
void stop_at_membermask(const Op* op, Warp* warp);

} // namespace warplens::exec
