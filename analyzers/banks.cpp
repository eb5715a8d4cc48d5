// SPDX-License-Identifier: Apache-2.0
#include "analyzers/banks.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace warplens::analyzers {

using rules::Banks;

namespace {

constexpr std::uint32_t kMaxBanks = 256;
constexpr std::uint32_t kMaxParts = 17; // banks that a misaligned 16-byte lane can touch

/// The rows that the lanes of one request access, by bank, and the number of lanes of each row.
class Demand {
public:
  explicit Demand(const Banks& rule) : rule_(rule) {
    std::fill_n(rows_, rule.banks, 0);
    std::fill_n(lanes_, rule.banks, 0);
  }

  /// Adds the access of a lane to the bytes [offset, offset + bytes).
  void add(std::uint64_t offset, std::uint32_t bytes) {
    const std::uint64_t first = offset / rule_.bank_bytes, last = (offset + bytes - 1) / rule_.bank_bytes;
    lowest_ = std::min(lowest_, first);
    for (std::uint64_t word = first; word <= last; ++word)
      add_row(rule_.bank_of(word), word * rule_.bank_bytes / rule_.row_bytes);
  }

  /// Passes if every bank serves all lanes of one row per pass.
  [[nodiscard]] std::uint32_t most_rows() const { return most_rows_; }
  /// Passes if every bank serves one lane per pass.
  [[nodiscard]] std::uint32_t most_lanes() const { return most_lanes_; }
  /// Whether two lanes access the same row.
  [[nodiscard]] bool shared() const { return shared_; }

  [[nodiscard]] std::uint32_t best_with_one_broadcast() const;
  [[nodiscard]] std::uint32_t worst_with_one_broadcast();

private:
  static constexpr std::uint32_t kMaxRows = exec::kWarpSize * kMaxParts;
  struct Row {
    std::uint64_t number;
    std::uint32_t bank;
    std::uint32_t lanes;
  };

  void add_row(std::uint32_t bank, std::uint64_t number) {
    most_lanes_ = std::max(most_lanes_, ++lanes_[bank]);
    for (std::uint32_t i = 0; i < used_; ++i)
      if (row_[i].number == number && row_[i].bank == bank) {
        ++row_[i].lanes;
        shared_ = true;
        return;
      }
    row_[used_++] = {number, bank, 1};
    most_rows_ = std::max(most_rows_, ++rows_[bank]);
  }

  [[nodiscard]] std::uint32_t broadcasts_needed(std::uint32_t bank, std::uint32_t limit) const;

  /// Banks are counted from the bank of the lowest word, so that moving an access changes nothing.
  [[nodiscard]] std::uint32_t turn(const Row& row) const {
    return (row.bank + rule_.banks - rule_.bank_of(lowest_)) % rule_.banks;
  }

