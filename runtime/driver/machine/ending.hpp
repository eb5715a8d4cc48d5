// SPDX-License-Identifier: Apache-2.0
// The messages of the tools when a process does not end by exit(): programs call abort() when they find a wrong result,
// and a limit may stop them. A process that ends by _exit() or another signal has none.
//
//   write_at_abort();         in cuInit(), with tools
//   write_before_the_end();   before _exit()
#pragma once

namespace warplens::runtime {

/// From now on, abort() writes the messages first, unless the program handles SIGABRT itself.
void write_at_abort();
/// Writes them, if that is possible: the process may have stopped at any place, perhaps with a lock of the allocator.
/// Returns after ten seconds at most.
void write_before_the_end();

} // namespace warplens::runtime
