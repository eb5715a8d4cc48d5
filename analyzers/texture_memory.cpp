// SPDX-License-Identifier: Apache-2.0
#include "analyzers/texture_memory.hpp"

#include "analyzers/footprint.hpp"

#include <array>

namespace warplens::analyzers {

namespace {

constexpr std::size_t kTextureOperations = 4; // fetches, loads, stores, reductions

std::size_t texture_operation_of(isa::InstructionClass which) {
  switch (which) {
  case isa::InstructionClass::surface_load: return 1;
  case isa::InstructionClass::surface_store: return 2;
  case isa::InstructionClass::surface_reduction: return 3;
  default: return 0;
  }
}

void add_metrics(Metrics& metrics, std::size_t operation, const TextureRow& row) {
  metrics.add(by_operation(MetricId::texture_requests, operation), row.requests);
  metrics.add(by_operation(MetricId::texture_sectors, operation), row.sectors);
}

} // namespace

void TextureShard::access(const exec::Access& access) {
  if (access.space != isa::Space::texture) return;
  Row& row = row_of(access.instruction);
  row.requests += access.count;
  row.sectors += access.count * Footprint(access.addresses, access.mask, access.lane_bytes).sectors();
}

void TextureMemory::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  std::array<Row, kTextureOperations> totals{};
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].requests == 0) continue;
    const bool known = i < function_.instructions.size();
    const std::size_t operation = known ? texture_operation_of(function_.instructions[i].instruction_class) : 0;
    totals[operation].add(rows_[i]);
    if (i < rows.size()) add_metrics(rows[i].metrics, operation, rows_[i]);
  }
  for (std::size_t operation = 0; operation < totals.size(); ++operation)
    add_metrics(launch, operation, totals[operation]);
}

} // namespace warplens::analyzers
