// SPDX-License-Identifier: Apache-2.0
// The texts that a report refers to: the PTX of its modules and the CUDA source of their lines, if the files are
// readable.
//
//   source_texts(launches)["saxpy.cu"] == "__global__ void saxpy(…"
#pragma once

#include "api/launch/launch.hpp"

#include <map>
#include <span>
#include <string>

namespace warplens::api {

/// By the names in the report. PTX names its source files, which may be anywhere: a name that is not a path from here
/// is tried from the module's folder, then its last part in the module's folder. Only files with the suffix of a source
/// file are read, because a page with their texts is sent to others, and a module can name any file. Leaves out files
/// that cannot be read, have over 4 MB, or contain null bytes.
std::map<std::string, std::string> source_texts(std::span<const LaunchReport> launches);

} // namespace warplens::api
