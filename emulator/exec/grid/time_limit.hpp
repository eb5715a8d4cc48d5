// The time limit of the process. Whoever keeps the time sets it; all launches stop then, as at a trap.
#pragma once

#include <atomic>
#include <string_view>

namespace warplens::exec {

inline std::atomic<bool> out_of_time{false};
/// What is said of a launch that stops.
constexpr std::string_view kOutOfTime = "time limit reached";

} // namespace warplens::exec
