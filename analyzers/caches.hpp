// SPDX-License-Identifier: Apache-2.0
// The caches of Fermi and later: how many accesses to global and local memory hit in the first-level cache of their
// multiprocessor or in the second-level cache, how many go to device memory, and how many evicted sectors are fetched
// again.
//
//   a warp loads 128 bytes twice: 4 sectors miss in both levels, then 4 hit in the first
//
// The accesses have the order of streams.hpp. Loads look up the first level if the board enables it for them. The board
// also defines the effect of stores there, separately for global and local memory: they update, allocate or evict the
// line and write through, or write back when the line is evicted. Atomics evict the line and execute in the second
// level, which is a write-back cache. Accesses take no time: each finds the state that all previous ones have left.
//
// The sample, which costs little, covers only the first level of one multiprocessor, in two waves of blocks, each of
// which finds it empty.
#pragma once

#include "analyzers/cache.hpp"
#include "analyzers/streams.hpp"

namespace warplens::analyzers {

class Caches final : public StreamAnalyzer {
public:
  static constexpr AnalyzerInfo kInfo = {
      "caches", "Caches",
      "hits, misses and evictions of both levels; unless requested by name, hits of one first-level cache"};
  enum class Coverage : std::uint8_t { whole, sample };
  Caches(std::size_t instructions, const exec::LaunchShape& shape, const Board& board,
         Coverage coverage = Coverage::whole)
      : StreamAnalyzer(kInfo, instructions, shape, board), coverage_(coverage), rows_(instructions + 1) {}

  void study(const Streams& streams) override;
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;

  /// Lookups in a first-level cache.
  struct Lookups {
    std::uint64_t hit = 0, missed = 0;             ///< sectors
    std::uint64_t lines_hit = 0, lines_missed = 0; ///< requests for 128-byte lines that hit completely, or not
    [[nodiscard]] std::uint64_t all() const { return hit + missed; }
    void add(const Lookups& other);
  };
  /// Of one instruction.
  struct Row {
    Lookups loads; ///< of global memory
    Lookups local_loads, local_stores;
    std::uint64_t in_flight = 0;                         ///< sectors that hit while they were fetched for another warp
    std::uint64_t l1_again = 0;                          ///< load sectors that missed although they were cached before
    std::uint64_t l2_read = 0, l2_hit = 0, l2_again = 0; ///< sectors of loads, including those fetched with them
    std::uint64_t l2_written = 0;                        ///< sectors
    void add(const Row& other);
    [[nodiscard]] std::uint64_t l1_loads() const { return loads.all() + local_loads.all(); } ///< sectors
    [[nodiscard]] bool empty() const;
  };

  /// Of the launch.
  struct Totals {
    std::uint64_t l1_evicted = 0, l2_evicted = 0;  ///< lines
    std::uint64_t dram_read = 0, dram_written = 0; ///< sectors
    /// Of the first wave: sectors for which loads wait, and those of them that nobody accessed before.
    std::uint64_t waits = 0, first_accesses = 0;
  };

private:
  Coverage coverage_;
  std::vector<Row> rows_;
  std::vector<Row> first_wave_; ///< its part of them, if later waves stand for more than themselves
  double weight_of_later_ = 1;  ///< how many waves of the launch each later one that was recorded stands for
  Totals totals_;
  std::uint64_t looked_at_ = 0, all_ = 0; ///< accesses covered, and those of the whole launch
  bool present_ = false;                  ///< whether the board has the covered caches
};

} // namespace warplens::analyzers
