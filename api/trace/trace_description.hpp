// SPDX-License-Identifier: Apache-2.0
// The JSON in a trace file that describes the launches: see docs/trace-format.md, "Launches".
#pragma once

#include "analyzers/trace/reader.hpp"
#include "api/trace/trace.hpp"

namespace warplens::api {

/// `same_module`: an earlier launch whose description contains the module's text.
std::string describe_launch(const LaunchRequest& request, const TraceFilter& filter, const std::string& device_text,
                            std::optional<std::size_t> same_module);
/// The description of the end of a launch.
std::string describe_end(const LaunchReport& report, const analyzers::trace::Totals& totals);

/// The launches with their modules loaded. Errors: an invalid description; PTX that cannot be loaded; an unknown
/// device.
Expected<std::vector<TracedLaunch>> read_launches(const analyzers::trace::Reader& reader);

} // namespace warplens::api
