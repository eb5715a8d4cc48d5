// SPDX-License-Identifier: Apache-2.0
#include "analyzers/fast_coalescing.hpp"

#include "analyzers/processors.hpp"

#include <algorithm>

namespace warplens::analyzers {

using rules::Coalescing;

namespace {

constexpr std::uint32_t kBlockBytes = 64;

bool is_common(std::uint32_t bytes) { return bytes >= kSectorBytes && bytes <= kLineBytes; }
std::uint32_t bits(exec::Mask mask) { return static_cast<std::uint32_t>(std::popcount(mask)); }

/// The segments (by the bits where one starts) in which another bit is set besides the first.
[[gnu::always_inline]] inline std::uint32_t segments_with_more(exec::Mask segments, exec::Mask found) {
  const exec::Mask last = segments >> 1 | 1u << 31; // bit of each segment; bits before the first segment are none
  const exec::Mask more = found & ~segments;
  // A carry runs through each segment that has a bit below its last one, and stops there.
  return bits((((more & ~last) + ~last) | more) & last);
}

/// Transactions of 32, 64 and 128 bytes when all lanes of a segment are served at once.
[[gnu::always_inline]] inline std::array<std::uint32_t, 3>
count_segments(const Footprint::Starts& starts, std::uint32_t segment, std::uint32_t smallest) {
  const std::uint32_t sectors = bits(starts.sector), blocks = bits(starts.block), lines = bits(starts.line);
  if (segment == kSectorBytes) return {sectors, 0, 0};
  if (segment == kBlockBytes) {
    // A block of two sectors stays whole.
    const std::uint32_t whole = smallest == kBlockBytes ? blocks : sectors - blocks;
    return {blocks - whole, whole, 0};
  }
  const std::uint32_t whole = smallest == kLineBytes ? lines : blocks - lines;
  const std::uint32_t large = smallest == kSectorBytes ? segments_with_more(starts.line, starts.sector) : lines;
  return {lines - large, large - whole, whole};
}

/// Writes the addresses of the active lanes in ascending order; returns their number.
std::size_t sorted_addresses(const Footprint& footprint, std::uint64_t (&sorted)[exec::kWarpSize]) {
  std::size_t n = 0;
  if (footprint.mask == ~exec::Mask{0} && footprint.compact()) return footprint.sorted_addresses(sorted);
  for (exec::Mask rest = footprint.mask; rest; rest &= rest - 1)
    sorted[n++] = footprint.addresses[std::countr_zero(rest)];
  std::sort(sorted, sorted + n);
  return n;
}

/// Colliding lanes are served in turn: each sector is accessed once per lane of its most frequent address. Measured on
/// compute capability 9.0, where 65 of 68 irregular accesses agree exactly and the others within 2 sectors.
std::uint32_t repeated_sectors(const Footprint& footprint) {
  if (footprint.distinct_addresses() == bits(footprint.mask)) return 0;
  std::uint64_t sorted[exec::kWarpSize];
  const std::size_t n = sorted_addresses(footprint, sorted);
  std::uint32_t total = 0, most = 0, run = 0;
  for (std::size_t i = 0; i < n; ++i) {
    run = i && sorted[i] == sorted[i - 1] ? run + 1 : 1;
    if (i && sorted[i] / kSectorBytes != sorted[i - 1] / kSectorBytes) {
      total += most;
      most = 0;
    }
    most = std::max(most, run);
  }
  return total + most - footprint.sectors();
}

/// For whole warps: the counts that a footprint already has.
Transactions sectors(const Footprint& footprint) {
  Transactions result;
  result.smallest = kSectorBytes;
  result.count[0] = footprint.sectors();
  result.ideal =
      std::min(least_moved(footprint.distinct_addresses() * footprint.lane_bytes, kSectorBytes, kSectorBytes),
               kSectorBytes * footprint.sectors());
  return result;
}

} // namespace

FastCoalescing::FastCoalescing(Coalescing rule) : rule_(std::move(rule)) {
  sizes_ = static_cast<std::size_t>(std::countr_zero(rule_.largest()) - std::countr_zero(rule_.smallest)) + 1;
  for (std::size_t served = 0; served < rules::kServed; ++served)
    for (std::size_t i = 0; i < std::size(ways_[served]); ++i) {
      const rules::WordClass& word = rule_.word(1u << i, static_cast<rules::Served>(served));
      Way& by = ways_[served][i];
      by.bytes = word.bytes;
      by.lanes = word.requests.lanes;
      by.segment = word.segment;
      by.fast = word.requests.groups.empty() && by.lanes >= 8 && is_common(word.segment) && is_common(rule_.smallest) &&
                word.starts_at() == word.segment && !word.sector;
      by.group = by.lanes == 32 ? Group::warp : by.lanes == 16 ? Group::half : Group::quarter;
      by.turns = by.lanes == 32 && by.segment == kSectorBytes;
    }
}

const FastCoalescing::Way& FastCoalescing::way(std::uint32_t lane_bytes, Service service) const {
  const auto log = static_cast<std::size_t>(std::bit_width(lane_bytes) - 1);
  return ways_[static_cast<std::size_t>(service.of())][std::min(log, std::size(ways_[0]) - 1)];
}

WARPLENS_PER_PROCESSOR Transactions FastCoalescing::in_order(const Footprint& footprint, const Way& by) const {
  Transactions result;
  result.smallest = rule_.smallest;
  const std::uint64_t bytes = footprint.lane_bytes;
  for (std::uint32_t start = 0; start < exec::kWarpSize; start += by.lanes) {
    const auto part = footprint.mask & static_cast<exec::Mask>(((std::uint64_t{1} << by.lanes) - 1) << start);
    if (!part) continue;
    result.ideal += std::max(1u, by.lanes * footprint.lane_bytes / by.segment);
    bool ordered = by.bytes == bytes;
    if (ordered) {
      const auto first = static_cast<std::uint32_t>(std::countr_zero(part));
      const std::uint64_t base = footprint.addresses[first] - (first - start) * bytes;
      ordered = (base & (by.segment - 1)) == 0;
      for (exec::Mask rest = part; ordered && rest; rest &= rest - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
        ordered = footprint.addresses[lane] == base + (lane - start) * bytes;
      }
    }
    if (ordered) {
      result.count[static_cast<std::size_t>(std::countr_zero(by.segment) - std::countr_zero(rule_.smallest))] +=
          by.lanes * by.bytes / by.segment;
      continue;
    }
    const std::uint32_t alone = bits(part);
    result.count[0] += alone;
    result.uncoalesced += alone;
  }
  result.ideal = std::min(result.ideal, result.total());
  return result;
}

WARPLENS_PER_PROCESSOR Transactions FastCoalescing::segments(const Footprint& footprint, const Way& by) const {
  Transactions result;
  result.smallest = rule_.smallest;
  const Footprint::Starts starts = footprint.starts(by.group);
  const std::uint32_t smallest = rule_.shrink ? rule_.smallest : by.segment;
  const std::array<std::uint32_t, 3> count = count_segments(starts, by.segment, smallest);
  const auto first_size = static_cast<std::size_t>(std::countr_zero(rule_.smallest) - std::countr_zero(kSectorBytes));
  for (std::size_t i = first_size; i < count.size(); ++i) result.count[i - first_size] = count[i];
  const std::uint32_t moved = kSectorBytes * count[0] + kBlockBytes * count[1] + kLineBytes * count[2];
  const auto own = static_cast<exec::Mask>((std::uint64_t{1} << by.lanes) - 1);
  for (std::uint32_t first = 0; first < exec::kWarpSize; first += by.lanes)
    result.ideal += least_moved(bits(starts.address & own << first) * footprint.lane_bytes, by.segment, smallest);
  result.ideal = std::min(result.ideal, moved);
  return result;
}

Transactions FastCoalescing::transactions(const Footprint& footprint, Service service) const {
  const Way& by = way(footprint.lane_bytes, service);
  const bool turns = in_turns(rule_, service.kind);
  if (!by.fast || !footprint.compact() || (turns && !by.turns) || (rule_.split_vectors && service.elements > 1))
    return analyzers::transactions(rule_, footprint.addresses, footprint.mask, footprint.lane_bytes, service);
  Transactions result = rule_.order == Coalescing::Order::kth_word ? in_order(footprint, by)
                        : by.turns                                 ? sectors(footprint)
                                                                   : segments(footprint, by);
  if (turns) result.repeats = repeated_sectors(footprint);
  return result;
}

} // namespace warplens::analyzers
