// SPDX-License-Identifier: Apache-2.0
// --strict-async: what synccheck's checker finds of asynchronous operations stops the launch.
//
//   launch.checkers.push_back(&copies);  …  result.trap = async_hazard(result, program);
#pragma once

#include "emulator/exec/state/launch.hpp"

#include <optional>

namespace warplens::api {

/// The first missing wait or fence of an asynchronous copy or product among the findings, as a trap.
std::optional<exec::Trap> async_hazard(const exec::LaunchResult& result, const exec::Program& program);

} // namespace warplens::api
