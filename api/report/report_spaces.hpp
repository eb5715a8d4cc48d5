// The parts of the text report about local, constant and texture memory.
//
//   Local memory: what a thread keeps outside of its registers; …
//            requests  sectors  sectors/request
//     loads        32      636             19.9
#pragma once

#include "api/launch/launch.hpp"
#include "api/report/style.hpp"

namespace warplens::api {

/// Sections for what the launch accessed; empty where it accessed none of them.
std::string space_sections(const api::LaunchReport& report, const Style& style);

/// What an instruction costs in these spaces, to be compared with sectors of global memory; 0: nothing, or it accesses
/// others. Constants cost the passes beyond one a request.
std::uint64_t space_cost(const analyzers::Metrics& instruction);

/// "636 sectors of local memory (ideal 96)".
std::string space_cost_text(const analyzers::Metrics& instruction);

} // namespace warplens::api
