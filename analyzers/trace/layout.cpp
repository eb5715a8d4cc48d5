// SPDX-License-Identifier: Apache-2.0
#include "analyzers/trace/layout.hpp"

#include <array>

namespace warplens::analyzers::trace {

namespace {

constexpr std::array<TableInfo, kTables> kInfo = {{
    {"text", 1, 1u << 14, true},
    {"patterns", sizeof(PatternRow), 256, true},
    {"segments", sizeof(SegmentRow), 1024, true},
    {"pattern", 2, kBlockEvents, true},
    {"warp", 1, kBlockEvents, true},
    {"base", 4, kBlockEvents, true},
    {"offsets", 4, kBlockEvents, true},
    {"counts", 24, 256, true},
    {"launches", sizeof(LaunchRow), 64, false},
    {"blocks", sizeof(BlockRow), 64, false},
    {"ends", sizeof(EndRow), 64, false},
}};

} // namespace

const TableInfo& info(Table table) { return kInfo[static_cast<std::size_t>(table)]; }

} // namespace warplens::analyzers::trace
