// SPDX-License-Identifier: Apache-2.0
// The functions that scalar_rows.cpp defines, one per file of the instruction table.
#pragma once

#include "tests/fuzz/scalar_lanes.hpp"

namespace warplens::fuzz {
/// Fills one row for each entry of the group, in order; returns the position for the next group's rows.
std::span<const LaneFunction>* WARPLENS_FILL(std::span<const LaneFunction>* row);
} // namespace warplens::fuzz
