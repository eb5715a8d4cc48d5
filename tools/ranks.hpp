// SPDX-License-Identifier: Apache-2.0
// The ranks of `mpirun -n N warplens run …`. Rank 0 writes everything; the others write only why they fail.
//
//   exec::Ranks* ranks = join_ranks();      // null: an MPI launcher did not start this process, or no other one
//   return leave_ranks(status);             // at the end of the process
#pragma once

namespace warplens::exec {
class Ranks;
}

namespace warplens::tools {

/// Throws UsageError where this process is one of several, but Warplens was built without MPI.
exec::Ranks* join_ranks();

/// The status to exit with.
int leave_ranks(int status);

} // namespace warplens::tools
