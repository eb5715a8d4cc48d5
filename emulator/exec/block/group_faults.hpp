// SPDX-License-Identifier: Apache-2.0
// Stops a kernel whose warp group has wrong descriptors. Compiled once: the handlers that call these are compiled once
// per level.
#pragma once

#include "emulator/exec/state/warp.hpp"

namespace warplens::exec {

/// The threads of a warp group have different descriptors of a matrix ("A").
void stop_at_descriptors(const Op* op, Warp* warp, const char* matrix, std::uint64_t one, std::uint64_t other);
/// A descriptor reaches beyond shared memory.
void stop_at_descriptor(const Op* op, Warp* warp, const char* matrix, std::uint64_t descriptor);

} // namespace warplens::exec
