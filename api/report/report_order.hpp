// SPDX-License-Identifier: Apache-2.0
// The parts of the text report about loads in flight, barriers, and the analyzers that run only on request.
#pragma once

#include "api/launch/launch.hpp"
#include "api/report/style.hpp"

namespace warplens::api {

/// Sections for the metrics that the profile has; empty if it has none of them.
std::string order_sections(const analyzers::Metrics& metrics, const Style& style);

} // namespace warplens::api
