#include "analyzers/footprint.hpp"

#include <algorithm>
#include <cstring>

namespace warplens::analyzers {

namespace {

constexpr std::uint32_t kSectorShift = 5;
constexpr std::uint32_t kSectorBytes = 1u << kSectorShift;
constexpr std::uint32_t kLineShift = 7;
constexpr std::array<std::uint8_t, 16> kBits = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

/// The sectors of a line that one request uses, given the lanes that make up a request.
constexpr std::uint32_t quarters_together(std::uint32_t sectors) {
  return (sectors | sectors >> 4 | sectors >> 8 | sectors >> 12) & 15;
}

Transactions unpack(std::uint32_t packed) {
  Transactions result;
  result.count = {packed & 1023, packed >> 10 & 1023, packed >> 20 & 1023};
  return result;
}

} // namespace

inline Footprint::Line& Footprint::line(std::uint64_t number) {
  static_assert(kSlots == 256);
  auto slot = static_cast<std::uint8_t>(number * 0x9E3779B97F4A7C15ull >> 56);
  while (slots_[slot] != kEmpty) {
    Line& used = lines_[slots_[slot]];
    if (used.number == number) return used;
    ++slot; // wraps around
  }
  slots_[slot] = static_cast<std::uint8_t>(count_);
  Line& fresh = lines_[count_++];
  fresh = {number, 0, {0, 0}};
  return fresh;
}

Footprint::Footprint(const std::uint64_t* lane_addresses, exec::Mask lanes, std::uint32_t bytes)
    : addresses(lane_addresses), mask(lanes), lane_bytes(std::clamp(bytes, 1u, kLineBytes)) {
  std::memset(slots_, kEmpty, sizeof slots_);
  for (std::uint32_t lane = 0; lane < exec::kWarpSize; ++lane) {
    if (!(mask >> lane & 1)) continue;
    const std::uint64_t address = addresses[lane];
    const std::uint32_t quarter = (lane & 24) / 2; // lane / 8 * 4
    Line& used = line(address >> kLineShift);

    const auto offset = static_cast<std::uint32_t>(address & (kLineBytes - 1));
    const std::uint64_t bit = std::uint64_t{1} << (offset & 63);
    std::uint64_t& first_bytes = used.first_bytes[offset >> 6];
    distinct_ += (first_bytes & bit) == 0;
    first_bytes |= bit;

    used.sectors |= 1u << ((offset >> kSectorShift) + quarter);
    if ((offset & (kSectorBytes - 1)) + lane_bytes > kSectorBytes) add_further_sectors(used, offset, quarter);
  }
}

void Footprint::add_further_sectors(Line& used, std::uint32_t offset, std::uint32_t quarter) {
  spanning_ = true;
  const std::uint32_t first = offset >> kSectorShift;
  const std::uint32_t last = (offset + lane_bytes - 1) >> kSectorShift; // up to 7: the next line's
  const std::uint32_t sectors = (2u << last) - (1u << first);
  used.sectors |= (sectors & 15) << quarter;
  if (last > 3) line(used.number + 1).sectors |= (sectors >> 4) << quarter;
}

std::uint32_t Footprint::sectors() const {
  std::uint32_t total = 0;
  for (const Line& used : lines()) total += kBits[quarters_together(used.sectors)];
  return total;
}

namespace {

/// What the rule makes of one request's sectors of one line.
std::uint32_t packed_transactions(std::uint32_t sectors, std::uint32_t segment, std::uint32_t smallest, bool shrink) {
  std::uint32_t packed = 0;
  for (std::uint32_t start = 0; start < kLineBytes; start += segment) {
    std::uint32_t low = start, bytes = segment;
    const auto used = [&](std::uint32_t from, std::uint32_t size) {
      const std::uint32_t all = (1u << (size >> kSectorShift)) - 1;
      return (sectors >> (from >> kSectorShift) & all) != 0;
    };
    if (!used(low, bytes)) continue;
    while (shrink && bytes > smallest && used(low, bytes / 2) != used(low + bytes / 2, bytes / 2)) {
      if (!used(low, bytes / 2)) low += bytes / 2;
      bytes /= 2;
    }
    packed += bytes == 32 ? 1u : bytes == 64 ? 1u << 10 : 1u << 20;
  }
  return packed;
}

} // namespace

FastRule::FastRule(const CoalescingRule& rule)
    : order_(rule.order), smallest_(rule.smallest),
      smallest_shift_(static_cast<std::uint32_t>(std::countr_zero(rule.smallest))) {
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const WordClass* word = rule.word(1u << i);
    if (!word) continue;
    listed_[i] = true;
    tables_[i].bytes = word->bytes;
    tables_[i].lanes = word->lanes;
    tables_[i].segment = word->segment;
    for (std::uint32_t sectors = 0; sectors < 16; ++sectors)
      tables_[i].packed[sectors] = packed_transactions(sectors, word->segment, smallest_, rule.shrink);
  }
}

