// SPDX-License-Identifier: Apache-2.0
// The functors of the instruction table, called for one lane at a time and compiled without vectors: the fuzzer's
// reference for the emulator's handlers.
//
//   scalar_lanes()[entry][variant](sources, results);   operands as bits, a predicate as 0 or 1, in the table's order
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace warplens::fuzz {

using LaneFunction = void (*)(const std::uint64_t* sources, std::uint64_t* results);

/// By entry of isa::table() and variant; a row is empty if no functor computes the entry.
const std::vector<std::span<const LaneFunction>>& scalar_lanes();

} // namespace warplens::fuzz
