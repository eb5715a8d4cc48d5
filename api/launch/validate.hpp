// SPDX-License-Identifier: Apache-2.0
// Checks a launch against the kernel's parameters and the device's limits, before anything runs.
#pragma once

#include "api/launch/launch.hpp"

namespace warplens::api {

/// Blocks per cluster: as requested, or from .reqnctapercluster; none without either.
std::optional<Extent> cluster_of(const LaunchRequest& request);
/// Blocks of the grid: as requested, or of that many clusters if the kernel has .blocksareclusters.
Extent blocks_of(const LaunchRequest& request);

/// All errors of the request.
Diagnostics validate(const LaunchRequest& request, const exec::Program& program);

/// A number for a parameter that could be a pointer: the argument may have been meant as a buffer.
std::string hint_at_numbers(const LaunchRequest& request);

} // namespace warplens::api
