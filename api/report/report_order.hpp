// SPDX-License-Identifier: Apache-2.0
// The parts of the text report about loads in flight, barriers, and the analyzers that run only on request.
#pragma once

#include "api/launch/launch.hpp"
#include "api/report/style.hpp"

namespace warplens::api {

/// Loads in flight and barriers; empty if the profile has neither.
std::string warp_state_sections(const analyzers::Metrics& metrics, const Style& style, std::size_t columns);

/// Caches, reuse distance and partitions; empty if the profile has none. `graphics`: with bars.
std::string cache_sections(const analyzers::Metrics& metrics, const Style& style, std::size_t columns, bool graphics);

} // namespace warplens::api
