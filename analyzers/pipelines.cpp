// SPDX-License-Identifier: Apache-2.0
#include "analyzers/pipelines.hpp"

namespace warplens::analyzers {

namespace {

using exec::AsyncStep;

// By AsyncStep::Work, then the phases of mbarriers.
constexpr std::string_view kKindNames[kPipelineKinds] = {"copy_groups", "bulk_groups", "product_groups", "stages"};
constexpr std::size_t kPhases = exec::AsyncWaits::kPhases;
static_assert(kPhases == kPipelineKinds - 1);

void add_waits(Metrics& metrics, const PipelineRow& row) {
  for (std::size_t kind = 0; kind < kPipelineKinds; ++kind) {
    const PipelineRow::Waits& waits = row.kinds[kind];
    if (waits.count == 0) continue;
    metrics.add({MetricId::async_waits, kKindNames[kind]}, waits.count);
    metrics.add_ratio({MetricId::async_in_flight, kKindNames[kind]}, static_cast<double>(waits.in_flight),
                      static_cast<double>(waits.count));
    metrics.add_ratio({MetricId::async_in_flight_most, kKindNames[kind]}, static_cast<double>(waits.most), 1);
  }
}

} // namespace

void PipelineRow::Waits::found(std::uint64_t parts) {
  if (parts == 0) return;
  add({1, parts, parts});
}

void PipelineRow::Waits::add(const Waits& other) {
  count += other.count;
  in_flight += other.in_flight;
  most = std::max(most, other.most);
}

void PipelineRow::add(const PipelineRow& other) {
  for (std::size_t kind = 0; kind < kPipelineKinds; ++kind) kinds[kind].add(other.kinds[kind]);
}

bool PipelineRow::any() const {
  return std::any_of(kinds.begin(), kinds.end(), [](const Waits& waits) { return waits.count != 0; });
}

void PipelineShard::Groups::commit() {
  if (begun) in_flight.push_back(next);
  if (in_flight.size() > kMostGroups) in_flight.pop_front();
  begun = false;
  ++next;
}

PipelineShard::Cta& PipelineShard::cta_of(std::uint64_t number) {
  if (last_ == nullptr || last_number_ != number) {
    last_ = &ctas_[number];
    last_number_ = number;
  }
  return *last_;
}

void PipelineShard::async_step(const AsyncStep& step) {
  const auto kind = static_cast<std::size_t>(step.work);
  Groups& groups = cta_of(step.of.cta).warps[step.of.warp][kind];
  switch (step.kind) {
  case AsyncStep::Kind::begins: groups.begun = true; return;
  case AsyncStep::Kind::commits: return groups.commit();
  case AsyncStep::Kind::waits_for_all: groups.commit(); break;
  case AsyncStep::Kind::waits: break;
  }
  const auto is_done = [&](std::uint64_t group) { return group + step.running < groups.next; };
  if (groups.in_flight.empty() || !is_done(groups.in_flight.front())) return; // there is nothing to wait for
  row_of(step.instruction).kinds[kind].found(groups.in_flight.size());
  while (!groups.in_flight.empty() && is_done(groups.in_flight.front())) groups.in_flight.pop_front();
}

// The first thread that finds the phase complete stands for all that wait for it.
void PipelineShard::phase_step(const exec::PhaseStep& step) {
  std::set<std::uint64_t>& phases = cta_of(step.cta).phases;
  if (!step.waits) {
    phases.insert(step.object);
  } else if (phases.contains(step.object)) {
    row_of(step.instruction).kinds[kPhases].found(phases.size());
    phases.erase(step.object);
  }
}

void PipelineShard::async_waits(const exec::AsyncWaits& waits) {
  row_of(waits.instruction).kinds.at(waits.work).add({waits.count, waits.in_flight, waits.most});
}

std::vector<exec::AsyncWaits> PipelineShard::found() const {
  std::vector<exec::AsyncWaits> list;
  for (std::uint32_t i = 0; i < rows_.size(); ++i)
    for (std::uint8_t kind = 0; kind < kPipelineKinds; ++kind)
      if (const PipelineRow::Waits& waits = rows_[i].kinds[kind]; waits.count != 0)
        list.push_back({i, kind, waits.count, waits.in_flight, waits.most});
  return list;
}

void PipelineShard::end_cta(std::uint64_t cta) {
  ctas_.erase(cta);
  last_ = nullptr;
}

void Pipelines::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  add_waits(launch, add_rows(rows_, rows, add_waits));
}

} // namespace warplens::analyzers
