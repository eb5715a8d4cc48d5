// SPDX-License-Identifier: Apache-2.0
#include "analyzers/fast_coalescing.hpp"

#include "emulator/base/processors.hpp"

#include <algorithm>

namespace warplens::analyzers {

using rules::Coalescing;

namespace {

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

using Way = FastCoalescing::Way;

/// The counts that a footprint already has.
[[gnu::always_inline]] inline void sectors(const Footprint& footprint, Transactions& result) {
  result.count[0] = footprint.sectors();
  result.ideal =
      std::min(least_moved(footprint.distinct_addresses() * footprint.lane_bytes, kSectorBytes, kSectorBytes),
               kSectorBytes * footprint.sectors());
}

/// Whether lane k of a request accesses word k of a segment.
[[gnu::always_inline]] inline bool is_ordered(const std::uint64_t* addresses, std::uint64_t bytes, exec::Mask part,
                                              std::uint32_t start, const Way& by) {
  if (by.bytes != bytes) return false;
  const auto first = static_cast<std::uint32_t>(std::countr_zero(part));
  const std::uint64_t base = addresses[first] - (first - start) * bytes;
  if ((base & ((std::uint64_t{1} << by.log_segment) - 1)) != 0) return false;
  for (exec::Mask rest = part & (part - 1); rest; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    if (addresses[lane] != base + (lane - start) * bytes) return false;
  }
  return true;
}

/// Adds an access.
[[gnu::always_inline]] inline void in_order(const std::uint64_t* addresses, exec::Mask mask, std::uint32_t lane_bytes,
                                            const Way& by, Transactions& result) {
  const std::uint32_t least = std::max(1u, by.lanes * lane_bytes >> by.log_segment);
  const auto request = static_cast<exec::Mask>((std::uint64_t{1} << by.lanes) - 1);
  std::uint32_t coalesced = 0, alone = 0, ideal = 0;
  for (std::uint32_t start = 0; start < exec::kWarpSize; start += by.lanes) {
    const exec::Mask part = mask & request << start;
    if (!part) continue;
    ideal += least;
    if (is_ordered(addresses, lane_bytes, part, start, by))
      coalesced += by.lanes * by.bytes >> by.log_segment;
    else
      alone += bits(part);
  }
  result.count[0] += alone;
  result.count[by.whole_size] += coalesced;
  result.uncoalesced += alone;
  result.ideal += std::min(ideal, coalesced + alone);
}

[[gnu::always_inline]] inline void segments(const Footprint& footprint, const Way& by, Transactions& result) {
  const Footprint::Starts starts = footprint.starts(by.group);
  const std::uint32_t segment = 1u << by.log_segment;
  const std::array<std::uint32_t, 3> count = count_segments(starts, segment, by.least);
  for (std::size_t i = by.first_size; i < count.size(); ++i) result.count[i - by.first_size] = count[i];
  const std::uint32_t moved = kSectorBytes * count[0] + kBlockBytes * count[1] + kLineBytes * count[2];
  const auto request = static_cast<exec::Mask>((std::uint64_t{1} << by.lanes) - 1);
  std::uint32_t ideal = 0;
  for (std::uint32_t start = 0; start < exec::kWarpSize; start += by.lanes)
    ideal += least_moved(bits(starts.address & request << start) * footprint.lane_bytes, segment, by.least);
  result.ideal = std::min(ideal, moved);
}

std::uint8_t log_of(std::uint32_t power) { return static_cast<std::uint8_t>(std::countr_zero(power)); }

Way way_of(const Coalescing& rule, std::uint32_t lane_bytes, rules::Served served, bool atomic) {
  const rules::WordClass& word = rule.word(lane_bytes, served);
  const std::uint32_t lanes = word.requests.lanes;
  Way by;
  by.bytes = word.bytes;
  by.lanes = static_cast<std::uint8_t>(std::min<std::uint32_t>(lanes, exec::kWarpSize));
  by.log_segment = log_of(word.segment);
  by.turns = in_turns(rule, atomic ? exec::AccessKind::atomic : exec::AccessKind::load);
  by.group = lanes == 32 ? Group::warp : lanes == 16 ? Group::half : Group::quarter;
  const bool whole_warp_in_sectors = lanes == 32 && word.segment == kSectorBytes;
  if (!word.requests.groups.empty() || lanes < 8 || !is_common(word.segment) || !is_common(rule.smallest) ||
      word.starts_at() != word.segment || word.sector || (by.turns && !whole_warp_in_sectors) ||
      (rule.split_vectors && served == rules::Served::vector))
    return by;
  by.first_size = static_cast<std::uint8_t>(log_of(rule.smallest) - log_of(kSectorBytes));
  by.whole_size = static_cast<std::uint8_t>(by.log_segment - log_of(rule.smallest));
  by.least = rule.shrink ? rule.smallest : word.segment;
  by.method = rule.order == Coalescing::Order::kth_word ? Way::Method::in_order
              : whole_warp_in_sectors                   ? Way::Method::sectors
                                                        : Way::Method::segments;
  return by;
}

} // namespace

FastCoalescing::FastCoalescing(Coalescing rule) : rule_(std::move(rule)) {
  sizes_ = static_cast<std::size_t>(std::countr_zero(rule_.largest()) - std::countr_zero(rule_.smallest)) + 1;
  for (std::size_t row = 0; row < std::size(ways_); ++row) {
    const bool vector_atomics = row == rules::kServed;
    const auto served = vector_atomics ? rules::Served::vector : static_cast<rules::Served>(row);
    for (std::size_t i = 0; i < std::size(ways_[row]); ++i)
      ways_[row][i] = way_of(rule_, 1u << i, served, vector_atomics || served == rules::Served::atomic);
  }
}

WARPLENS_PER_PROCESSOR void FastCoalescing::count(std::span<const FastCoalescing> rules, const Footprint& footprint,
                                                  Service service, Transactions* results) {
  for (const FastCoalescing& rule : rules) {
    Transactions& result = *results++;
    const Way& by = rule.way(footprint.lane_bytes, service);
    if (by.method == Way::Method::general || !footprint.compact()) {
      result = analyzers::transactions(rule.rule_, footprint.addresses, footprint.mask, footprint.lane_bytes, service);
      continue;
    }
    result = Transactions{};
    result.smallest = rule.rule_.smallest;
    switch (by.method) {
    case Way::Method::in_order: in_order(footprint.addresses, footprint.mask, footprint.lane_bytes, by, result); break;
    case Way::Method::sectors: sectors(footprint, result); break;
    default: segments(footprint, by, result); break;
    }
    if (by.turns) result.repeats = repeated_sectors(footprint);
  }
}

namespace {

void in_order_of(const AccessBatch& batch, const Way& by, Transactions& sum) {
  const std::uint32_t never = batch.out_of_order(by.lanes), count = bits(never);
  const std::uint32_t requests = exec::kWarpSize / by.lanes;
  const std::uint32_t least =
      requests * std::max(1u, by.lanes * std::uint32_t{batch.rows.lane_bytes} >> by.log_segment);
  sum.count[0] += exec::kWarpSize * count;
  sum.uncoalesced += exec::kWarpSize * count;
  sum.ideal += std::min<std::uint32_t>(least, exec::kWarpSize) * count;
  for (std::uint32_t rest = batch.taken() & ~never; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(rest));
    in_order(batch.rows.rows[i], batch.rows.masks[i], batch.rows.lane_bytes, by, sum);
  }
}

/// The bytes of count_segments() of each access are a sum over these.
Moved moved_by(const Way& by, std::uint32_t word) {
  Moved moved;
  moved.word = word;
  moved.segment = 1u << by.log_segment;
  moved.least = by.least;
  if (by.least == kLineBytes)
    moved.line = kLineBytes;
  else if (by.least == kBlockBytes)
    moved.block = kBlockBytes;
  else if (moved.segment < kLineBytes)
    moved.sector = kSectorBytes;
  else
    moved = {0, kBlockBytes, -std::int32_t{kSectorBytes}, kSectorBytes, word, moved.segment, moved.least};
  return moved;
}

void segments_of(AccessBatch& batch, const Way& by, Transactions& sum) {
  const Moved moved = moved_by(by, batch.rows.lane_bytes);
  const BatchSums all = batch.sums(by.group, moved);
  std::array<std::uint32_t, 3> count{all.sectors, 0, 0};
  if (moved.segment == kBlockBytes) {
    const std::uint32_t whole = by.least == kBlockBytes ? all.blocks : all.sectors - all.blocks;
    count = {all.blocks - whole, whole, 0};
  } else if (moved.segment == kLineBytes) {
    const std::uint32_t whole = by.least == kLineBytes ? all.lines : all.blocks - all.lines;
    const std::uint32_t large = by.least == kSectorBytes ? all.wide : all.lines;
    count = {all.lines - large, large - whole, whole};
  }
  for (std::size_t size = by.first_size; size < count.size(); ++size) sum.count[size - by.first_size] += count[size];
  sum.ideal += all.ideal;
}

} // namespace

