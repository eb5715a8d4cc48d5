// Partition camping: whether the accesses of all multiprocessors, at one time, go to few of the partitions of device
// memory. On boards whose partitions are not hashed: 6 of 256 bytes on the 8-series, 8 on the 10-series (NVIDIA,
// "Optimizing Matrix Transpose in CUDA").
//
//   8 partitions; every half-warp on the board stores to addresses 2048 bytes apart: all in one partition, ratio 8
//
// The accesses come in the order of streams.hpp; a time window is one round of it: an access of each resident warp.
// In a window the busiest partition decides; with the sectors spread evenly it would serve an eighth of them, though no
// fewer than the largest part of a single access that lies in one partition. The ratio is the sum of the busiest over
// the sum of the even shares.
#pragma once

#include "analyzers/streams.hpp"

namespace warplens::analyzers {

class PartitionCamping final : public StreamAnalyzer {
public:
  PartitionCamping(std::size_t instructions, const exec::LaunchShape& shape, const Board& board)
      : StreamAnalyzer(instructions, shape, board), rows_(instructions + 1) {}

  [[nodiscard]] const AnalyzerInfo& info() const override;
  void study(const Streams& streams) override;
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;

  /// Sectors, summed over windows.
  struct Load {
    std::uint64_t busiest = 0; ///< of the partition that had the most
    double even = 0;           ///< of each, had they been spread evenly
    void add(const Load& other);
  };

private:
  std::vector<Load> rows_; ///< by instruction, as if it were alone
  Load total_;
  double worst_wave_ = 0;                ///< ratio
  std::vector<std::uint64_t> partition_; ///< sectors of each
  std::uint64_t windows_ = 0, busy_ = 0; ///< partitions that any access of a window goes to, summed
  Streams::Recorded recorded_;
};

} // namespace warplens::analyzers
