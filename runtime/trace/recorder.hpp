// SPDX-License-Identifier: Apache-2.0
// The library that records traces for `warplens exec --trace`: libcuda loads it by this name when it is needed, so that
// other programs do not load HDF5. Both libraries are of one build.
#pragma once

#include "api/launch/launch.hpp"

#include <memory>
#include <string>

namespace warplens::runtime {

constexpr const char* kRecorderLibrary = "libwarplens_trace.so";
constexpr const char* kCreateRecorder = "warplens_create_recorder";

/// `filter`: as filter_text() of api/trace/trace.hpp gives it. `device`: as the user named it, perhaps a file. Errors:
/// as api::TraceWriter::create().
using CreateRecorder = Expected<std::unique_ptr<api::LaunchRecorder>>(const std::string& file,
                                                                      const std::string& filter,
                                                                      const std::string& device);

} // namespace warplens::runtime
