// What of a device the analyzers need: its caches and partitions, and how many blocks of a launch it holds.
#pragma once

#include "analyzers/board.hpp"
#include "api/launch.hpp"

namespace warplens::api {

/// `resident` blocks on a multiprocessor, each with so many bytes of shared memory. A first level that shares its
/// memory with them has the rest; one that is asked for but that the device does not have stays away.
analyzers::Board board_of(const model::Device& device, FirstLevel first_level, int resident,
                          std::uint64_t shared_bytes);

} // namespace warplens::api
