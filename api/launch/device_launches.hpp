// What kernels ask of the device runtime (emulator/exec/state/device_runtime.hpp), done after the grid that asked has
// ended: copies, fills, and launches with all that those ask for. A grid is complete when all that it launched is; what
// is in cudaStreamTailLaunch comes after that.
#pragma once

#include "api/launch/launch.hpp"

namespace warplens::api {

/// A report for each target, or why it refuses the launch.
using LaunchReports = std::vector<Expected<LaunchReport>>;

/// One grid alone, as the targets see it; what it asks for is left in `runtime`. Errors: as launch().
LaunchReports launch_grid(const LaunchRequest& request, std::span<const TargetDevice> targets,
                          exec::DeviceRuntime& runtime);

/// Does what the grid of `request` asked for; what each of the targets makes of it becomes children of its report. One
/// that refuses a launch has an error from then on. After a launch that stops nothing else is done.
void run_device_operations(const LaunchRequest& request, std::span<const TargetDevice> targets,
                           const exec::DeviceRuntime& runtime, LaunchReports& reports);

} // namespace warplens::api