const FastRule::Table* FastRule::table(std::uint32_t bytes) const {
  const auto log = static_cast<std::size_t>(std::bit_width(bytes) - 1);
  const std::size_t i = std::min(log, tables_.size() - 1);
  if (order_ == CoalescingRule::Order::kth_word) return listed_[i] && tables_[i].bytes == bytes ? &tables_[i] : nullptr;
  return &tables_[i];
}

Transactions FastRule::transactions(const Footprint& footprint) const {
  if (order_ == CoalescingRule::Order::kth_word) return in_order(footprint);
  const Table& rule = *table(footprint.lane_bytes);
  std::uint32_t packed = 0;
  if (rule.lanes == 32) {
    for (const Footprint::Line& line : footprint.lines()) packed += rule.packed[quarters_together(line.sectors)];
  } else if (rule.lanes == 16) {
    for (const Footprint::Line& line : footprint.lines()) {
      const std::uint32_t halves = line.sectors | line.sectors >> 4;
      packed += rule.packed[halves & 15] + rule.packed[halves >> 8 & 15];
    }
  } else {
    for (const Footprint::Line& line : footprint.lines())
      for (std::uint32_t quarter = 0; quarter < 16; quarter += 4) packed += rule.packed[line.sectors >> quarter & 15];
  }
  return unpack(packed);
}

Transactions FastRule::in_order(const Footprint& footprint) const {
  Transactions result;
  const Table* rule = table(footprint.lane_bytes);
  const std::uint32_t lanes = rule ? rule->lanes : exec::kWarpSize;
  const auto alone = [&](std::uint64_t address) {
    const std::uint64_t last = address + footprint.lane_bytes - 1;
    return static_cast<std::uint32_t>((last >> smallest_shift_) - (address >> smallest_shift_) + 1);
  };
  for (std::uint32_t start = 0; start < exec::kWarpSize; start += lanes) {
    const auto part = footprint.mask & static_cast<exec::Mask>(((std::uint64_t{1} << lanes) - 1) << start);
    if (!part) continue;
    bool ordered = rule != nullptr;
    if (ordered) {
      const auto first = static_cast<std::uint32_t>(std::countr_zero(part));
      const std::uint64_t base = footprint.addresses[first] - (first - start) * std::uint64_t{rule->bytes};
      ordered = (base & (rule->segment - 1)) == 0;
      for (exec::Mask rest = part; ordered && rest; rest &= rest - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
        ordered = footprint.addresses[lane] == base + (lane - start) * std::uint64_t{rule->bytes};
      }
    }
    if (ordered) {
      result.count[rule->segment == 32 ? 0 : rule->segment == 64 ? 1 : 2] += lanes * rule->bytes / rule->segment;
      continue;
    }
    auto count = static_cast<std::uint32_t>(std::popcount(part));
    if (footprint.lanes_span_sectors()) {
      count = 0;
      for (exec::Mask rest = part; rest; rest &= rest - 1) count += alone(footprint.addresses[std::countr_zero(rest)]);
    }
    result.count[smallest_ == 32 ? 0 : smallest_ == 64 ? 1 : 2] += count;
    result.uncoalesced += count;
  }
  return result;
}

} // namespace warplens::analyzers
