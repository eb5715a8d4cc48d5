// SPDX-License-Identifier: Apache-2.0
#include "analyzers/sampling.hpp"

#include <algorithm>
#include <cmath>

namespace warplens::analyzers {

namespace {

/// How often an instruction may have accessed memory: with a guard, that depends on the lanes for which it is true.
std::uint64_t times(const ir::Instruction& instruction, const exec::InstructionCount& count) {
  return instruction.guard == ir::kNone ? count.warps : count.lanes_on;
}

bool accesses_memory(const ir::Instruction& instruction) {
  using isa::InstructionClass;
  switch (instruction.instruction_class) {
  case InstructionClass::global:
  case InstructionClass::shared:
  case InstructionClass::matrix_load:
  case InstructionClass::local:
  case InstructionClass::generic:
  case InstructionClass::texture:
  case InstructionClass::surface_load:
  case InstructionClass::surface_store:
  case InstructionClass::surface_reduction:
  case InstructionClass::atomic: return true;
  default: return false;
  }
}

constexpr MetricId kMain[] = {MetricId::global_sectors, MetricId::global_asked_ld,  MetricId::global_asked_st,
                              MetricId::global_lines,   MetricId::shared_passes_ld, MetricId::shared_passes_st,
                              MetricId::local_sectors,  MetricId::texture_sectors,  MetricId::constant_passes};

} // namespace

Scales::Scales(const ir::Function& function, const exec::Sample& sample, std::size_t left_out)
    : ratios_(function.instructions.size()) {
  std::uint64_t accesses = 0, missed = 0;
  for (std::size_t i = 0; i < ratios_.size(); ++i) {
    const ir::Instruction& instruction = function.instructions[i];
    std::uint64_t drawn = 0;
    for (std::size_t group = 0; group < sample.drawn.size(); ++group)
      if (group != left_out) drawn += times(instruction, sample.drawn[group].counts[i]);
    const std::uint64_t needed = times(instruction, sample.rest.counts[i]);
    const std::uint64_t all = times(instruction, sample.counts[i]) - needed;
    if (drawn != 0) ratios_[i] = {all, drawn};
    if (!accesses_memory(instruction)) continue;
    accesses += sample.counts[i].warps;
    if (drawn == 0 && all != 0) missed += sample.counts[i].warps - sample.rest.counts[i].warps;
  }
  if (accesses != 0) uncovered_ = static_cast<double>(missed) / static_cast<double>(accesses);
}

SampleReport report_of(const exec::Sample& sample, double uncovered) {
  SampleReport report;
  report.blocks = sample.blocks;
  report.watched = sample.watched;
  report.classes = sample.classes;
  report.seen_classes = sample.seen;
  report.unseen_blocks = sample.unseen_blocks;
  report.classes_known = sample.classes_known;
  report.uncovered = uncovered;
  return report;
}

std::vector<MetricError> errors_of(const Metrics& metrics, std::span<const Metrics> without, double fraction) {
  std::vector<MetricError> errors;
  if (without.size() < 2) return errors;
  const auto groups = static_cast<double>(without.size());
  for (const Metric& metric : metrics.list()) {
    double sum = 0, squares = 0;
    std::vector<double> values;
    values.reserve(without.size());
    for (const Metrics& one : without) values.push_back(one.number(metric.key));
    for (const double value : values) sum += value;
    const double mean = sum / groups;
    for (const double value : values) squares += (value - mean) * (value - mean);
    const double error = std::sqrt((groups - 1) / groups * squares * (1 - fraction));
    // What is only computed from the recorded accesses is the same without a group, and 0 there.
    if (error == 0 || metric.number() == 0) continue;
    errors.push_back({metric.key, error / std::abs(metric.number())});
  }
  return errors;
}

double main_error(const Metrics& metrics, std::span<const MetricError> errors) {
  constexpr double kSmall = 0.01;
  double most = 0, error = 0;
  for (const MetricId id : kMain) most = std::max(most, metrics.number(id));
  for (const MetricError& one : errors)
    if (std::find(std::begin(kMain), std::end(kMain), one.key.id) != std::end(kMain) &&
        metrics.number(one.key) > kSmall * most)
      error = std::max(error, one.relative);
  return error;
}

} // namespace warplens::analyzers
