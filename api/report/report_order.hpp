// The parts of the text report about loads in flight, barriers, and what is only counted when asked for by name.
#pragma once

#include "api/launch/launch.hpp"
#include "api/report/style.hpp"

namespace warplens::api {

/// Sections for what the profile has; empty where it has none of it.
std::string order_sections(const analyzers::Metrics& metrics, const Style& style);

} // namespace warplens::api
