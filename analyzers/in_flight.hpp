// SPDX-License-Identifier: Apache-2.0
// Sectors that are on their way. Warps run side by side, so those that load the same sector in the same round wait as
// long as the one that fetches it, although the cache of their multiprocessor has its line already.
//
//   8 warps of a block load line 7 in round 3:  one misses, 7 hit what is in flight, all wait
//   so do those of other multiprocessors; who loads it in round 4 finds it in the first or in the second level
#pragma once

#include "analyzers/cache.hpp"
#include "analyzers/key_index.hpp"
#include "analyzers/line_use.hpp"

#include <utility>
#include <vector>

namespace warplens::analyzers {

class InFlight {
public:
  /// What follows happens in a round of a wave.
  void begin(std::uint64_t wave, std::uint64_t round) {
    const std::pair now(wave, round);
    if (now == now_) return;
    now_ = now;
    ++time_;
    fetched_.clear();
    fetched_sectors_.clear();
  }

  /// Of the sectors that hit the first level of a multiprocessor, those that it fetches in this round.
  std::uint32_t hits(std::uint32_t multiprocessor, std::uint64_t line, const Cache::Outcome& o) {
    const Place place{line, multiprocessor};
    if (o.missed == 0) {
      const std::optional<std::uint32_t> known = fetched_.find(place);
      return known ? o.hit & fetched_sectors_[*known] : 0;
    }
    const auto [number, is_new] = fetched_.of(place);
    if (is_new) fetched_sectors_.push_back(0);
    const std::uint32_t hits = o.hit & fetched_sectors_[number];
    fetched_sectors_[number] |= o.missed;
    return hits;
  }

  void expect(std::uint32_t multiprocessor, std::uint64_t line) const {
    lines_.expect(line);
    fetched_.expect({line, multiprocessor});
  }

  /// Of the sectors that an access of any multiprocessor needs, those that come from memory: none accessed them in an
  /// earlier round, nor the other sector of the same 64 bytes, which memory delivers together.
  std::uint32_t first_accesses(const LineUse& use) {
    const auto [number, is_new] = lines_.of(use.line());
    if (is_new) line_sectors_.emplace_back();
    Line& line = line_sectors_[number];
    if (line.time != time_) line = {time_, static_cast<std::uint8_t>(line.before | line.now), 0};
    line.now |= with_other_half(use.sectors());
    return use.sectors() & ~std::uint32_t{line.before};
  }

private:
  /// Sectors and those beside them.
  static std::uint8_t with_other_half(std::uint32_t sectors) {
    return static_cast<std::uint8_t>(sectors | (sectors & 0b0101) << 1 | (sectors & 0b1010) >> 1);
  }
  struct Place {
    std::uint64_t line;
    std::uint32_t multiprocessor;
    friend bool operator==(const Place&, const Place&) = default;
    friend std::uint64_t hash_of(const Place& place) {
      return analyzers::hash_of(place.line * 1024 + place.multiprocessor);
    }
  };
  struct Line {
    std::uint32_t time = 0;
    std::uint8_t before = 0, now = 0; ///< sectors fetched before `time`, and then
  };

  std::pair<std::uint64_t, std::uint64_t> now_{~std::uint64_t{0}, 0}; ///< wave and round
  std::uint32_t time_ = 0;
  KeyIndex<Place> fetched_;
  std::vector<std::uint32_t> fetched_sectors_; ///< by number in `fetched_`
  KeyIndex<std::uint64_t> lines_;
  std::vector<Line> line_sectors_; ///< by number in `lines_`
};

} // namespace warplens::analyzers
