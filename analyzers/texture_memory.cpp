// SPDX-License-Identifier: Apache-2.0
#include "analyzers/texture_memory.hpp"

#include "analyzers/footprint.hpp"

#include <array>

namespace warplens::analyzers {

namespace {

constexpr std::size_t kOperations = 4; // fetches, loads, stores, reductions

std::size_t operation_of(isa::InstructionClass which) {
  switch (which) {
  case isa::InstructionClass::surface_load: return 1;
  case isa::InstructionClass::surface_store: return 2;
  case isa::InstructionClass::surface_reduction: return 3;
  default: return 0;
  }
}

void add_metrics(Metrics& metrics, std::size_t operation, const TextureMemory::Row& row) {
  metrics.add(by_operation(MetricId::texture_requests, operation), row.requests);
  metrics.add(by_operation(MetricId::texture_sectors, operation), row.sectors);
}

} // namespace

void TextureMemory::Shard::access(const exec::Access& access) {
  if (access.space != isa::Space::texture) return;
  Row& row = rows_[std::min<std::size_t>(access.instruction, rows_.size() - 1)];
  row.requests += access.count;
  row.sectors += access.count * Footprint(access.addresses, access.mask, access.lane_bytes).sectors();
}

const AnalyzerInfo& TextureMemory::info() const {
  static constexpr AnalyzerInfo kInfo = {"texture_memory", "Texture and surface memory", "requests and texel sectors"};
  return kInfo;
}

std::unique_ptr<exec::Shard> TextureMemory::make_shard() { return std::make_unique<Shard>(rows_.size()); }

void TextureMemory::absorb(exec::Shard& shard) {
  const auto& own = static_cast<const Shard&>(shard).rows();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    rows_[i].requests += own[i].requests;
    rows_[i].sectors += own[i].sectors;
  }
}

void TextureMemory::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  std::array<Row, kOperations> totals{};
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].requests == 0) continue;
    const bool known = i < function_.instructions.size();
    const std::size_t operation = known ? operation_of(function_.instructions[i].instruction_class) : 0;
    totals[operation].requests += rows_[i].requests;
    totals[operation].sectors += rows_[i].sectors;
    if (i < rows.size()) add_metrics(rows[i].metrics, operation, rows_[i]);
  }
  for (std::size_t operation = 0; operation < totals.size(); ++operation)
    add_metrics(launch, operation, totals[operation]);
}

} // namespace warplens::analyzers
