// SPDX-License-Identifier: Apache-2.0
// From the numbers of a finding to names: functions, lines of the source through inlining, threads.
#pragma once

#include "api/check/message.hpp"
#include "emulator/exec/state/launch.hpp"

namespace warplens::api {

/// The frames of an instruction: its line, where it was inlined, and the calls that led there, innermost first.
std::vector<CheckFrame> frames_of(const exec::Program& program, std::uint32_t instruction,
                                  std::span<const std::uint32_t> calls);
/// A thread of a launch.
CheckThreads threads_of(const exec::Program& program, const exec::LaunchShape& shape, const exec::ThreadAccess& access);
/// Linear numbers of threads by block: {0, "0-3,8"}.
std::vector<std::pair<std::uint64_t, std::string>>
thread_ranges(const std::set<exec::ToolFindingGroup::Thread>& threads);
/// "__global__ write", of an access.
std::string access_name(const exec::Program& program, const exec::LaunchShape& shape, const exec::ThreadAccess& access);

} // namespace warplens::api
