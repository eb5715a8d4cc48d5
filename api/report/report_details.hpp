// SPDX-License-Identifier: Apache-2.0
// The sections that --details shows after the first screen of a report.
#pragma once

#include "api/report/report_text.hpp"

namespace warplens::api {

/// The sections of `options.details`, each with its title.
std::string detail_sections(const LaunchReport& report, const Style& style, const TextOptions& options);

/// "less than 5 %": what a finding of saves_little() saves.
std::string little();

/// "  1. warning: UncoalescedGlobalAccess, transpose.cu:9, PTX line 60"
std::string finding_head(const analyzers::Finding& finding, std::size_t number, const Style& style,
                         std::size_t columns);

} // namespace warplens::api
