// The caches of Fermi and later: what of the accesses to global and local memory hits in the first level of its
// multiprocessor, what in the second level, what goes to device memory, and what is thrown out and fetched again.
//
//   a warp loads 128 bytes twice: 4 sectors miss in both levels, then 4 hit in the first
//
// The accesses come in the order of streams.hpp. Loads look into the first level, if the board says that they use it;
// what stores do there the board says, for global and for local memory: change, keep or throw out a line and go on, or
// stay until the line is thrown out. Atomics throw it out and are done in the second level, which keeps stores until
// it needs the room. Nothing takes time: an access finds what all before it have left.
//
// As a sample, which costs little, only the first level of multiprocessor 0 is looked at, in the first wave of blocks.
#pragma once

#include "analyzers/cache.hpp"
#include "analyzers/streams.hpp"

namespace warplens::analyzers {

class Caches final : public StreamAnalyzer {
public:
  enum class Coverage : std::uint8_t { whole, sample };
  Caches(std::size_t instructions, const exec::LaunchShape& shape, const Board& board,
         Coverage coverage = Coverage::whole)
      : StreamAnalyzer(instructions, shape, board), coverage_(coverage), rows_(instructions + 1) {}

  [[nodiscard]] const AnalyzerInfo& info() const override;
  void study(const Streams& streams) override;
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;

  /// In a first level.
  struct Lookups {
    std::uint64_t hit = 0, missed = 0;             ///< sectors
    std::uint64_t lines_hit = 0, lines_missed = 0; ///< requests for lines, of 128 bytes: all of it found, or not
    [[nodiscard]] std::uint64_t all() const { return hit + missed; }
    void add(const Lookups& other);
  };
  /// Of one instruction.
  struct Row {
    Lookups loads; ///< of global memory
    Lookups local_loads, local_stores;
    std::uint64_t l1_again = 0;                          ///< sectors of loads that missed though they had been there
    std::uint64_t l2_read = 0, l2_hit = 0, l2_again = 0; ///< sectors of loads, and what comes along with them
    std::uint64_t l2_written = 0;                        ///< sectors
    void add(const Row& other);
    [[nodiscard]] std::uint64_t l1_loads() const { return loads.all() + local_loads.all(); } ///< sectors
    [[nodiscard]] bool empty() const;
  };

  /// Of the launch.
  struct Totals {
    std::uint64_t l1_evicted = 0, l2_evicted = 0;  ///< lines
    std::uint64_t dram_read = 0, dram_written = 0; ///< sectors
  };

private:
  Coverage coverage_;
  std::vector<Row> rows_;
  Totals totals_;
  std::uint64_t looked_at_ = 0, all_ = 0; ///< accesses, and of the whole launch
  bool present_ = false;                  ///< has the board what is looked at?
};

} // namespace warplens::analyzers