const Way& FastCoalescing::way(std::uint32_t lane_bytes, Service service) const {
  const auto log = static_cast<std::size_t>(std::bit_width(lane_bytes) - 1);
  const std::size_t served =
      service.elements > 1 && is_atomic(service.kind) ? rules::kServed : static_cast<std::size_t>(service.of());
  return ways_[served][std::min(log, kWidths - 1)];
}

void FastCoalescing::count(std::span<const FastCoalescing> rules, AccessBatch& batch, Service service,
                           Transactions* sums) {
  const std::uint32_t bytes = batch.rows.lane_bytes;
  for (const FastCoalescing& rule : rules) {
    const Way& by = rule.way(bytes, service);
    if (by.method == Way::Method::general) return batch.leave_out(batch.taken());
    if (by.turns) batch.leave_out(batch.with_equal_lanes());
  }
  for (const FastCoalescing& rule : rules) {
    Transactions& sum = *sums++;
    const Way& by = rule.way(bytes, service);
    sum = Transactions{};
    sum.smallest = rule.rule_.smallest;
    switch (by.method) {
    case Way::Method::in_order: in_order_of(batch, by, sum); break;
    case Way::Method::sectors:
      sum.count[0] = batch.sums_of_warps().sectors;
      sum.ideal = batch.sums_of_warps().ideal;
      break;
    default: segments_of(batch, by, sum); break;
    }
  }
}

Transactions FastCoalescing::transactions(const Footprint& footprint, Service service) const {
  Transactions result;
  count({this, 1}, footprint, service, &result);
  return result;
}

} // namespace warplens::analyzers
