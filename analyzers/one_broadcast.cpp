// SPDX-License-Identifier: Apache-2.0
// A bank is a byte of a vector, so every step does the same to all banks. What its words are does not matter, only how
// many lanes ask for each: level k holds how many words of each bank more than k lanes ask for. One lane less of the
// most wanted word is then one less in the highest level that is not 0, and to be rid of a word that n lanes ask for is
// one less in each of the n lowest levels.
#include "analyzers/one_broadcast.hpp"

#include <algorithm>
#include <cstring>

namespace warplens::analyzers {

namespace {

using Banks = std::int8_t __attribute__((vector_size(16)));
using Unsigned = std::uint8_t __attribute__((vector_size(16)));
constexpr Banks kNumber = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

bool any(Banks v) {
  std::uint64_t half[2];
  std::memcpy(half, &v, sizeof half);
  return (half[0] | half[1]) != 0;
}

/// Each bank has the value of the one so far away.
template <int Distance> Unsigned exchanged(Unsigned v) {
  constexpr auto of = [](int bank) { return bank ^ Distance; };
  return __builtin_shufflevector(v, v, of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7), of(8), of(9), of(10),
                                 of(11), of(12), of(13), of(14), of(15));
}

/// Of all banks, what `pick` leaves of two.
template <class Pick> std::uint32_t folded(Unsigned v, Pick&& pick) {
  v = pick(v, exchanged<8>(v));
  v = pick(v, exchanged<4>(v));
  v = pick(v, exchanged<2>(v));
  v = pick(v, exchanged<1>(v));
  return v[0];
}
std::uint32_t smallest(Unsigned v) {
  return folded(v, [](Unsigned a, Unsigned b) { return a < b ? a : b; });
}
std::uint32_t largest(Banks v) {
  return folded(Unsigned(v), [](Unsigned a, Unsigned b) { return a < b ? b : a; });
}
std::uint32_t sum(Banks v) {
  return folded(Unsigned(v), [](Unsigned a, Unsigned b) { return a + b; });
}

class WordDemand {
public:
  WordDemand(std::span<const std::int32_t> words, std::int32_t last_bank) {
    // Banks are numbered from that of the first word on, so that moving an access moves nothing here.
    std::size_t level = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
      level = i != 0 && words[i] == words[i - 1] ? level + 1 : 0;
      levels_ = std::max(levels_, level + 1);
      ++level_[level][static_cast<std::size_t>((words[i] - words[0]) & last_bank)];
    }
  }

  [[nodiscard]] std::uint32_t best() const;
  /// Uses up the demand.
  [[nodiscard]] std::uint32_t worst();

  [[nodiscard]] std::uint32_t most_words() const { return largest(level_[0]); }
  [[nodiscard]] Banks lanes() const {
    Banks all{};
    for (std::size_t k = 0; k < levels_; ++k) all += level_[k];
    return all;
  }

private:
  std::size_t levels_ = 0;
  Banks level_[OneBroadcast::kMaxLanes]{};
};

/// The smallest number of passes k for which the banks together need at most k broadcasts, each of its most wanted
/// words.
std::uint32_t WordDemand::best() const {
  const std::uint32_t most = most_words();
  Banks wanted[OneBroadcast::kMaxLanes]; // the lanes of each bank's most wanted word, of the next one, …; less one
  for (std::uint32_t i = 0; i < most; ++i) {
    wanted[i] = Banks{} - 1;
    for (std::size_t k = 0; k < levels_; ++k) wanted[i] -= level_[k] > static_cast<std::int8_t>(i);
  }
  for (std::uint32_t passes = most;; ++passes) {
    Banks left = lanes(), broadcasts{};
    for (std::uint32_t i = 0; i < most; ++i) {
      const Banks over = left > static_cast<std::int8_t>(passes);
      broadcasts -= over;
      left -= over & wanted[i];
    }
    if (sum(broadcasts) <= passes) return passes;
  }
}

/// The word with the fewest lanes is broadcast, of the first bank that has one; every other bank serves a lane of its
/// most wanted word.
std::uint32_t WordDemand::worst() {
  for (std::uint32_t passes = 0;; ++passes) {
    while (levels_ > 1 && !any(level_[levels_ - 1])) --levels_;
    if (levels_ == 1) return passes + most_words(); // from here on, one word per bank and pass
    Banks fewest{};                                 // lanes of each bank's least wanted word
    for (std::size_t k = 0; k < levels_; ++k) fewest -= level_[k] == level_[0];
    const Banks none = level_[0] == 0;
    const std::uint32_t first = smallest(Unsigned(((fewest - 1) << 4 | kNumber) | none));
    const Banks broadcast = kNumber == static_cast<std::int8_t>(first & 15);
    Banks waiting = ~broadcast;
    for (std::size_t k = levels_; k-- > 0;) {
      const Banks served = waiting & (level_[k] > 0);
      level_[k] += served;
      waiting &= ~served;
      if (k <= first >> 4) level_[k] += broadcast;
    }
  }
}

} // namespace

OneBroadcast one_broadcast(std::span<const std::int32_t> words, std::int32_t last_bank) {
  WordDemand demand(words, last_bank);
  const std::uint32_t lanes = largest(demand.lanes());
  if (lanes == demand.most_words()) return {lanes, lanes}; // no broadcast helps the fullest bank
  const std::uint32_t best = demand.best();
  return {best, std::max(best, demand.worst())};
}

} // namespace warplens::analyzers
