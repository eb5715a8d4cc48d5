// SPDX-License-Identifier: Apache-2.0
// When kernels are compiled, and how warps enter compiled code: the handler of an op where compiled code begins is
// replaced by the code. Like a handler, it returns the next op; what it does not take, the block's loop interprets.
#pragma once

#include "emulator/exec/state/launch.hpp"

namespace warplens::exec {

/// Call it before a launch runs: compiles the program if every kernel is compiled. Whether warps of the launch may run
/// in compiled code, now or once there is some.
bool compile_before(const Launch& launch);

/// The file of the library that compiles kernels; empty: there is none, and all kernels are interpreted.
std::string compiler_library();

/// What was compiled of each kernel of this process, and what was not and why: lines of text.
std::string explain_compiled();

/// Call it when a launch has run `steps` warp instructions more: compiles the program in the background if it is hot.
void count_steps(const Launch& launch, std::uint64_t steps);

} // namespace warplens::exec
