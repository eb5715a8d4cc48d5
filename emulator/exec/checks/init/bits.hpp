// SPDX-License-Identifier: Apache-2.0
// Ranges of bits in words: bit i stands for byte i, and is set while nobody has written the byte.
//
//   std::uint64_t words[2] = {~0, ~0};   clear_bits(words, 60, 8) == 8;   any_bit(words, 62, 2) == false
#pragma once

#include <algorithm>
#include <cstdint>

namespace warplens::exec::init {

/// Calls `each` with every word that holds bits of [first, first + count), and the mask of these bits.
template <class Word, class Each>
inline void each_word(Word* words, std::uint64_t first, std::uint64_t count, Each each) {
  while (count != 0) {
    const std::uint64_t shift = first % 64, here = std::min(count, 64 - shift);
    each(words[first / 64], (here == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1) << shift);
    first += here;
    count -= here;
  }
}

inline bool any_bit(const std::uint64_t* words, std::uint64_t first, std::uint64_t count) {
  std::uint64_t found = 0;
  each_word(words, first, count, [&](std::uint64_t word, std::uint64_t mask) { found |= word & mask; });
  return found != 0;
}

inline bool bit(const std::uint64_t* words, std::uint64_t i) { return (words[i / 64] >> i % 64 & 1) != 0; }

/// Both return how many bits they change.
inline std::uint64_t clear_bits(std::uint64_t* words, std::uint64_t first, std::uint64_t count) {
  std::uint64_t changed = 0;
  each_word(words, first, count, [&](std::uint64_t& word, std::uint64_t mask) {
    changed += static_cast<std::uint64_t>(__builtin_popcountll(word & mask));
    word &= ~mask;
  });
  return changed;
}
inline std::uint64_t set_bits(std::uint64_t* words, std::uint64_t first, std::uint64_t count) {
  std::uint64_t changed = 0;
  each_word(words, first, count, [&](std::uint64_t& word, std::uint64_t mask) {
    changed += static_cast<std::uint64_t>(__builtin_popcountll(~word & mask));
    word |= mask;
  });
  return changed;
}

} // namespace warplens::exec::init
