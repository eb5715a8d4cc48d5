// SPDX-License-Identifier: Apache-2.0
// The operations that kernels request from the device runtime (emulator/exec/state/device_runtime.hpp): copies, fills
// and launches. They run after the requesting grid has ended. A grid is complete when all its launches are complete;
// operations in cudaStreamTailLaunch run after that.
#pragma once

#include "api/launch/launch.hpp"

namespace warplens::api {

/// For each target a report, or the reason why it refuses the launch.
using LaunchReports = std::vector<Expected<LaunchReport>>;

/// Runs one grid for the targets; its requested operations remain in `runtime`. Errors: as launch().
LaunchReports launch_grid(const LaunchRequest& request, std::span<const TargetDevice> targets,
                          exec::DeviceRuntime& runtime);

/// Runs the operations that the grid of `request` requested. The launches become children of each target's report. A
/// target that refuses a launch gets an error instead of its report. After a launch that traps nothing else runs.
void run_device_operations(const LaunchRequest& request, std::span<const TargetDevice> targets,
                           const exec::DeviceRuntime& runtime, LaunchReports& reports);

} // namespace warplens::api
