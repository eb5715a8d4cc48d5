// The functors of the instruction table, called for one lane at a time and compiled without vectors: what the fuzzer
// holds the emulator's handlers against.
//
//   scalar_lanes()[entry][variant](sources, results);   operands as bits, a predicate as 0 or 1, in the table's order
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace warplens::fuzz {

using LaneFunction = void (*)(const std::uint64_t* sources, std::uint64_t* results);

/// By entry of isa::table() and variant; empty rows where no functor computes the entry.
const std::vector<std::span<const LaneFunction>>& scalar_lanes();

} // namespace warplens::fuzz
