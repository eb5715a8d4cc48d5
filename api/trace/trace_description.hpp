// The JSON in a trace file that says what was launched: see docs/trace-format.md, "Launches".
#pragma once

#include "analyzers/trace/reader.hpp"
#include "api/trace/trace.hpp"

namespace warplens::api {

/// `same_module`: an earlier launch of the file whose description has the module's text.
std::string describe_launch(const LaunchRequest& request, const TraceFilter& filter, const std::string& device_text,
                            std::optional<std::size_t> same_module);
/// What is known when it has ended.
std::string describe_end(const LaunchReport& report);

/// The launches, their modules loaded. Errors: a description that is none; PTX that cannot be loaded; an unknown
/// device.
Expected<std::vector<TracedLaunch>> read_launches(const analyzers::trace::Reader& reader);

} // namespace warplens::api
