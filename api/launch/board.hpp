// SPDX-License-Identifier: Apache-2.0
// The properties of a device that the analyzers need: caches, partitions, and the number of resident blocks.
#pragma once

#include "analyzers/board.hpp"
#include "api/launch/launch.hpp"

namespace warplens::api {

/// `resident` blocks per multiprocessor, each with `shared_bytes` of shared memory. A first-level cache that shares its
/// memory with the blocks gets the rest. A requested first-level cache that the device does not have is ignored. Local
/// memory uses the first-level cache even if global memory does not.
analyzers::Board board_of(const model::Device& device, FirstLevel first_level, int resident,
                          std::uint64_t shared_bytes);

/// Where the device file has them.
std::optional<analyzers::ResultLatencies> result_latencies(const model::Device& device);

/// The device with or without the first-level cache for global memory. Where the cache determines the transaction size
/// (compute capability 2.x to 5.x), the rule changes too: 128-byte lines with the cache, 32-byte segments without.
model::Device with_first_level(model::Device device, FirstLevel first_level);

} // namespace warplens::api
