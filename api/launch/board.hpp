// What of a device the analyzers need: its caches and partitions, and how many blocks of a launch it holds.
#pragma once

#include "analyzers/board.hpp"
#include "api/launch/launch.hpp"

namespace warplens::api {

/// `resident` blocks on a multiprocessor, each with so many bytes of shared memory. A first level that shares its
/// memory with them has the rest; one that is asked for but that the device does not have stays away. Local memory
/// uses it whether global memory does or not.
analyzers::Board board_of(const model::Device& device, FirstLevel first_level, int resident,
                          std::uint64_t shared_bytes);

/// The device with the first level used for global memory or not. Where that decides how large transactions are
/// (compute capability 2.x to 5.x), the rule follows: lines of 128 bytes through it, segments of 32 past it.
model::Device with_first_level(model::Device device, FirstLevel first_level);

} // namespace warplens::api
