#include "analyzers/fast_banks.hpp"

#include "analyzers/processors.hpp"
#include "analyzers/sorted_lanes.hpp"

#include <algorithm>
#include <bit>

namespace warplens::analyzers {

namespace {

std::uint32_t log2(std::uint32_t power) { return static_cast<std::uint32_t>(std::countr_zero(power)); }

// A key of a lane: its cell above, its row below.
constexpr int kCellShift = 26;
constexpr std::int32_t kCellBits = ~((1 << kCellShift) - 1);

/// Keys from offsets. False: an offset that does not lie on a multiple of `lane_bytes`.
WARPLENS_PER_PROCESSOR bool make_keys(LaneKeys& keys, std::uint32_t lane_bytes, std::uint32_t cell_shift,
                                      std::uint32_t last_cell, std::uint32_t row_shift) {
  std::uint32_t all = 0;
  for (std::int32_t& key : keys) {
    const auto offset = static_cast<std::uint32_t>(key);
    all |= offset;
    key = static_cast<std::int32_t>((offset >> cell_shift & last_cell) << kCellShift | offset >> row_shift);
  }
  return (all & (lane_bytes - 1)) == 0 && all < 1u << 31;
}

struct Requests {
  std::uint32_t sum = 0, most = 0, count = 0;
};

/// Over the requests of `lanes` lanes, the most of `words` in a cell, summed, and the largest. `cells`: where cells
/// begin in the sorted lanes; `words`: where words do.
WARPLENS_PER_PROCESSOR Requests fullest_cells(exec::Mask cells, exec::Mask words, std::uint32_t lanes) {
  Requests result;
  for (std::uint32_t first = 0; first < exec::kWarpSize; first += lanes) {
    const exec::Mask group = static_cast<exec::Mask>((std::uint64_t{1} << lanes) - 1) << first;
    if (!(words & group)) continue;
    std::uint32_t most = 1;
    if ((words & group) != (cells & group)) {
      exec::Mask rest = cells & group;
      while (rest) {
        const exec::Mask begin = rest & -rest;
        rest ^= begin;
        const exec::Mask end = rest & -rest; // 0 after the last cell: all that lies above
        most = std::max(most, static_cast<std::uint32_t>(std::popcount(words & group & (end - begin))));
      }
    }
    result.sum += most;
    result.most = std::max(result.most, most);
    ++result.count;
  }
  return result;
}

/// The same where each lane counts on its own.
Requests fullest_cells(const LaneKeys& keys, exec::Mask mask, std::uint32_t lanes) {
  Requests result;
  for (std::uint32_t first = 0; first < exec::kWarpSize; first += lanes) {
    exec::Mask rest = mask & static_cast<exec::Mask>((std::uint64_t{1} << lanes) - 1) << first;
    if (!rest) continue;
    std::uint8_t in_cell[exec::kWarpSize]{};
    std::uint8_t most = 0;
    for (; rest; rest &= rest - 1)
      most = std::max(most, ++in_cell[static_cast<std::uint32_t>(keys[std::countr_zero(rest)]) >> kCellShift]);
    result.sum += most;
    result.most = std::max<std::uint32_t>(result.most, most);
    ++result.count;
  }
  return result;
}

Group group_of(std::uint32_t lanes) { return lanes == 32 ? Group::warp : lanes == 16 ? Group::half : Group::quarter; }

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

FastBanks::FastBanks(BankRule rule) : rule_(std::move(rule)), row_shift_(log2(rule_.row_bytes)) {
  for (std::uint32_t i = 0; i < std::size(cells_); ++i) {
    const std::uint32_t bytes = 1u << i;
    const std::uint32_t part = rule_.split_words ? std::min(bytes, rule_.bank_bytes) : bytes;
    const std::uint32_t cell = std::max(part, rule_.bank_bytes);
    const std::uint32_t row = rule_.banks * rule_.bank_bytes;
    // A row must hold whole words: their cells lie in one row then.
    cells_[i] = {cell <= row && row <= rule_.row_bytes, log2(cell), row / cell - 1, bytes / part};
  }
}

Passes FastBanks::passes(const std::uint64_t* offsets, exec::Mask mask, std::uint32_t lane_bytes,
                         exec::AccessKind kind) const {
  const auto word_by_word = [&] { return analyzers::passes(rule_, offsets, mask, lane_bytes, kind); };
  if (mask == 0 || !std::has_single_bit(lane_bytes) || lane_bytes > 16) return word_by_word();
  const Cells& cells = cells_[log2(lane_bytes)];
  const BankRule::Word& word = rule_.word(lane_bytes);
  std::uint32_t lanes = word.lanes;
  const bool load = kind == exec::AccessKind::load;
  if (rule_.merge_equal_pairs && load && lanes < exec::kWarpSize && equal_pairs(offsets, mask)) lanes *= 2;
  LaneKeys keys;
  if (!cells.listed || !distances(offsets, mask, 0, keys) ||
      !make_keys(keys, lane_bytes, cells.shift, cells.last, row_shift_))
    return word_by_word();

  Requests requests;
  if (load || kind == exec::AccessKind::store) {
    const SortedLanes sorted(keys);
    const exec::Mask active = whole_groups(mask, lanes);
    const auto [words, starts] = sorted.starts<2>(group_of(lanes), {~0, kCellBits});
    // One word of a pass is broadcast: nothing to choose where no two lanes share one.
    if (rule_.broadcast == BankRule::Broadcast::one_word && std::popcount(words & active) != std::popcount(mask))
      return word_by_word();
    requests = fullest_cells(starts & active, words & active, lanes);
  } else {
    requests = fullest_cells(keys, mask, lanes);
  }
  Passes result;
  result.passes = (requests.sum + requests.count * word.extra) * cells.parts;
  result.worst = result.passes;
  result.fewest = requests.count * cells.parts;
  result.ways = result.worst_ways = requests.most + word.extra;
  return result;
}

} // namespace warplens::analyzers
