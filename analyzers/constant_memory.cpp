// SPDX-License-Identifier: Apache-2.0
#include "analyzers/constant_memory.hpp"

#include "analyzers/footprint.hpp"

namespace warplens::analyzers {

namespace {

void add_constant_requests(Metrics& metrics, const ConstantRow& row) {
  metrics.add(MetricId::constant_requests, row.requests);
  metrics.add(MetricId::constant_passes, row.passes);
  metrics.add(MetricId::constant_passes_excessive, row.passes - row.requests);
}

} // namespace

void ConstantShard::access(const exec::Access& access) {
  if (access.space != isa::Space::constant && access.space != isa::Space::param) return;
  Row& row = row_of(access.instruction);
  row.requests += access.count;
  // CUDA C Programming Guide 3.2, section 5.3.2.4: a request is split into one request per distinct
  // address.
  const std::uint64_t addresses =
      access.shape == exec::Shape::broadcast
          ? 1
          : Footprint(access.addresses, access.mask, access.lane_bytes).distinct_addresses();
  row.passes += access.count * addresses;
}

void ConstantMemory::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  add_constant_requests(launch, add_rows(rows_, rows, add_constant_requests));
}

} // namespace warplens::analyzers
