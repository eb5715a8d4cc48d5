// What scalar_rows.cpp is compiled into, per file of the instruction table.
#pragma once

#include "tests/fuzz/scalar_lanes.hpp"

namespace warplens::fuzz {
/// Fills a row for each line of the file, in its order, and returns where the next file's begin.
std::span<const LaneFunction>* WARPLENS_FILL(std::span<const LaneFunction>* row);
} // namespace warplens::fuzz
