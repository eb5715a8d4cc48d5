// SPDX-License-Identifier: Apache-2.0
// Leaves the analysis of a launch to a copy of the process.
//
//   Expected<ProcessCopier::Here> here = copied(request, launch);   // here and in the copy, if there is one
//
// It is not left to a copy if the launch may need what happens elsewhere meanwhile: it waits for the host or another
// stream, it launches or allocates, or a tool or a recorder follows it.
#pragma once

#include "api/launch/launch.hpp"

namespace warplens::api {

/// Prepares the launch for what this process does with it. Error: the kernel cannot be decoded.
Expected<ProcessCopier::Here> copied(const LaunchRequest& request, exec::Launch& launch);

} // namespace warplens::api
