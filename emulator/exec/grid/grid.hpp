// SPDX-License-Identifier: Apache-2.0
// Runs a launch: distributes CTAs over worker threads. Only grid.cpp uses TBB.
//
//   Launch launch{.program = p, .shape = {{64,1,1},{256,1,1}}, …};
//   LaunchResult r = run(launch);
#pragma once

#include "emulator/base/diagnostic.hpp"
#include "emulator/exec/state/launch.hpp"

namespace warplens::exec {

/// With Launch::ranks, all ranks must call it; only rank 0 calls the watcher, and gets more than the trap.
LaunchResult run(const Launch& launch);

/// The trap as a diagnostic: kernel, block, thread, PTX line, CUDA line, and for memory the nearest allocation by
/// name.
Diagnostic describe(const Trap& trap, const Launch& launch);
/// The same as a warning.
Diagnostic describe(const Overrun& overrun, const Launch& launch);

} // namespace warplens::exec
