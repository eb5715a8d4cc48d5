// SPDX-License-Identifier: Apache-2.0
// The parts of the text report about local, constant and texture memory.
//
//   Local memory: data of a thread outside its registers; …
//            requests  sectors  sectors/request
//     loads        32      636             19.9
#pragma once

#include "api/launch/launch.hpp"
#include "api/report/style.hpp"

namespace warplens::api {

/// Sections for the memories that the launch accessed; empty if it accessed none of them.
std::string space_sections(const LaunchReport& report, const Style& style, std::size_t columns);

/// The cost of an instruction in these spaces, comparable with sectors of global memory; 0 if it accesses none of them.
/// Constants cost the passes beyond one per request.
std::uint64_t space_cost(const analyzers::Metrics& instruction);

/// "636 sectors of local memory (ideal 96)".
std::string space_cost_text(const analyzers::Metrics& instruction, const model::Device& device);

} // namespace warplens::api
