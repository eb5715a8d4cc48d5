// SPDX-License-Identifier: Apache-2.0
#include "api/report/line_costs.hpp"

#include "analyzers/coalescing.hpp"
#include "api/report/device_costs.hpp"
#include "api/report/report_spaces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace warplens::api {

using analyzers::InstructionRow;
using analyzers::MetricId;

namespace {

/// Of global memory, in units as expensive as a sector: 32 bytes, or a transaction where each serves a single lane.
double global_part(const InstructionRow& row, const model::Device& device) {
  const GlobalCost cost = global_cost(row.metrics, row.counts, device.coalescing_rule);
  if (cost.transactions == 0) return static_cast<double>(row.metrics.integer(MetricId::global_sectors)); // atomics
  return cost.unit == "transactions" ? static_cast<double>(cost.transactions)
                                     : static_cast<double>(cost.bytes) / analyzers::kSectorBytes;
}

/// "20480 sectors (ideal 2560)"; empty without accesses that the rule describes.
std::string global_text(const GlobalCost& cost) {
  if (cost.transactions == 0) return {};
  if (cost.unit == "bytes")
    return fmt::format("{} transactions, {} bytes (ideal {})", cost.transactions, cost.taken, cost.least);
  return fmt::format("{} {} (ideal {})", cost.taken, cost.unit, cost.least);
}

} // namespace

double access_cost(const InstructionRow& row, const model::Device& device) {
  const analyzers::Metrics& m = row.metrics;
  const std::uint64_t passes = bank_cost(m, row.counts, device.bank_rule).passes;
  return global_part(row, device) +
         static_cast<double>(passes + space_cost(m) + 8 * m.integer(MetricId::divergent_branch));
}

std::string access_cost_text(const InstructionRow& row, const model::Device& device) {
  const analyzers::Metrics& m = row.metrics;
  if (m.integer(MetricId::global_sectors) != 0) {
    const std::string text = global_text(global_cost(m, row.counts, device.coalescing_rule));
    return text.empty() ? "atomics, which the rule of the device does not describe" : text;
  }
  if (const std::uint64_t n = bank_cost(m, row.counts, device.bank_rule).passes)
    return fmt::format("{} passes over the banks", n);
  if (space_cost(m) != 0) return space_cost_text(m, device);
  return fmt::format("{} of {} diverge", m.integer(MetricId::divergent_branch), m.integer(MetricId::branch));
}

LineCosts line_costs(const LaunchReport& report, std::string_view bound) {
  const std::vector<InstructionRow>& rows = report.profile.instructions;
  const bool accesses = bound != "compute" && std::any_of(rows.begin(), rows.end(), [&](const auto& row) {
                          return access_cost(row, report.device) > 0;
                        });
  const auto cost = [&](const InstructionRow& row) {
    return accesses ? access_cost(row, report.device)
                    : static_cast<double>(row.metrics.integer(MetricId::warp_instructions));
  };
  struct Sum {
    double cost = 0, most = 0;
    const InstructionRow* worst = nullptr;
  };
  std::map<std::pair<std::string, std::uint32_t>, Sum> sums;
  double all = 0;
  for (const InstructionRow& row : rows) {
    const double own = cost(row);
    const bool known = row.source_line != 0;
    Sum& sum = sums[{known ? row.source_file : "", known ? row.source_line : row.line}];
    all += own;
    sum.cost += own;
    if (sum.worst == nullptr || own > sum.most) sum = {sum.cost, own, &row};
  }
  LineCosts result{accesses ? "the accesses to memory and divergent branches" : "the executed instructions", {}};
  for (const auto& [place, sum] : sums)
    if (sum.cost > 0) result.lines.push_back({place.first, place.second, sum.cost / all, sum.worst});
  std::stable_sort(result.lines.begin(), result.lines.end(),
                   [](const LineCost& a, const LineCost& b) { return a.share > b.share; });
  return result;
}

} // namespace warplens::api
