// SPDX-License-Identifier: Apache-2.0
#include "analyzers/local_memory.hpp"

#include <bit>

namespace warplens::analyzers {

namespace {

constexpr std::uint32_t kWordBytes = 4;
constexpr std::uint32_t kLanesOfSector = kSectorBytes / kWordBytes;

void add_local_requests(Metrics& metrics, const LocalRow& row) {
  metrics.add(MetricId::local_instructions_ld, row.loads.requests);
  metrics.add(MetricId::local_instructions_st, row.stores.requests);
  metrics.add(MetricId::local_requests_ld, row.loads.requests);
  metrics.add(MetricId::local_requests_st, row.stores.requests);
  metrics.add(MetricId::local_sectors_ld, row.loads.sectors);
  metrics.add(MetricId::local_sectors_st, row.stores.sectors);
  metrics.add(MetricId::local_sectors, row.loads.sectors + row.stores.sectors);
  metrics.add(MetricId::local_sectors_ideal, row.loads.ideal + row.stores.ideal);
  metrics.add(MetricId::local_asked, row.loads.bytes + row.stores.bytes);
  metrics.add(MetricId::local_load, row.loads.requests);
  metrics.add(MetricId::local_store, row.stores.requests);
}

} // namespace

void local_lines(const exec::Access& access, std::vector<LineUse>& lines) {
  constexpr std::uint64_t kWindow = std::uint64_t{1} << 32; // of words; a thread has less
  const std::uint32_t bytes = std::clamp<std::uint32_t>(access.lane_bytes, 1, 32);
  const std::size_t begin = lines.size();
  const auto add = [&](int lane, std::uint32_t sectors) {
    const std::uint64_t offset = access.addresses[lane];
    for (std::uint64_t word = offset / kWordBytes; word <= (offset + bytes - 1) / kWordBytes; ++word) {
      const std::uint64_t line = word % kWindow;
      const auto known = std::find_if(lines.begin() + static_cast<std::ptrdiff_t>(begin), lines.end(),
                                      [&](const LineUse& use) { return use.line() == line; });
      if (known != lines.end())
        known->packed |= sectors;
      else
        lines.push_back(LineUse::of(line, sectors));
    }
  };
  if (access.shape == exec::Shape::broadcast) { // a variable: the same word in each lane
    std::uint32_t sectors = 0;
    for (std::uint32_t s = 0; s < exec::kWarpSize / kLanesOfSector; ++s)
      if (access.mask >> s * kLanesOfSector & ((1u << kLanesOfSector) - 1)) sectors |= 1u << s;
    return add(std::countr_zero(access.mask), sectors);
  }
  for (const int lane : exec::EachLane(access.mask)) add(lane, 1u << lane / static_cast<int>(kLanesOfSector));
}

// A sector holds one word of 8 neighbouring lanes.
std::uint32_t local_sectors(const std::uint64_t* offsets, exec::Mask mask, std::uint32_t lane_bytes) {
  std::uint32_t sectors = 0;
  for (std::uint32_t first = 0; first < exec::kWarpSize; first += kLanesOfSector) {
    constexpr std::size_t kMostWords = 32 / kWordBytes + 1; // of a lane: 32 bytes, misaligned
    std::uint64_t words[kLanesOfSector * kMostWords];
    std::size_t count = 0;
    for (exec::Mask rest = mask & 0xffu << first; rest; rest &= rest - 1) {
      const std::uint64_t offset = offsets[std::countr_zero(rest)];
      const std::uint64_t last = (offset + std::clamp(lane_bytes, 1u, 32u) - 1) / kWordBytes;
      for (std::uint64_t word = offset / kWordBytes; word <= last; ++word)
        if (std::find(words, words + count, word) == words + count) words[count++] = word;
    }
    sectors += static_cast<std::uint32_t>(count);
  }
  return sectors;
}

void LocalCount::add(const LocalCount& other) {
  requests += other.requests;
  sectors += other.sectors;
  ideal += other.ideal;
  bytes += other.bytes;
}

void LocalShard::access(const exec::Access& access) {
  if (access.space != isa::Space::local) return;
  Row& row = row_of(access.instruction);
  const std::uint64_t bytes = std::uint64_t{access.lane_bytes} * static_cast<std::uint32_t>(std::popcount(access.mask));
  const std::uint64_t sectors = local_sectors(access.addresses, access.mask, access.lane_bytes);
  const std::uint64_t ideal = std::min(sectors, (bytes + kSectorBytes - 1) / kSectorBytes);
  LocalCount& count = access.kind == exec::AccessKind::load ? row.loads : row.stores;
  count.add({access.count, access.count * sectors, access.count * ideal, access.count * bytes});
}

void LocalMemory::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  add_local_requests(launch, add_rows(rows_, rows, add_local_requests));
}

} // namespace warplens::analyzers
