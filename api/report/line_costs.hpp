// SPDX-License-Identifier: Apache-2.0
// What the instructions and the CUDA lines of a launch cost, for the report's lists of the most expensive ones.
#pragma once

#include "api/launch/launch.hpp"

#include <string>
#include <vector>

namespace warplens::api {

/// Sectors, bank passes and other memory accesses of an instruction under the rules of the device, and 8 for each
/// divergent branch.
double access_cost(const analyzers::InstructionRow& row, const model::Device& device);
/// "20480 sectors (ideal 2560)", "10240 transactions, 327680 bytes (ideal 40960)": in the units of the device.
std::string access_cost_text(const analyzers::InstructionRow& row, const model::Device& device);

/// A line of CUDA source, or of PTX where the CUDA source is unknown.
struct LineCost {
  std::string file; ///< empty: `line` is in the PTX text
  std::uint32_t line = 0;
  double share = 0;                                 ///< of the whole launch
  const analyzers::InstructionRow* worst = nullptr; ///< the instruction that costs most
};
struct LineCosts {
  std::string_view of; ///< "the accesses to memory", what the shares are of
  std::vector<LineCost> lines;
};
/// Most expensive first. Counts accesses to memory if there are any and `bound` is not "compute", otherwise warp
/// instructions.
LineCosts line_costs(const LaunchReport& report, std::string_view bound);

} // namespace warplens::api
