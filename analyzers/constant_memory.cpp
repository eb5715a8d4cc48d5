// SPDX-License-Identifier: Apache-2.0
#include "analyzers/constant_memory.hpp"

#include "analyzers/footprint.hpp"

#include <algorithm>
#include <array>

namespace warplens::analyzers {

namespace {

void add_constant_requests(Metrics& metrics, const ConstantRow& row) {
  metrics.add(MetricId::constant_requests, row.requests);
  metrics.add(MetricId::constant_passes, row.passes);
  metrics.add(MetricId::constant_passes_excessive, row.passes - row.requests);
}

/// The most words of a request that are in one bank of shared memory, as devices since compute capability 2.0 have it.
std::uint64_t words_of_a_bank(const exec::Access& access) {
  constexpr std::size_t kBanks = 32, kMostWords = 4; // of a lane
  constexpr std::uint32_t kWordBytes = 4;
  std::array<std::uint64_t, kMostWords * exec::kWarpSize> words{};
  auto end = words.begin();
  const std::uint32_t of_lane = std::clamp<std::uint32_t>(access.lane_bytes / kWordBytes, 1, kMostWords);
  for (const int lane : exec::EachLane(access.mask))
    for (std::uint32_t word = 0; word < of_lane; ++word) *end++ = access.addresses[lane] / kWordBytes + word;
  std::sort(words.begin(), end);
  std::array<std::uint64_t, kBanks> of_bank{};
  for (auto word = words.begin(), last = std::unique(words.begin(), end); word != last; ++word)
    ++of_bank[*word % kBanks];
  return *std::max_element(of_bank.begin(), of_bank.end());
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
  row.passes_if_shared += access.count * (addresses == 1 ? 1 : words_of_a_bank(access));
}

void ConstantMemory::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  add_constant_requests(launch, add_rows(rows_, rows, add_constant_requests));
  for (std::size_t i = 0; i < std::min(rows.size(), rows_.size()); ++i)
    rows[i].passes_if_shared = rows_[i].passes_if_shared;
}

} // namespace warplens::analyzers
