// SPDX-License-Identifier: Apache-2.0
// Stops a kernel that uses tensor memory wrongly. Compiled once: handlers that call these may be compiled once per
// level.
//
//   TensorMemory* d = tensor_memory(warp->cta);
//   if (!holds_columns(op, warp, mask, *d, "D", address, n)) return nullptr;
#pragma once

#include "emulator/exec/memory/tensor_memory.hpp"
#include "emulator/exec/state/warp.hpp"

#include <string>

namespace warplens::exec {

/// Stops the kernel; always returns nullptr. `lanes`: those at fault.
const Op* stop_at_tensor_memory(const Op* op, Warp* warp, Mask lanes, std::string why);

/// Whether `columns` columns from `address` on are allocated, and its lane and the `lanes - 1` after it exist.
/// Otherwise the kernel stops; the message names `what` ("D", "the source").
bool holds_columns(const Op* op, Warp* warp, Mask at_fault, const TensorMemory& memory, const char* what,
                   std::uint32_t address, std::uint32_t columns, std::uint32_t lanes = 1);

/// Whether a row of 32 bits has the same value in all lanes. Otherwise the kernel stops; `what` are "addresses".
bool same_in_all_lanes(const Op* op, Warp* warp, std::uint32_t row, const char* what);

/// The other block of a pair (.cta_group::2): that of the cluster whose %cluster_ctarank differs in the last bit.
/// nullptr: there is none.
Cta* peer_of(const Cta* cta);
/// The same; if there is none, or it has exited, the kernel stops.
Cta* peer_in_pair(const Op* op, Warp* warp, Mask at_fault);

/// At the end of a block: stops the kernel if columns are still allocated. Returns whether it stops.
bool stop_at_leak(Cta& cta);

} // namespace warplens::exec
