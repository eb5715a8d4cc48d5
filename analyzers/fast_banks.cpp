// SPDX-License-Identifier: Apache-2.0
#include "analyzers/fast_banks.hpp"

#include "analyzers/one_broadcast.hpp"
#include "emulator/base/processors.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace warplens::analyzers {

using rules::Banks;

namespace {

constexpr std::size_t kCells = 32;          // of a row, at most
constexpr std::uint32_t kLongestRow = 4096; // a footprint counts from a multiple of it

std::uint32_t log2(std::uint32_t power) { return static_cast<std::uint32_t>(std::countr_zero(power)); }

/// Without the bits in which the lanes of one row of a cell may differ.
WARPLENS_PER_PROCESSOR void squeeze(LaneKeys& keys, std::uint32_t banks_shift, std::uint32_t row_shift) {
  const std::int32_t within = (1 << banks_shift) - 1;
  for (std::int32_t& key : keys) key = key >> row_shift << banks_shift | (key & within);
}

Group group_of(std::uint32_t lanes) { return lanes == 32 ? Group::warp : lanes == 16 ? Group::half : Group::quarter; }

/// Adds the cost of a request; 0 passes: the request does not exist.
[[gnu::always_inline]] inline void add_request(Passes& sum, std::uint32_t best, std::uint32_t worst,
                                               std::uint32_t extra) {
  if (best == 0) return;
  sum.passes += best + extra;
  sum.worst += worst + extra;
  sum.fewest += 1;
  sum.ways = std::max(sum.ways, best + extra);
  sum.worst_ways = std::max(sum.worst_ways, worst + extra);
}

/// Each lane requests this number of equal parts.
[[gnu::always_inline]] inline Passes times_parts(Passes of_one, std::uint32_t parts) {
  of_one.passes *= parts;
  of_one.worst *= parts;
  of_one.fewest *= parts;
  return of_one;
}

/// `fullest`: the lanes of the fullest cell of each request of `lanes` lanes, by its first quarter-warp.
[[gnu::always_inline]] inline Passes passes_of(const std::array<std::uint8_t, 4>& fullest, std::uint32_t lanes,
                                               std::uint32_t extra, std::uint32_t parts) {
  Passes sum;
  for (std::size_t quarter = 0; quarter < fullest.size(); quarter += lanes / 8) {
    const std::uint32_t ways = fullest[quarter] + extra;
    if (fullest[quarter] == 0) continue;
    sum.passes += ways;
    sum.fewest += 1;
    sum.ways = std::max(sum.ways, ways);
  }
  sum.worst = sum.passes;
  sum.worst_ways = sum.ways;
  return times_parts(sum, parts);
}

} // namespace

FastBanks::FastBanks(Banks rule)
    : rule_(std::move(rule)), banks_shift_(log2(rule_.banks * rule_.bank_bytes)), row_shift_(log2(rule_.row_bytes)) {
  for (std::size_t kind = 0; kind < std::size(in_turn_); ++kind)
    in_turn_[kind] = one_lane_a_bank(rule_, static_cast<exec::AccessKind>(kind));
  const std::uint32_t row = rule_.banks * rule_.bank_bytes;
  for (std::size_t served = 0; served < rules::kServed; ++served)
    for (std::uint32_t i = 0; i < std::size(cells_[served]); ++i) {
      const std::uint32_t bytes = 1u << i;
      const std::uint32_t part = rule_.split_words ? std::min(bytes, rule_.bank_bytes) : bytes;
      const std::uint32_t cell = std::max(part, rule_.bank_bytes);
      const Banks::Word& word = rule_.word(bytes, static_cast<rules::Served>(served));
      Cells& own = cells_[served][i];
      // A row must hold whole words: their cells lie in one row then.
      own.listed = cell <= row && rule_.row_bytes <= kLongestRow && rule_.banks <= kCells &&
                   rule_.index == Banks::Index::modulo && word.requests.groups.empty() && word.requests.lanes >= 8;
      if (!own.listed) continue;
      own.shift = log2(cell);
      own.last = row / cell - 1;
      own.parts = bytes / part;
      own.lanes = word.requests.lanes;
      own.extra = word.extra;
    }
}

void FastBanks::count(std::span<const FastBanks> rules, const std::uint64_t* offsets, exec::Mask mask,
                      std::uint32_t lane_bytes, Service service, Passes* results) {
  std::size_t in_turn = 0;
  for (const FastBanks& rule : rules) in_turn += rule.in_turn(service) ? 1 : 0;
  if (in_turn != 0) {
    const UnsortedLanes lanes(offsets, mask);
    for (std::size_t i = 0; i < rules.size(); ++i)
      if (rules[i].in_turn(service)) rules[i].count(lanes, lane_bytes, service, results[i]);
  }
  if (in_turn == rules.size()) return;
  const Footprint footprint(offsets, mask, lane_bytes);
  for (std::size_t i = 0; i < rules.size(); ++i)
    if (!rules[i].in_turn(service)) rules[i].count(footprint, service, results[i]);
}

Passes FastBanks::passes(const std::uint64_t* offsets, exec::Mask mask, std::uint32_t lane_bytes,
                         Service service) const {
  Passes result;
  count({this, 1}, offsets, mask, lane_bytes, service, &result);
  return result;
}

// Lanes of one word are served in turn: no sorting is needed.
void FastBanks::count(const UnsortedLanes& lanes, std::uint32_t lane_bytes, Service service, Passes& result) const {
  const Cells* const found = lanes.mask != 0 ? cells(lane_bytes, service) : nullptr;
  const bool merges = rule_.merge_equal_pairs && service.kind == exec::AccessKind::load;
  if (!found || merges || !lanes.are_multiples_of(lane_bytes))
    result = analyzers::passes(rule_, lanes.addresses, lanes.mask, lane_bytes, service);
  else
    result = passes_of(lanes.fullest_cells(group_of(found->lanes), found->shift, found->last), found->lanes,
                       found->extra, found->parts);
}

