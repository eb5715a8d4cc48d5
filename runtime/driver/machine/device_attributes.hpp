// SPDX-License-Identifier: Apache-2.0
// Attributes of the emulated device: the results of cuDeviceGetAttribute.
#pragma once

#include "api/launch/launch.hpp"
#include "runtime/abi/driver.hpp"

#include <optional>

namespace warplens::runtime {

/// Empty if there is no such attribute.
std::optional<int> attribute(const model::Device& device, CUdevice_attribute attribute);

} // namespace warplens::runtime
