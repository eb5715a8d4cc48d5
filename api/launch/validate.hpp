// Holds a launch against the kernel's parameters and the device's limits, before anything runs.
#pragma once

#include "api/launch/launch.hpp"

namespace warplens::api {

/// Blocks of a cluster: as asked for, or as the kernel says (.reqnctapercluster); none without either.
std::optional<Extent> cluster_of(const LaunchRequest& request);
/// Blocks of the grid: those asked for, or of so many clusters where the kernel says .blocksareclusters.
Extent blocks_of(const LaunchRequest& request);

/// Everything that is wrong with the request.
Diagnostics validate(const LaunchRequest& request, const exec::Program& program);

} // namespace warplens::api
