// Holds a launch against the kernel's parameters and the device's limits, before anything runs.
#pragma once

#include "api/launch.hpp"

namespace warplens::api {

/// Everything that is wrong with the request.
Diagnostics validate(const LaunchRequest& request, const exec::Program& program);

} // namespace warplens::api
