// What lane_rows.cpp is compiled into, per level and file of the instruction table.
#pragma once

#include "emulator/exec/lanes/handler_row.hpp"

namespace warplens::exec::WARPLENS_LEVEL {
/// Fills a row for each line of the file, in its order, and returns where the next file's begin.
HandlerRow* WARPLENS_FILL(HandlerRow* row);
} // namespace warplens::exec::WARPLENS_LEVEL
