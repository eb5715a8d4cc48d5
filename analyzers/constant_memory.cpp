// SPDX-License-Identifier: Apache-2.0
#include "analyzers/constant_memory.hpp"

#include "analyzers/footprint.hpp"

namespace warplens::analyzers {

namespace {

void add_metrics(Metrics& metrics, const ConstantMemory::Row& row) {
  metrics.add(MetricId::constant_requests, row.requests);
  metrics.add(MetricId::constant_passes, row.passes);
  metrics.add(MetricId::constant_passes_excessive, row.passes - row.requests);
}

} // namespace

void ConstantMemory::Shard::access(const exec::Access& access) {
  if (access.space != isa::Space::constant && access.space != isa::Space::param) return;
  Row& row = rows_[std::min<std::size_t>(access.instruction, rows_.size() - 1)];
  row.requests += access.count;
  // CUDA C Programming Guide 3.2, section 5.3.2.4: a request is split into one request per distinct
  // address.
  const std::uint64_t addresses =
      access.shape == exec::Shape::broadcast
          ? 1
          : Footprint(access.addresses, access.mask, access.lane_bytes).distinct_addresses();
  row.passes += access.count * addresses;
}

const AnalyzerInfo& ConstantMemory::info() const {
  static constexpr AnalyzerInfo kInfo = {"constant_memory", "Constant memory",
                                         "requests, and passes for distinct addresses"};
  return kInfo;
}

std::unique_ptr<exec::Shard> ConstantMemory::make_shard() { return std::make_unique<Shard>(rows_.size()); }

void ConstantMemory::absorb(exec::Shard& shard) {
  const auto& own = static_cast<const Shard&>(shard).rows();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    rows_[i].requests += own[i].requests;
    rows_[i].passes += own[i].passes;
  }
}

void ConstantMemory::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  Row total;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    total.requests += rows_[i].requests;
    total.passes += rows_[i].passes;
    if (i < rows.size() && rows_[i].requests) add_metrics(rows[i].metrics, rows_[i]);
  }
  add_metrics(launch, total);
}

} // namespace warplens::analyzers
