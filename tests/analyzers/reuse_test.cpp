// SPDX-License-Identifier: Apache-2.0
// Reuse distances and duplicate loads, computed by hand.
#include "analyzers/duplicate_loads.hpp"
#include "analyzers/reuse_distance.hpp"
#include "tests/analyzers/warp_streams.hpp"

#include <gtest/gtest.h>

#include <list>
#include <random>

namespace warplens::analyzers {
namespace reuse_test {

using testing::number;
using testing::WarpAccess;
using testing::WarpStreams;

TEST(StackDistance, IsThatOfAStack) {
  std::mt19937 random(7);
  StackDistance tree;
  tree.use(3);
  tree.clear();
  std::list<std::uint64_t> stack;            // most recently used first
  for (std::size_t i = 0; i < 20'000; ++i) { // some distances are longer than a page of times
    const std::uint64_t line = i % 100 == 0 ? i / 5000 : 4 + random() % (i < 1000 ? 20 : 500);
    const auto at = std::find(stack.begin(), stack.end(), line);
    const std::optional<std::uint64_t> distance = tree.use(line);
    ASSERT_EQ(distance.has_value(), at != stack.end());
    if (distance) {
      ASSERT_EQ(*distance, static_cast<std::uint64_t>(std::distance(stack.begin(), at)));
      stack.erase(at);
    }
    stack.push_front(line);
  }
}

TEST(ReuseDistance, OfABlock) {
  ReuseDistance reuse(2, {.grid = {2, 1, 1}, .block = {64, 1, 1}}, {});
  WarpStreams warps(reuse, 2);
  for (const std::uint64_t line : {0, 1, 2, 0, 0}) warps.load(0, 0, line * 128); // distances 2 and 0 …
  for (const std::uint64_t line : {7, 1}) warps.store(0, 1, line * 128);
  // … but for the other warp's turns: 0 7 1 1' 2 0 0, where 1' is the store: 0, and 2 becomes 3.
  warps.load(1, 0, 0); // another block starts anew
  const Metrics m = warps.finish();
  EXPECT_EQ(m.integer("reuse_first_uses"), 5u);
  EXPECT_EQ(m.integer("reuse_again"), 3u);
  EXPECT_EQ(m.integer("reuse_distance_0"), 2u);
  EXPECT_EQ(m.integer("reuse_distance_2_to_3"), 1u);
  EXPECT_EQ(m.find("reuse_distance_1"), nullptr);
  EXPECT_DOUBLE_EQ(number(m, "reuse_distance_mean"), 1);
  EXPECT_EQ(warps.rows[1].metrics.integer("reuse_again"), 1u);
}

// float data = FloatArray[blockIdx.x + threadIdx.x % 32], with the blocks 128 bytes apart (Dasgupta 2011, page 22).
TEST(DuplicateLoads, AllWarpsOfABlock) {
  for (const std::uint32_t warps_of_block : {1u, 2u, 8u}) {
    const exec::LaunchShape shape{.grid = {4, 1, 1}, .block = {32 * warps_of_block, 1, 1}};
    DuplicateLoads duplicates(1, shape, {.multiprocessors = 2, .resident_ctas = 2});
    WarpStreams warps(duplicates, 3);
    for (std::uint64_t cta = 0; cta < 4; ++cta)
      for (std::uint32_t w = 0; w < warps_of_block; ++w) warps.load(cta, w, 128 * cta);
    const Metrics m = warps.finish();
    EXPECT_DOUBLE_EQ(number(m, "duplicate_loads_in_block"), warps_of_block);
    EXPECT_DOUBLE_EQ(number(m, "duplicate_loads"), warps_of_block);
    EXPECT_EQ(m.integer("load_sectors_requested"), 4u * 4 * warps_of_block);
  }
}

TEST(DuplicateLoads, BlocksThatAreOnAMultiprocessorTogether) {
  DuplicateLoads duplicates(1, {.grid = {8, 1, 1}}, {.multiprocessors = 2, .resident_ctas = 2});
  WarpStreams warps(duplicates, 2);
  for (std::uint64_t cta = 0; cta < 8; ++cta) warps.load(cta, 0, 0); // all blocks the same
  const Metrics m = warps.finish();
  EXPECT_DOUBLE_EQ(number(m, "duplicate_loads_in_block"), 1);
  EXPECT_DOUBLE_EQ(number(m, "duplicate_loads"), 2); // of two blocks at a time
}

TEST(DuplicateLoads, SameDynamicInstanceOnly) {
  DuplicateLoads duplicates(3, {.block = {64, 1, 1}}, {});
  WarpStreams warps(duplicates);
  // Two warps run through the same lines, one a step ahead: never the same at a time.
  for (std::uint64_t i = 0; i < 4; ++i) {
    warps.load(0, 0, 128 * i);
    warps.load(0, 1, 128 * (i + 1));
  }
  // The same data by another instruction, and by a store: neither counts.
  warps.load(0, 1, 0, 4, exec::AccessKind::load, 2);
  warps.store(0, 1, 0);
  const Metrics m = warps.finish();
  EXPECT_DOUBLE_EQ(number(m, "duplicate_loads"), 1);
  EXPECT_EQ(m.integer("load_sectors_requested"), 36u);
}

TEST(DuplicateLoads, PartsOfALine) {
  DuplicateLoads duplicates(1, {.block = {64, 1, 1}}, {});
  WarpStreams warps(duplicates);
  warps.access(0, 0, WarpAccess(0xffff, 4, [](int lane) { return 4 * lane; }));      // sectors 0, 1
  warps.access(0, 1, WarpAccess(0xffff, 4, [](int lane) { return 32 + 4 * lane; })); // 1, 2
  EXPECT_DOUBLE_EQ(number(warps.finish(), "duplicate_loads"), 4.0 / 3);
}

} // namespace reuse_test
} // namespace warplens::analyzers
