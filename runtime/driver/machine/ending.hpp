// SPDX-License-Identifier: Apache-2.0
// Reports of launches and messages of tools when a process does not end by exit(): programs call abort() when they find
// a wrong result, users and job schedulers end them with a signal, and limits stop them. A process that ends by
// _exit(), by a fault, by SIGKILL, or by becoming another program leaves none.
//
//   write_at_other_ends();    in cuInit(), if there will be something to write
//   write_before_the_end();   before _exit()
#pragma once

namespace warplens::runtime {

/// From now on, abort(), quick_exit(), and the signals of terminals, pipes and job schedulers (SIGHUP, SIGINT, SIGPIPE,
/// SIGTERM) write first, unless the program handles the signal itself or ignores it. A second signal ends it at once.
void write_at_other_ends();
/// Writes, if that is possible: the process may have stopped at any place, perhaps with a lock of the allocator.
/// Returns after ten seconds at most.
void write_before_the_end();

} // namespace warplens::runtime
