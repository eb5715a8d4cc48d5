// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/block/swapped.hpp"

#include <algorithm>
#include <map>

namespace warplens::exec {

void SwappedWords::add(WarpId warp, std::uint64_t address) {
  Word& word = words_[address];
  if (word.last.cta != warp.cta || word.last.warp != warp.warp) word.of_warp = 0;
  word.last = warp;
  ++word.updates;
  word.most_of_warp = std::max(word.most_of_warp, ++word.of_warp);
}

void SwappedWords::merge(const SwappedWords& other) {
  for (const auto& [address, from] : other.words_) {
    Word& to = words_[address];
    to.updates += from.updates;
    to.most_of_warp = std::max(to.most_of_warp, from.most_of_warp);
  }
}

Swaps SwappedWords::count() const {
  constexpr std::uint64_t kQuarter = 256, kQuarters = 4; // a kilobyte may begin where an allocation does
  Swaps result;
  std::map<std::uint64_t, std::uint64_t> pairs; ///< by quarter of a kilobyte
  for (const auto& [address, word] : words_) {
    result.of_other_warps = std::max(result.of_other_warps, word.updates - word.most_of_warp);
    result.all += word.updates;
    if (word.updates > 1) pairs[address / kQuarter] += word.updates * (word.updates - 1);
  }
  for (auto first = pairs.begin(); first != pairs.end(); ++first) {
    std::uint64_t sum = 0;
    for (auto i = first; i != pairs.end() && i->first < first->first + kQuarters; ++i) sum += i->second;
    result.pairs = std::max(result.pairs, sum);
  }
  return result;
}

void SwappedWords::fields(Archive& a) {
  std::map<std::uint64_t, Word> sorted(words_.begin(), words_.end());
  a(sorted);
  if (a.reads()) words_ = {sorted.begin(), sorted.end()};
}

} // namespace warplens::exec
