// SPDX-License-Identifier: Apache-2.0
// Findings about the shape and the resources of a launch: each change is tried, and predicted by the model to trust.
//
//   BlockSize: "the last warp of each block has 4 threads"; remedy: "launch blocks of 128 threads instead of 100"
#pragma once

#include "api/launch/launch.hpp"

namespace warplens::api {

/// What is predicted for a launch. Errors as model::predict().
using Predict = std::function<Expected<model::Prediction>(const model::KernelStatistics&)>;

/// Appends them. `shared_bytes`: of a block, with what the device adds; `predict`: the model to trust.
void find_in_launch(LaunchReport& report, const ir::LaunchBounds& bounds, std::int64_t shared_bytes,
                    const Predict& predict);

/// The registers that the bounds of a kernel leave a thread: .maxnreg, and what is left if .minnctapersm blocks of
/// .maxntid threads are resident. None: no bounds.
std::optional<std::uint32_t> bound_of_registers(const ir::LaunchBounds& bounds, const model::OccupancyLimits& limits);

/// The statistics of the same work in blocks of another size, all of whose warps are full.
model::KernelStatistics with_block_size(const LaunchReport& report, std::int64_t shared_bytes, std::uint64_t threads);

} // namespace warplens::api
