// SPDX-License-Identifier: Apache-2.0
// The ranks of `mpirun -n N warplens run …`. Rank 0 writes everything; the others write only why they fail.
//
//   exec::Ranks* ranks = join_ranks();      // null: an MPI launcher did not start this process, or no other one
//   return leave_ranks(status);             // at the end of the process
#pragma once

#include <string_view>

namespace warplens::exec {
class Ranks;
}

namespace warplens::tools {

/// The place of this process among those of an MPI launcher, as it tells them by the environment.
struct RankPlace {
  unsigned rank = 0, count = 1;
  unsigned here = 1; ///< ranks on this machine
};
RankPlace rank_place();

/// If all ranks are on this machine, the others wait here until rank 0 calls exec::Ranks::start(), and end there if it
/// does not. Throws UsageError where this process is one of several, but Warplens was built without MPI.
exec::Ranks* join_ranks();

/// Where this process has no other threads: if all ranks are on this machine, rank 0 reads the input for them, and
/// forks them when they first take part.
void share_process();
/// Ends this process if share_process() has made it: only the caller's process may run what comes after the launches.
void end_rank();

/// Says why one rank runs `what`, such as a kernel, alone.
void tell_alone(std::string_view what, std::string_view why);

/// The status to exit with.
int leave_ranks(int status);

} // namespace warplens::tools
