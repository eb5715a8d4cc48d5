// SPDX-License-Identifier: Apache-2.0
#include "api/report/line_costs.hpp"

#include "api/report/report_spaces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace warplens::api {

using analyzers::InstructionRow;
using analyzers::MetricId;

std::uint64_t bank_passes(const analyzers::Metrics& metrics) {
  std::uint64_t sum = 0;
  for (const MetricId id : {MetricId::shared_passes_ld, MetricId::shared_passes_st, MetricId::shared_passes_atom})
    sum += metrics.integer(id);
  return sum;
}

double access_cost(const InstructionRow& row) {
  const analyzers::Metrics& m = row.metrics;
  return static_cast<double>(m.integer(MetricId::global_sectors) + bank_passes(m) + space_cost(m) +
                             8 * m.integer(MetricId::divergent_branch));
}

std::string access_cost_text(const InstructionRow& row, const model::Device& device) {
  const analyzers::Metrics& m = row.metrics;
  if (const std::uint64_t sectors = m.integer(MetricId::global_sectors)) {
    const rules::CoalescingRule& rule = device.coalescing_rule;
    const std::uint64_t n = row.counts.described(rule).sum.total();
    if (rule.unit != rules::Coalescing::Unit::sectors && n != 0) return fmt::format("{} transactions", n);
    return fmt::format("{} sectors (ideal {})", sectors, m.integer(MetricId::global_sectors_ideal));
  }
  if (const std::uint64_t n = bank_passes(m)) return fmt::format("{} passes over the banks", n);
  if (space_cost(m) != 0) return space_cost_text(m);
  return fmt::format("{} of {} diverge", m.integer(MetricId::divergent_branch), m.integer(MetricId::branch));
}

LineCosts line_costs(const LaunchReport& report, std::string_view bound) {
  const std::vector<InstructionRow>& rows = report.profile.instructions;
  const bool accesses =
      bound != "compute" && std::any_of(rows.begin(), rows.end(), [](const auto& row) { return access_cost(row) > 0; });
  const auto cost = [&](const InstructionRow& row) {
    return accesses ? access_cost(row) : static_cast<double>(row.metrics.integer(MetricId::warp_instructions));
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
