// Which 32-byte sectors a warp access touches, and for which lanes: computed once, then every coalescing rule reads its
// transactions off it. Gives the same counts as the word-for-word engine of coalescing.hpp, twenty times as fast.
//
//   Footprint footprint(addresses, mask, 4);              // 32 lanes of 4 bytes, 8 bytes apart, from 0 on
//   footprint.sectors() == 8, footprint.distinct_addresses() == 32
//   FastRule(*find_coalescing_rule("1.2")).transactions(footprint) == {128: 2}
#pragma once

#include "analyzers/coalescing.hpp"

#include <bit>
#include <span>

namespace warplens::analyzers {

/// One warp access, reduced to 128-byte lines.
class Footprint {
public:
  struct Line {
    std::uint64_t number;         ///< address / kLineBytes
    std::uint32_t sectors;        ///< four bits (one per 32 bytes) for lanes 0-7, four for lanes 8-15, …
    std::uint64_t first_bytes[2]; ///< bit i: some lane's access starts at byte i of the line
  };

  /// `lane_bytes` from 1 to 128; more counts as 128. `mask` may be 0.
  Footprint(const std::uint64_t* addresses, exec::Mask mask, std::uint32_t lane_bytes);

  [[nodiscard]] std::span<const Line> lines() const { return {lines_, count_}; }
  /// Distinct 32-byte sectors of the whole warp.
  [[nodiscard]] std::uint32_t sectors() const;
  /// Lanes minus those that ask for an address that a lower lane has asked for.
  [[nodiscard]] std::uint32_t distinct_addresses() const { return distinct_; }
  /// Whether some lane touches two sectors: wide or misaligned words.
  [[nodiscard]] bool lanes_span_sectors() const { return spanning_; }

  const std::uint64_t* addresses; ///< as given to the constructor
  exec::Mask mask;
  std::uint32_t lane_bytes;

private:
  static constexpr std::uint32_t kMaxLines = 64; // a lane touches at most two
  static constexpr std::uint32_t kSlots = 256;   // sparse: a collision costs a mispredicted branch
  static constexpr std::uint8_t kEmpty = 0xff;

  Line& line(std::uint64_t number);
  void add_further_sectors(Line& used, std::uint32_t offset, std::uint32_t quarter);

  std::uint32_t count_ = 0;
  std::uint32_t distinct_ = 0;
  bool spanning_ = false;
  std::uint8_t slots_[kSlots]; // open addressing by line number
  Line lines_[kMaxLines];
};

/// A coalescing rule prepared for footprints.
class FastRule {
public:
  explicit FastRule(const CoalescingRule& rule);
  [[nodiscard]] Transactions transactions(const Footprint& footprint) const;

private:
  /// Transactions of the 16 ways to use the sectors of a line: of 32 bytes in bits 0-9, 64 in 10-19, 128 in 20-29.
  struct Table {
    std::uint32_t bytes, lanes, segment;
    std::array<std::uint32_t, 16> packed;
  };
  [[nodiscard]] const Table* table(std::uint32_t bytes) const;
  [[nodiscard]] Transactions in_order(const Footprint& footprint) const;

  std::array<Table, 6> tables_{}; // for 1, 2, 4, … 32 bytes
  std::array<bool, 6> listed_{};
  CoalescingRule::Order order_;
  std::uint32_t smallest_;
  std::uint32_t smallest_shift_;
};

} // namespace warplens::analyzers
