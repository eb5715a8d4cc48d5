// SPDX-License-Identifier: Apache-2.0
#include "analyzers/footprint.hpp"

#include "emulator/base/processors.hpp"

#include <algorithm>

namespace warplens::analyzers {

namespace {

/// The positions of the lanes in their sectors.
struct Placing {
  bool spans; ///< some lane touches two
  bool aligned;
};
/// `keys`: addresses from the start of a sector on.
WARPLENS_PER_PROCESSOR Placing placing_of(const LaneKeys& keys, std::uint32_t lane_bytes) {
  const auto bytes = static_cast<std::int32_t>(lane_bytes);
  const std::int32_t room = static_cast<std::int32_t>(kSectorBytes) - bytes;
  std::int32_t lacking = 0, all = 0; // of the former, its top bit
  for (const std::int32_t key : keys) {
    lacking |= room - (key & static_cast<std::int32_t>(kSectorBytes - 1));
    all |= key;
  }
  return {lacking < 0, std::has_single_bit(lane_bytes) && (all & (bytes - 1)) == 0};
}

} // namespace

Footprint::Footprint(const std::uint64_t* lane_addresses, exec::Mask lanes, std::uint32_t bytes)
    : addresses(lane_addresses), mask(lanes), lane_bytes(std::clamp(bytes, 1u, kLineBytes)),
      base_(mask ? addresses[std::countr_zero(mask)] & ~(kAlignmentUnit - 1) : 0), active_{whole_groups(mask, 8),
                                                                                           whole_groups(mask, 16),
                                                                                           whole_groups(mask, 32)} {
  LaneKeys keys;
  if (mask != 0 && distances(addresses, mask, base_, keys)) {
    const Placing placing = placing_of(keys, lane_bytes);
    compact_ = !placing.spans;
    aligned_ = placing.aligned;
  }
  if (!compact_) {
    count_lane_by_lane();
    return;
  }
  sorted_.sort(keys);
  count_sorted();
}

void Footprint::count_sorted() {
  of_halves_ = starts_of(Group::half);
  of_warp_ = starts_of(Group::warp);
  const auto count = [](exec::Mask bits) { return static_cast<std::uint32_t>(std::popcount(bits)); };
  distinct_ = count(of_warp_.address);
  sectors_ = count(of_warp_.sector);
  block_total_ = count(of_warp_.block);
  line_total_ = count(of_warp_.line);
}

void Footprint::count_lane_by_lane() {
  std::uint64_t places[exec::kWarpSize];
  std::size_t count = 0;
  for (exec::Mask rest = mask; rest; rest &= rest - 1) places[count++] = addresses[std::countr_zero(rest)];
  std::sort(places, places + count);
  distinct_ = static_cast<std::uint32_t>(std::unique(places, places + count) - places);
  for (const Line& line : lines()) {
    sectors_ += static_cast<std::uint32_t>(std::popcount(line.sectors));
    for (std::uint32_t blocks = line.sectors; blocks != 0; blocks >>= kBlockBytes / kSectorBytes)
      block_total_ += (blocks & ((1u << kBlockBytes / kSectorBytes) - 1)) != 0 ? 1 : 0;
  }
  line_total_ = static_cast<std::uint32_t>(line_count_);
}

std::size_t Footprint::sorted_addresses(std::uint64_t (&sorted)[exec::kWarpSize]) const {
  std::size_t n = 0;
  for (const std::int32_t key : sorted_.keys(Group::warp))
    sorted[n++] = base_ + static_cast<std::uint64_t>(std::int64_t{key});
  return n;
}

Footprint::Starts Footprint::starts_of(Group group) const {
  const auto from = [](std::uint32_t bytes) { return ~static_cast<std::int32_t>(bytes - 1); };
  SortedLanes::Starts found;
  sorted_.starts(group, {from(1), from(kSectorBytes), from(kBlockBytes), from(kLineBytes)},
                 active_[static_cast<std::size_t>(group)], found);
  return {found[0], found[1], found[2], found[3]};
}

void Footprint::add_line(std::uint64_t sector) const {
  constexpr std::uint64_t kSectorsOfLine = kLineBytes / kSectorBytes;
  const std::uint64_t number = sector / kSectorsOfLine;
  if (line_count_ == 0 || lines_[line_count_ - 1].number != number) lines_[line_count_++] = {number, 0};
  lines_[line_count_ - 1].sectors |= 1u << sector % kSectorsOfLine;
}

std::span<const Footprint::Line> Footprint::lines() const {
  line_count_ = 0;
  if (compact_) {
    const LaneKeys keys = sorted_.keys(Group::warp);
    for (exec::Mask firsts = starts(Group::warp).sector; firsts; firsts &= firsts - 1)
      add_line((base_ + static_cast<std::uint64_t>(std::int64_t{keys[std::countr_zero(firsts)]})) / kSectorBytes);
    return {lines_, line_count_};
  }
  std::uint64_t touched[exec::kWarpSize * (kLineBytes / kSectorBytes + 1)];
  std::size_t count = 0;
  for (exec::Mask rest = mask; rest; rest &= rest - 1) {
    const std::uint64_t address = addresses[std::countr_zero(rest)];
    const std::uint64_t last = (address + lane_bytes - 1) / kSectorBytes;
    for (std::uint64_t sector = address / kSectorBytes; sector <= last; ++sector) touched[count++] = sector;
  }
  std::sort(touched, touched + count);
  for (std::size_t i = 0; i < count; ++i) add_line(touched[i]);
  return {lines_, line_count_};
}

} // namespace warplens::analyzers