void FastBanks::count(const Footprint& access, Service service, Passes& result) const {
  if (in_turn(service)) {
    count(UnsortedLanes(access.addresses, access.mask), access.lane_bytes, service, result);
    return;
  }
  const auto word_by_word = [&] {
    result = analyzers::passes(rule_, access.addresses, access.mask, access.lane_bytes, service);
  };
  const Cells* const found = access.compact() && access.aligned() ? cells(access.lane_bytes, service) : nullptr;
  if (!found) return word_by_word();
  std::uint32_t lanes = found->lanes;
  if (rule_.merge_equal_pairs && service.kind == exec::AccessKind::load && lanes < exec::kWarpSize &&
      equal_pairs(access.addresses, access.mask))
    lanes *= 2;
  const Group group = group_of(lanes);
  const bool long_rows = row_shift_ != banks_shift_;
  SortedLanes squeezed;
  if (long_rows) {
    LaneKeys keys = access.sorted().keys(Group::quarter);
    squeeze(keys, banks_shift_, row_shift_);
    squeezed.sort(keys);
  }
  const SortedLanes& sorted = long_rows ? squeezed : access.sorted();
  exec::Mask words;
  if (!long_rows && access.lane_bytes >> found->shift != 0) { // a lane takes a cell or more
    words = access.starts(group).address;
  } else {
    const std::int32_t cell = -(1 << found->shift);
    SortedLanes::Starts starts;
    sorted.starts(group, {cell, cell, cell, cell}, whole_groups(access.mask, lanes), starts);
    words = starts[0];
  }
  // One word of a pass is broadcast: nothing to choose where no two lanes share one.
  if (rule_.broadcast == Banks::Broadcast::one_word && std::popcount(words) != std::popcount(access.mask)) {
    const bool cells_are_banks = found->last + 1 == rule_.banks && rule_.banks <= OneBroadcast::kMaxBanks;
    if (long_rows || !cells_are_banks || lanes > OneBroadcast::kMaxLanes) return word_by_word();
    result = with_one_broadcast(access, *found, lanes);
    return;
  }
  result = passes_of(sorted.fullest_cells(group, words, found->shift, found->last), lanes, found->extra, found->parts);
}

void FastBanks::leave_out(AccessBatch& batch, Service service) const {
  const std::uint32_t bytes = batch.rows.lane_bytes;
  const Cells* const found = cells(bytes, service);
  if (!found) return batch.leave_out(batch.taken());
  if (rule_.merge_equal_pairs && service.kind == exec::AccessKind::load &&
      (in_turn(service) || found->lanes < exec::kWarpSize))
    for (std::uint32_t rest = batch.taken(); rest != 0; rest &= rest - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(rest));
      if (equal_pairs(batch.rows.rows[i], batch.rows.masks[i])) batch.leave_out(rest & (~rest + 1));
    }
  if (in_turn(service)) return;
  if (row_shift_ != banks_shift_) return batch.leave_out(batch.taken());
  if (rule_.broadcast != Banks::Broadcast::one_word) return;
  // Nothing to choose where no two lanes share a word.
  batch.leave_out(bytes >> found->shift != 0 ? batch.with_equal_lanes() : batch.taken());
}

void FastBanks::add(AccessBatch& batch, Service service, Passes& sum, BatchNumbers* ways) const {
  const Cells* const found = cells(batch.rows.lane_bytes, service);
  if (!found) return;
  const Group group = group_of(found->lanes);
  BatchNumbers fullest[4];
  if (in_turn(service))
    batch.fullest_lanes(group, found->shift, found->last, fullest);
  else
    batch.fullest_cells(group, found->shift, found->last, fullest);
  std::uint32_t passes = 0, fewest = 0;
  BatchNumbers most{};
  for (std::size_t g = 0; g < exec::kWarpSize / found->lanes; ++g)
    for (std::size_t i = 0; i < exec::AccessRows::kMost; ++i) {
      const auto own = static_cast<std::uint32_t>(fullest[g].of[i]), any = own != 0 ? 1u : 0u;
      const std::uint32_t with_extra = own + any * found->extra;
      passes += with_extra;
      fewest += any;
      most.of[i] = std::max(most.of[i], static_cast<std::int32_t>(with_extra));
    }
  sum.passes += passes * found->parts;
  sum.worst += passes * found->parts;
  sum.fewest += fewest * found->parts;
  if (ways) *ways = most;
}

Passes FastBanks::with_one_broadcast(const Footprint& access, const Cells& cells, std::uint32_t lanes) {
  const std::uint64_t base = access.addresses[std::countr_zero(access.mask)] >> cells.shift;
  LaneKeys keys; // idle lanes come after all others
  for (std::uint32_t i = 0; i < exec::kWarpSize; ++i)
    keys[i] = access.mask >> i & 1 ? static_cast<std::int32_t>((access.addresses[i] >> cells.shift) - base)
                                   : std::numeric_limits<std::int32_t>::max();
  const LaneKeys words = SortedLanes(keys).keys(group_of(lanes));
  Passes sum;
  for (std::uint32_t first = 0; first < exec::kWarpSize; first += lanes) {
    const auto active = static_cast<std::uint32_t>(std::popcount(access.mask >> first & ((1u << lanes) - 1)));
    if (active == 0) continue;
    const OneBroadcast one =
        one_broadcast(std::span(words).subspan(first, active), static_cast<std::int32_t>(cells.last));
    add_request(sum, one.best, one.worst, cells.extra);
  }
  return times_parts(sum, cells.parts);
}

} // namespace warplens::analyzers
