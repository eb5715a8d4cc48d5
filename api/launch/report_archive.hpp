// SPDX-License-Identifier: Apache-2.0
// Turns the report of a launch into bytes, for the process of the same build that forked the one that made it.
//
//   std::vector<std::byte> bytes = pack(report);     // in the child
//   unpack(bytes, report)                            // in the parent, whose report has the same request
//
// The parent keeps what both know from the request: the sources, the device, and the rules.
#pragma once

#include "api/launch/launch.hpp"

namespace warplens::api {

std::vector<std::byte> pack(LaunchReport& report);
/// False: the bytes are no report. The report then has no meaning.
bool unpack(std::span<const std::byte> bytes, LaunchReport& report);

} // namespace warplens::api
