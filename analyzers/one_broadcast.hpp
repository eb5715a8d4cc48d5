// SPDX-License-Identifier: Apache-2.0
// Passes over the banks of compute capability 1.x: each pass serves all lanes of one word, the broadcast, and one lane
// of every other bank. The choice of the broadcast word is unspecified (guide 2.0, section 5.1.2.5). Computes the same
// counts as passes() of banks.hpp, a dozen times as fast.
//
//   words 0, 0, 16, 16 and 16 banks: two words of two lanes, in bank 0
//   one_broadcast(words, 15) == {2, 2}: one word per pass, because all lanes of the broadcast word are served
#pragma once

#include <cstdint>
#include <span>

namespace warplens::analyzers {

struct OneBroadcast {
  std::uint32_t best = 0, worst = 0;
  static constexpr std::size_t kMaxLanes = 16; ///< of a request
  static constexpr std::int32_t kMaxBanks = 16;
};

/// `words`: the word that each lane of a request accesses, ascending; the bank of a word is `word & last_bank`.
OneBroadcast one_broadcast(std::span<const std::int32_t> words, std::int32_t last_bank);

} // namespace warplens::analyzers
