#include "analyzers/instruction_mix.hpp"

#include <algorithm>
#include <array>

namespace warplens::analyzers {

namespace {

constexpr MetricInfo kMetrics[] = {
    {"smsp__inst_executed.sum", "instructions", "PTX warp instructions with at least one active lane"},
    {"smsp__thread_inst_executed.sum", "instructions", "of active lanes"},
    {"smsp__thread_inst_executed_pred_on.sum", "instructions", "of active lanes whose guard held"},
    {"smsp__thread_inst_executed_per_inst_executed.ratio", "lanes", "active lanes per instruction", 32},
    {"smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", "lanes", "lanes that did something", 32},
    {"lost_lane_slots", "instructions", "lanes of executed instructions that did nothing", 0},
    {"instructions", "instructions", "PTX warp instructions"},
    {"cta_launched", "blocks", "blocks of the grid"},
    {"warps_launched", "warps", "warps of the grid"},
    {"inst_executed_barrier", "instructions", "barriers; one metric like this for every class that occurs"},
    {"barrier_per_warp", "instructions", "barriers that a warp runs on average"},
};

constexpr AnalyzerInfo kInfo = {"instruction_mix", "Instruction mix", "instructions executed, in all and by class",
                                kMetrics};

} // namespace

const AnalyzerInfo& InstructionMix::info() const { return kInfo; }

namespace {

std::size_t index(isa::InstructionClass which) { return static_cast<std::size_t>(which); }

void add_metrics(Metrics& metrics, const exec::InstructionCount& count) {
  metrics.add("smsp__inst_executed.sum", count.warps);
  metrics.add("smsp__thread_inst_executed.sum", count.lanes);
  metrics.add("smsp__thread_inst_executed_pred_on.sum", count.lanes_on);
  const auto warps = static_cast<double>(count.warps);
  metrics.add_ratio("smsp__thread_inst_executed_per_inst_executed.ratio", static_cast<double>(count.lanes), warps);
  metrics.add_ratio("smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", static_cast<double>(count.lanes_on),
                    warps);
  metrics.add("lost_lane_slots", count.warps * exec::kWarpSize - count.lanes_on);
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
  launch.add("instructions", total.warps);
  launch.add("cta_launched", shape_.ctas());
  const std::uint64_t warps = shape_.ctas() * shape_.warps();
  launch.add("warps_launched", warps);
  for (std::size_t i = 0; i < by_class.size(); ++i)
    if (by_class[i]) launch.add("inst_executed_" + std::string(isa::kInstructionClasses[i].name), by_class[i]);
  launch.add_ratio("barrier_per_warp", static_cast<double>(by_class[index(isa::InstructionClass::barrier)]),
                   static_cast<double>(warps));
}

} // namespace warplens::analyzers
