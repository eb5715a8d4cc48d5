// SPDX-License-Identifier: Apache-2.0
// The line that shows how far a long command has come.
//
//   progress_text("launch 2 of 4: transpose", 0.25, 12)  ->  "launch 2 of 4: transpose: 25 %, 12 s, about 36 s left"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace warplens::api {

/// `done`: between 0 and 1; 0 if unknown. The time left is the elapsed time scaled, and left out at the start.
std::string progress_text(std::string_view what, double done, std::int64_t seconds);

} // namespace warplens::api
