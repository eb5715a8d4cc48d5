// SPDX-License-Identifier: Apache-2.0
// Reuse distance: the number of distinct 128-byte lines of global memory that a block accesses between two accesses to
// the same line. In a fully associative LRU cache of n lines, exactly the accesses with a distance below n hit: one
// histogram gives the hit rates of caches of every size.
//
//   lines A B C A   ->   three that are new, and one of distance 2
//
// Each block is considered alone, its warps in the order of streams.hpp. Loads, stores and atomics count equally.
// The distances are computed with partial sums over the times of last uses (Bennett and Kruskal 1975; Almási, Caşcaval
// and Padua 2002), which are stored as bits that are counted 64 at a time, with sums over pages.
#pragma once

#include "analyzers/key_index.hpp"
#include "analyzers/streams.hpp"

#include <array>

namespace warplens::analyzers {

class ReuseDistance final : public StreamAnalyzer {
public:
  static constexpr AnalyzerInfo kInfo = {"reuse_distance", "Reuse distance",
                                         "lines that a block accesses between two accesses to the same line",
                                         Cost::by_name};
  ReuseDistance(std::size_t instructions, const exec::LaunchShape& shape, const Board& board)
      : StreamAnalyzer(kInfo, instructions, shape, board), rows_(instructions + 1) {}

  void study(const Streams& streams) override;
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;

  /// By instruction: uses of lines.
  struct Row {
    std::uint64_t first = 0;   ///< of lines that are new
    std::uint64_t again = 0;   ///< of others …
    std::uint64_t between = 0; ///< … and their distances, summed
    void add(const Row& other);
    [[nodiscard]] bool any() const { return first + again != 0; }
  };

private:
  /// Distances 0, 1, 2 to 3, 4 to 7, …
  static constexpr std::size_t kBuckets = 33;
  std::vector<Row> rows_;
  std::array<std::uint64_t, kBuckets> histogram_{};
  Streams::Recorded recorded_;
};

/// The distances of a sequence of lines, one after the other.
class StackDistance {
public:
  /// The number of distinct lines since the last use of this line; none if it is new.
  std::optional<std::uint64_t> use(std::uint64_t line);
  /// Starts a new sequence.
  void clear();

private:
  static constexpr std::size_t kWord = 64, kPage = 64 * kWord; ///< times
  /// The number of last uses at times in [begin, end).
  [[nodiscard]] std::uint64_t between(std::size_t begin, std::size_t end) const;

  std::vector<std::uint64_t> last_uses_; ///< a bit for each time: whether it is the last use of a line
  std::vector<std::uint32_t> pages_;     ///< how many of them in each kPage times
  KeyIndex<std::uint64_t> lines_;
  std::vector<std::size_t> last_use_; ///< of each line
  std::size_t now_ = 0;
};

} // namespace warplens::analyzers
