// SPDX-License-Identifier: Apache-2.0
// How often control passes from one block to another, from the visits of the blocks.
#include "analyzers/edge_counts.hpp"

#include <gtest/gtest.h>

#include <map>

namespace warplens::analyzers {
namespace edge_counts_test {

using Times = std::map<std::pair<std::uint32_t, std::uint32_t>, double>; ///< of the edges that are taken

Times taken(const std::vector<std::vector<std::uint32_t>>& successors, const std::vector<double>& visits) {
  Times times;
  const std::vector<std::vector<EdgeInto>> into = edges_taken(successors, visits);
  for (std::uint32_t to = 0; to < into.size(); ++to)
    for (const EdgeInto& edge : into[to]) times[{edge.from, to}] += edge.times;
  return times;
}

TEST(EdgeCounts, ABranchThatIsNotTakenIsNoEdge) {
  EXPECT_EQ(taken({{1, 2}, {2}, {}}, {8, 8, 8}), (Times{{{0, 1}, 8}, {{1, 2}, 8}}));
  EXPECT_EQ(taken({{1, 2}, {2}, {}}, {8, 3, 8}), (Times{{{0, 1}, 3}, {{0, 2}, 5}, {{1, 2}, 3}}));
  EXPECT_EQ(taken({{1, 2}, {2}, {}}, {8, 0, 8}), (Times{{{0, 2}, 8}}));
}

// A loop that some warps skip: block 1 leads to it, block 3 follows it, block 4 is behind both.
TEST(EdgeCounts, LoopsAreEnteredAndTurn) {
  EXPECT_EQ(taken({{1, 4}, {2}, {2, 3}, {4}, {}}, {8, 6, 60, 6, 8}),
            (Times{{{0, 1}, 6}, {{0, 4}, 2}, {{1, 2}, 6}, {{2, 2}, 54}, {{2, 3}, 6}, {{3, 4}, 6}}));
}

TEST(EdgeCounts, WarpsThatDivergeVisitOneSideAfterTheOther) {
  EXPECT_EQ(taken({{1, 2}, {3}, {3}, {}}, {8, 8, 8, 8}), (Times{{{0, 1}, 8}, {{1, 2}, 8}, {{2, 3}, 8}}));
  // Six of eight diverge, one visits the first side only, and one the second side.
  EXPECT_EQ(taken({{1, 2}, {3}, {3}, {}}, {8, 7, 7, 8}),
            (Times{{{0, 1}, 7}, {{0, 2}, 1}, {{1, 2}, 6}, {{1, 3}, 1}, {{2, 3}, 7}}));
}

TEST(EdgeCounts, TheRarerBlockWhereTheVisitsLeaveItOpen) {
  // Both of the blocks 1 and 2 lead to both of 3 and 4.
  const Times times = taken({{1, 2}, {3, 4}, {3, 4}, {}, {}}, {8, 5, 3, 6, 2});
  EXPECT_EQ(times.at({0, 1}), 5);
  EXPECT_EQ(times.at({1, 3}), 5);
  EXPECT_EQ(times.at({2, 4}), 2);
}

TEST(EdgeCounts, NothingOfNoBlocks) { EXPECT_TRUE(edges_taken({}, {}).empty()); }

} // namespace edge_counts_test
} // namespace warplens::analyzers
