// Passes over banks of which each pass serves all lanes of one word, the broadcast, and one lane of every other bank:
// compute capability 1.x. Which word is broadcast is unspecified (guide 2.0, section 5.1.2.5). Gives the same counts as
// passes() of banks.hpp, a dozen times as fast.
//
//   words 0, 0, 16, 16 and 16 banks: two words of two lanes, in bank 0
//   one_broadcast(words, 15) == {2, 2}: one word a pass, as whichever is broadcast all its lanes are served
#pragma once

#include <cstdint>
#include <span>

namespace warplens::analyzers {

struct OneBroadcast {
  std::uint32_t best = 0, worst = 0;
  static constexpr std::size_t kMaxLanes = 16; ///< of a request
  static constexpr std::int32_t kMaxBanks = 16;
};

/// `words`: what each lane of a request asks for, ascending; the bank of a word is `word & last_bank`.
OneBroadcast one_broadcast(std::span<const std::int32_t> words, std::int32_t last_bank);

} // namespace warplens::analyzers
