// SPDX-License-Identifier: Apache-2.0
// Small histograms for terminals.
//
//   histogram("requests by sectors", {{"1", 10}, {"2 to 4", 30}}, style)
//     requests by sectors
//          1   25 %  █████
//     2 to 4   75 %  ███████████████
#pragma once

#include "api/launch/launch.hpp"
#include "api/report/style.hpp"

#include <span>
#include <string>

namespace warplens::api {

struct Bin {
  std::string label;
  double count = 0;
};

/// Without the empty bins at both ends. Empty if fewer than two bins have a count: one number says as much.
std::string histogram(std::string_view title, std::span<const Bin> bins, const Style& style);

/// Requests to global memory by the sectors, and to shared memory by the passes, that a request of their instruction
/// takes on average.
std::string memory_histograms(const LaunchReport& report, const Style& style);
/// Warp instructions by the lanes that execute them, on average over each instruction.
std::string lane_histogram(const LaunchReport& report, const Style& style);
/// Branches by the lanes that were active there.
std::string branch_histogram(const LaunchReport& report, const Style& style);
/// Blocks by the first of the counters that differs among them; empty without --per-block.
std::string block_histogram(const analyzers::BlockTable& blocks, std::span<const analyzers::MetricId> counters,
                            const Style& style);

} // namespace warplens::api
