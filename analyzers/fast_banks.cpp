#include "analyzers/fast_banks.hpp"

#include "analyzers/processors.hpp"

#include <algorithm>
#include <bit>

namespace warplens::analyzers {

namespace {

constexpr std::size_t kCells = 32; // of a row, at most

std::uint32_t log2(std::uint32_t power) { return static_cast<std::uint32_t>(std::countr_zero(power)); }

/// Without the bits in which the lanes of one row of a cell may differ.
WARPLENS_PER_PROCESSOR void squeeze(LaneKeys& keys, std::uint32_t banks_shift, std::uint32_t row_shift) {
  const std::int32_t within = (1 << banks_shift) - 1;
  for (std::int32_t& key : keys) key = key >> row_shift << banks_shift | (key & within);
}

/// Whether the active lanes lie on multiples of their width, which is one that the rules speak of.
WARPLENS_PER_PROCESSOR bool words_aligned(const std::uint64_t* offsets, exec::Mask mask, std::uint32_t lane_bytes) {
  if (mask == 0 || !std::has_single_bit(lane_bytes) || lane_bytes > 16) return false;
  std::uint64_t all = 0;
  for (std::uint32_t i = 0; i < exec::kWarpSize; ++i) all |= mask >> i & 1 ? offsets[i] : 0;
  return (all & (lane_bytes - 1)) == 0;
}

bool is_atomic(exec::AccessKind kind) {
  return kind == exec::AccessKind::atomic || kind == exec::AccessKind::reduction;
}

Group group_of(std::uint32_t lanes) { return lanes == 32 ? Group::warp : lanes == 16 ? Group::half : Group::quarter; }

BankRequests requests_of(const std::array<std::uint8_t, 4>& fullest, std::uint32_t lanes) {
  BankRequests requests;
  for (std::size_t quarter = 0; quarter < fullest.size(); quarter += lanes / 8) requests.add(fullest[quarter]);
  return requests;
}

/// Each lane on its own: how many are in the fullest cell of each request of `lanes` lanes.
BankRequests requests_of_lanes(const std::uint64_t* addresses, exec::Mask mask, std::uint32_t lanes,
                               std::uint32_t shift, std::uint32_t last) {
  if (mask == ~exec::Mask{0}) return requests_of(fullest_cells(addresses, group_of(lanes), shift, last), lanes);
  BankRequests requests;
  for (std::uint32_t first = 0; first < exec::kWarpSize; first += lanes) {
    std::uint8_t in_cell[kCells]{}, most = 0;
    for (exec::Mask rest = mask & static_cast<exec::Mask>((std::uint64_t{1} << lanes) - 1) << first; rest;
         rest &= rest - 1)
      most = std::max(most, ++in_cell[addresses[std::countr_zero(rest)] >> shift & last]);
    requests.add(most);
  }
  return requests;
}

/// All lanes of the groups of so many lanes that have an active one.
exec::Mask whole_groups(exec::Mask mask, std::uint32_t lanes) {
  exec::Mask all = 0;
  for (std::uint32_t first = 0; first < exec::kWarpSize; first += lanes) {
    const exec::Mask group = static_cast<exec::Mask>((std::uint64_t{1} << lanes) - 1) << first;
    if (mask & group) all |= group;
  }
  return all;
}

} // namespace

FastBanks::FastBanks(BankRule rule)
    : rule_(std::move(rule)), banks_shift_(log2(rule_.banks * rule_.bank_bytes)), row_shift_(log2(rule_.row_bytes)) {
  for (std::uint32_t i = 0; i < std::size(cells_); ++i) {
    const std::uint32_t bytes = 1u << i;
    const std::uint32_t part = rule_.split_words ? std::min(bytes, rule_.bank_bytes) : bytes;
    const std::uint32_t cell = std::max(part, rule_.bank_bytes);
    const std::uint32_t row = rule_.banks * rule_.bank_bytes;
    // A row must hold whole words: their cells lie in one row then.
    cells_[i] = {cell <= row && row <= rule_.row_bytes && rule_.banks <= kCells, log2(cell), row / cell - 1,
                 bytes / part};
  }
}

Passes FastBanks::result(const BankRequests& requests, const Cells& cells, const BankRule::Word& word) {
  Passes result;
  result.passes = (requests.sum + requests.count * word.extra) * cells.parts;
  result.worst = result.passes;
  result.fewest = requests.count * cells.parts;
  result.ways = result.worst_ways = requests.most + word.extra;
  return result;
}

Passes FastBanks::passes(const std::uint64_t* offsets, exec::Mask mask, std::uint32_t lane_bytes,
                         exec::AccessKind kind) const {
  if (is_atomic(kind)) return atomic_passes(offsets, mask, lane_bytes, kind);
  return passes(Footprint(offsets, mask, lane_bytes), kind);
}

// Lanes of a word wait for each other: nothing needs to be sorted.
Passes FastBanks::atomic_passes(const std::uint64_t* offsets, exec::Mask mask, std::uint32_t lane_bytes,
                                exec::AccessKind kind) const {
  if (!words_aligned(offsets, mask, lane_bytes) || !cells_[log2(lane_bytes)].listed)
    return analyzers::passes(rule_, offsets, mask, lane_bytes, kind);
  const Cells& cells = cells_[log2(lane_bytes)];
  const BankRule::Word& word = rule_.word(lane_bytes);
  return result(requests_of_lanes(offsets, mask, word.lanes, cells.shift, cells.last), cells, word);
}

Passes FastBanks::passes(const Footprint& access, exec::AccessKind kind) const {
  if (is_atomic(kind)) return atomic_passes(access.addresses, access.mask, access.lane_bytes, kind);
  const auto word_by_word = [&] {
    return analyzers::passes(rule_, access.addresses, access.mask, access.lane_bytes, kind);
  };
  if (!access.compact() || !access.aligned() || access.lane_bytes > 16) return word_by_word();
  const Cells& cells = cells_[log2(access.lane_bytes)];
  if (!cells.listed) return word_by_word();
  const BankRule::Word& word = rule_.word(access.lane_bytes);
  std::uint32_t lanes = word.lanes;
  if (rule_.merge_equal_pairs && kind == exec::AccessKind::load && lanes < exec::kWarpSize &&
      equal_pairs(access.addresses, access.mask))
    lanes *= 2;
  const exec::Mask active = whole_groups(access.mask, lanes);
  const Group group = group_of(lanes);
  std::optional<SortedLanes> squeezed;
  if (row_shift_ != banks_shift_) {
    LaneKeys keys = access.sorted().keys(Group::quarter);
    squeeze(keys, banks_shift_, row_shift_);
    squeezed.emplace(keys);
  }
  const SortedLanes& sorted = squeezed ? *squeezed : access.sorted();
  const exec::Mask words = sorted.starts<1>(group, {-(1 << cells.shift)})[0] & active;
  // One word of a pass is broadcast: nothing to choose where no two lanes share one.
  if (rule_.broadcast == BankRule::Broadcast::one_word && std::popcount(words) != std::popcount(access.mask))
    return word_by_word();
  return result(requests_of(sorted.fullest_cells(group, words, cells.shift, cells.last), lanes), cells, word);
}

} // namespace warplens::analyzers
