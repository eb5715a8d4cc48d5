// SPDX-License-Identifier: Apache-2.0
#include "analyzers/instruction_mix.hpp"

#include <algorithm>
#include <array>

namespace warplens::analyzers {

namespace {

std::size_t index(isa::InstructionClass which) { return static_cast<std::size_t>(which); }

void add_metrics(Metrics& metrics, const exec::InstructionCount& count) {
  metrics.add(MetricId::warp_instructions, count.warps);
  metrics.add(MetricId::thread_instructions, count.lanes);
  metrics.add(MetricId::thread_instructions_on, count.lanes_on);
  const auto warps = static_cast<double>(count.warps);
  metrics.add_ratio(MetricId::active_lanes, static_cast<double>(count.lanes), warps);
  metrics.add_ratio(MetricId::lanes_on, static_cast<double>(count.lanes_on), warps);
  metrics.add(MetricId::lost_lane_slots, count.warps * exec::kWarpSize - count.lanes_on);
}

} // namespace

void InstructionMix::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  exec::InstructionCount total;
  std::array<std::uint64_t, isa::kInstructionClassCount> by_class{};
  const std::size_t known = std::min(counts_.size(), function_.instructions.size());
  for (std::size_t i = 0; i < known; ++i) {
    const exec::InstructionCount& count = counts_[i];
    if (count.warps == 0) continue;
    total.warps += count.warps;
    total.lanes += count.lanes;
    total.lanes_on += count.lanes_on;
    by_class[index(isa::info(function_.instructions[i].instruction_class).counted_as)] += count.warps;
    if (i < rows.size()) add_metrics(rows[i].metrics, count);
  }
  add_metrics(launch, total);
  launch.add(MetricId::instructions, total.warps);
  launch.add(MetricId::blocks_launched, shape_.ctas());
  const std::uint64_t warps = shape_.ctas() * shape_.warps();
  launch.add(MetricId::warps_launched, warps);
  for (std::size_t i = 0; i < by_class.size(); ++i)
    if (by_class[i]) launch.add({MetricId::instructions_of_class, isa::kInstructionClasses[i].name}, by_class[i]);
  launch.add_ratio(MetricId::barriers_per_warp, static_cast<double>(by_class[index(isa::InstructionClass::barrier)]),
                   static_cast<double>(warps));
}

} // namespace warplens::analyzers