  const Banks& rule_;
  std::uint64_t lowest_ = ~std::uint64_t{0};
  std::uint32_t most_rows_ = 0, most_lanes_ = 0;
  bool shared_ = false;
  std::uint32_t used_ = 0;
  std::uint32_t rows_[kMaxBanks];
  std::uint32_t lanes_[kMaxBanks];
  Row row_[kMaxRows];
};

/// The fewest words of the bank to broadcast, largest first, so that its lanes are served within `limit` passes.
/// `limit` is at least the number of its words, so that there is an answer.
std::uint32_t Demand::broadcasts_needed(std::uint32_t bank, std::uint32_t limit) const {
  std::uint32_t sizes[kMaxRows];
  std::uint32_t n = 0;
  for (std::uint32_t i = 0; i < used_; ++i)
    if (row_[i].bank == bank) sizes[n++] = row_[i].lanes;
  std::sort(sizes, sizes + n, std::greater<>());
  std::uint32_t left = lanes_[bank], count = 0;
  while (left > limit) left -= sizes[count++] - 1;
  return count;
}

/// The smallest number of passes k for which the banks together need at most k broadcasts.
std::uint32_t Demand::best_with_one_broadcast() const {
  std::uint32_t count = most_rows_;
  for (; count < most_lanes_; ++count) {
    std::uint32_t broadcasts = 0;
    for (std::uint32_t bank = 0; bank < rule_.banks; ++bank)
      if (lanes_[bank] > count) broadcasts += broadcasts_needed(bank, count);
    if (broadcasts <= count) break;
  }
  return count;
}

/// The hardware picks the word with the fewest lanes for the broadcast, of the first bank that has one, and lets every
/// other bank serve a lane of its most wanted word, so that broadcasts stay as useless as they can be. Uses up the
/// demand.
std::uint32_t Demand::worst_with_one_broadcast() {
  std::uint32_t count = 0;
  while (true) {
    std::uint32_t most[kMaxBanks]; // the row of each bank with the most lanes
    std::uint32_t left[kMaxBanks]{}, most_left = 0;
    std::uint32_t fewest = used_;
    bool any_shared = false;
    for (std::uint32_t i = 0; i < used_; ++i) {
      const Row& row = row_[i];
      if (row.lanes == 0) continue;
      any_shared |= row.lanes > 1;
      if (left[row.bank]++ == 0 || row.lanes > row_[most[row.bank]].lanes) most[row.bank] = i;
      most_left = std::max(most_left, left[row.bank]);
      if (fewest == used_ || std::pair(row.lanes, turn(row)) < std::pair(row_[fewest].lanes, turn(row_[fewest])))
        fewest = i;
    }
    if (!any_shared) return count + most_left; // from here on, one word per bank and pass
    for (std::uint32_t bank = 0; bank < rule_.banks; ++bank)
      if (left[bank] && bank != row_[fewest].bank) --row_[most[bank]].lanes;
    row_[fewest].lanes = 0;
    ++count;
  }
}

struct Needed {
  std::uint32_t best, worst;
};

Needed needed(const Banks& rule, const std::uint64_t* offsets, exec::Mask lanes, std::uint32_t skip,
              std::uint32_t bytes, exec::AccessKind kind) {
  Demand demand(rule);
  for (exec::Mask rest = lanes; rest; rest &= rest - 1) demand.add(offsets[std::countr_zero(rest)] + skip, bytes);
  if (one_lane_a_bank(rule, kind)) return {demand.most_lanes(), demand.most_lanes()};
  if (rule.broadcast == Banks::Broadcast::every_word || !demand.shared())
    return {demand.most_rows(), demand.most_rows()};
  const std::uint32_t best = demand.best_with_one_broadcast();
  return {best, std::max(best, demand.worst_with_one_broadcast())};
}

/// Whether all active lanes i and i^distance have the same address.
bool pairs_equal(const std::uint64_t* offsets, exec::Mask mask, int distance) {
  const exec::Mask lower = distance == 1 ? 0x55555555u : 0x33333333u;
  for (const int lane : exec::EachLane(mask & lower & mask >> distance)) {
    if (offsets[lane] != offsets[lane + distance]) return false;
  }
  return true;
}

} // namespace

exec::AccessKind kind_for_banks(const ir::Function& function, const exec::Access& access) {
  const bool of_matrices =
      access.instruction < function.instructions.size() &&
      function.instructions[access.instruction].instruction_class == isa::InstructionClass::matrix_load;
  return of_matrices ? exec::AccessKind::store : access.kind;
}

bool equal_pairs(const std::uint64_t* offsets, exec::Mask mask) {
  return pairs_equal(offsets, mask, 1) || pairs_equal(offsets, mask, 2);
}

bool one_lane_a_bank(const Banks& rule, exec::AccessKind kind) {
  return rule.broadcast == Banks::Broadcast::none || (is_atomic(kind) && rule.atomics != Banks::Atomics::as_stores);
}

Passes passes(const Banks& rule, const std::uint64_t* offsets, exec::Mask mask, std::uint32_t lane_bytes,
              Service service) {
  lane_bytes = std::clamp(lane_bytes, 1u, 16u);
  const Banks::Word& word = rule.word(lane_bytes, service.of());
  rules::Requests requests = word.requests;
  if (rule.merge_equal_pairs && service.kind == exec::AccessKind::load && requests.lanes < exec::kWarpSize &&
      equal_pairs(offsets, mask))
    requests.lanes *= 2;
  const std::uint32_t part = rule.split_words ? std::min(lane_bytes, rule.bank_bytes) : lane_bytes;

  Passes result;
  requests.for_each([&](exec::Mask lanes) {
    if (!(mask & lanes)) return;
    for (std::uint32_t skip = 0; skip < lane_bytes; skip += part) {
      const Needed one = needed(rule, offsets, mask & lanes, skip, part, service.kind);
      result.passes += one.best + word.extra;
      result.worst += one.worst + word.extra;
      result.fewest += 1;
      result.ways = std::max(result.ways, one.best + word.extra);
      result.worst_ways = std::max(result.worst_ways, one.worst + word.extra);
    }
  });
  return result;
}

} // namespace warplens::analyzers
