// SPDX-License-Identifier: Apache-2.0
// The handlers of one line of the instruction table.
#pragma once

#include "emulator/exec/state/warp.hpp"

#include <span>

namespace warplens::exec {

/// By variant; empty if the line is not a `lane` entry.
using HandlerRow = std::span<const Handler>;

} // namespace warplens::exec
