// SPDX-License-Identifier: Apache-2.0
// JSON as text that a person can read and compare line by line, without spending most of a large file on indentation:
// arrays of numbers, and elements of arrays without members of their own, are on one line each.
//
//   laid_out(report)
//   {
//     "device": {
//       "name": "Tesla C1060",
//       …
//         "grid": [79, 1, 1],
//         "instructions": [
//           {"line": 12, "ptx": "mov.u32 %r1, %tid.x;", "source": "saxpy.cu:5", "smsp__inst_executed.sum": 79},
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace warplens::api {

/// Ends with a newline. PTX and names may contain bytes that are not valid UTF-8; JSON must not, so these are replaced.
std::string laid_out(const nlohmann::ordered_json& document);

} // namespace warplens::api
