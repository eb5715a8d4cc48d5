// SPDX-License-Identifier: Apache-2.0
#include "analyzers/barrier_waits.hpp"

namespace warplens::analyzers {

void BarrierWaits::Row::add(const Row& other) {
  arrivals += other.arrivals;
  work += other.work;
  waited += other.waited;
  busiest += other.busiest;
  meetings += other.meetings;
}

BarrierWaits::Shard::Cta& BarrierWaits::Shard::cta_of(std::uint64_t number) {
  if (last_ == nullptr || last_number_ != number) {
    last_ = &ctas_[number];
    last_number_ = number;
    last_->warps.resize(warps_);
  }
  return *last_;
}

// A warp that arrives at a barrier again, or at another one, was released from its previous barrier, which completed.
void BarrierWaits::Shard::barrier(const exec::Barrier& barrier) {
  if (barrier.of.warp >= warps_) return;
  Cta& cta = cta_of(barrier.of.cta);
  Progress& warp = cta.warps[barrier.of.warp];
  if (warp.lanes != 0 && (warp.number != barrier.number || (warp.lanes & barrier.active) != 0)) meet(cta, warp.number);
  if (warp.lanes == 0) rows_[std::min<std::size_t>(barrier.instruction, rows_.size() - 1)].arrivals += 1;
  warp.lanes |= barrier.active;
  warp.arrived = barrier.steps;
  warp.number = barrier.number;
  warp.instruction = barrier.instruction;
}

void BarrierWaits::Shard::meet(Cta& cta, std::uint32_t number) {
  Row one;
  std::uint32_t instruction = 0;
  const auto here = [&](const Progress& p) { return p.lanes != 0 && p.number == number; };
  for (Progress& p : cta.warps) {
    if (!here(p)) continue;
    const std::uint64_t work = p.arrived - p.met;
    if (work >= one.busiest) instruction = p.instruction;
    one.busiest = std::max(one.busiest, work);
    one.work += work;
    ++one.arrivals;
  }
  one.meetings = 1;
  one.waited = one.busiest * one.arrivals - one.work;
  for (Progress& p : cta.warps) {
    if (!here(p)) continue;
    p.met = p.arrived;
    p.lanes = 0;
  }
  one.arrivals = 0; // counted as they came
  rows_[std::min<std::size_t>(instruction, rows_.size() - 1)].add(one);
}

void BarrierWaits::Shard::end_cta(std::uint64_t number) {
  const auto found = ctas_.find(number);
  if (found == ctas_.end()) return;
  for (std::uint32_t barrier = 0; barrier < kBarriers; ++barrier)
    if (std::any_of(found->second.warps.begin(), found->second.warps.end(),
                    [&](const Progress& p) { return p.lanes != 0 && p.number == barrier; }))
      meet(found->second, barrier);
  ctas_.erase(found);
  last_ = nullptr;
}

const std::vector<BarrierWaits::Row>& BarrierWaits::Shard::rows() {
  while (!ctas_.empty()) end_cta(ctas_.begin()->first);
  return rows_;
}

std::unique_ptr<exec::Shard> BarrierWaits::make_shard() {
  return std::make_unique<Shard>(rows_.size(), shape_.warps());
}

void BarrierWaits::absorb(exec::Shard& shard) {
  const std::vector<Row>& other = static_cast<Shard&>(shard).rows();
  for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].add(other[i]);
}

namespace {

void add_barriers(Metrics& metrics, const BarrierWaits::Row& row) {
  metrics.add(MetricId::barrier_arrivals, row.arrivals);
  metrics.add(MetricId::barrier_meetings, row.meetings);
  metrics.add(MetricId::barrier_waited, row.waited);
  metrics.add_ratio(MetricId::barrier_imbalance, 100 * static_cast<double>(row.waited),
                    static_cast<double>(row.waited + row.work));
}

} // namespace

void BarrierWaits::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  add_barriers(launch, add_rows(rows_, rows, add_barriers));
}

} // namespace warplens::analyzers
