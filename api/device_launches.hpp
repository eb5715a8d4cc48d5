// What kernels ask of the device runtime (emulator/exec/device_runtime.hpp), done after the grid that asked has ended:
// copies, fills, and launches with all that those ask for. A grid is complete when all that it launched is; what is in
// cudaStreamTailLaunch comes after that.
#pragma once

#include "api/launch.hpp"

namespace warplens::api {

/// One grid alone; what it asks for is left in `runtime`. Errors: as launch().
Expected<LaunchReport> launch_grid(const LaunchRequest& request, exec::DeviceRuntime& runtime);

/// Does what the grid of `request` asked for; the reports become children of `report`. After one that stops nothing
/// else is done. Errors: as launch().
Expected<void> run_device_operations(const LaunchRequest& request, const exec::DeviceRuntime& runtime,
                                     LaunchReport& report);

} // namespace warplens::api
