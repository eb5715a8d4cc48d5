// SPDX-License-Identifier: Apache-2.0
// The time limit of the process. When the timer sets this flag, all launches stop as they do at a trap.
#pragma once

#include <atomic>
#include <string_view>

namespace warplens::exec {

inline std::atomic<bool> out_of_time{false};
/// The message for a launch that stops.
constexpr std::string_view kOutOfTime = "time limit reached";

} // namespace warplens::exec
