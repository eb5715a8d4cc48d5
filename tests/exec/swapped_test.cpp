// SPDX-License-Identifier: Apache-2.0
// Words that compare-and-swaps update: sums, in any number of parts, and after they were sent to another process.
#include "emulator/exec/block/swapped.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace warplens::exec {
namespace swapped_test {

/// Blocks of four warps: warp w updates word 0 once, and word 4 * (1 + w) ten times in a row; warp 3 of the last block
/// updates word 1024, a kilobyte further, 30 times.
std::vector<SwappedWords> parts(std::size_t count) {
  constexpr std::uint64_t kBlocks = 6, kBase = 4096;
  std::vector<SwappedWords> all(count);
  for (std::uint64_t cta = 0; cta < kBlocks; ++cta)
    for (std::uint32_t warp = 0; warp < 4; ++warp) {
      SwappedWords& part = all[cta % count];
      part.add({cta, warp}, kBase);
      for (int i = 0; i < 10; ++i) part.add({cta, warp}, kBase + 4 * (1 + warp));
      for (int i = 0; warp == 3 && cta == kBlocks - 1 && i < 30; ++i) part.add({cta, warp}, kBase + 1024);
    }
  return all;
}

void expect_counts(const SwappedWords& words) {
  const Swaps counted = words.count();
  EXPECT_EQ(counted.of_other_warps, 50u); // of the 60 of a word; of the 30 of word 1024, none
  EXPECT_EQ(counted.all, 24u * 11 + 30);
  EXPECT_EQ(counted.pairs, 24u * 23 + 4 * 60 * 59);
}

TEST(SwappedWords, AreSummedOverTheParts) {
  for (const std::size_t count : {1, 2, 6}) {
    std::vector<SwappedWords> all = parts(count);
    for (std::size_t i = 1; i < count; ++i) all[0].merge(all[i]);
    expect_counts(all[0]);
  }
  EXPECT_EQ(SwappedWords{}.count().pairs, 0u);
}

TEST(SwappedWords, AreTheSameInAnotherProcess) {
  Archive out;
  SwappedWords sent = parts(1)[0], received;
  out(sent);
  const std::vector<std::byte> bytes = out.take();
  Archive in(bytes);
  in(received);
  EXPECT_TRUE(in.good() && !in.more());
  expect_counts(received);
}

// An allocation may begin at any multiple of 256 bytes.
TEST(SwappedWords, AKilobyteMayBeginAnywhere) {
  SwappedWords words;
  for (const std::uint64_t address : {768, 1536})
    for (std::uint64_t cta = 0; cta < 3; ++cta) words.add({cta, 0}, address);
  EXPECT_EQ(words.count().pairs, 12u);
}

} // namespace swapped_test
} // namespace warplens::exec
