// SPDX-License-Identifier: Apache-2.0
// The functions that lane_rows.cpp defines, per level and file of the instruction table.
#pragma once

#include "emulator/exec/lanes/handler_row.hpp"

namespace warplens::exec::WARPLENS_LEVEL {
/// Fills a row for each line of the group, in its order, and returns the place of the next group's first row.
HandlerRow* WARPLENS_FILL(HandlerRow* row);
} // namespace warplens::exec::WARPLENS_LEVEL
