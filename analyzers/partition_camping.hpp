// SPDX-License-Identifier: Apache-2.0
// Partition camping: whether the concurrent accesses of all multiprocessors go to few partitions of device memory.
// Applies to boards whose partitions are not hashed: 6 partitions of 256 bytes on the 8-series, 8 on the 10-series
// (NVIDIA, "Optimizing Matrix Transpose in CUDA").
//
//   8 partitions; every half-warp on the board stores to addresses 2048 bytes apart: all in one partition, ratio 8
//
// The accesses have the order of streams.hpp; a time window is one round: an access of each resident warp. The busiest
// partition determines the time of a window. With an even distribution, each of 8 partitions would serve an eighth of
// the sectors, but at least the largest part of a single access that lies in one partition. The ratio is the sum of the
// busiest loads divided by the sum of the even loads.
#pragma once

#include "analyzers/streams.hpp"

namespace warplens::analyzers {

class PartitionCamping final : public StreamAnalyzer {
public:
  static constexpr AnalyzerInfo kInfo = {
      "partition_camping", "Partition camping",
      "spread of the accesses over the partitions of device memory, on boards of the 8- and "
      "10-series",
      Cost::by_name};
  PartitionCamping(std::size_t instructions, const exec::LaunchShape& shape, const Board& board)
      : StreamAnalyzer(kInfo, instructions, shape, board), rows_(instructions + 1) {}

  void study(const Streams& streams) override;
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;

  /// Sectors, summed over windows.
  struct Load {
    std::uint64_t busiest = 0; ///< of the busiest partition
    double even = 0;           ///< of each partition, with an even distribution
    void add(const Load& other);
  };

private:
  std::vector<Load> rows_; ///< by instruction, considered alone
  Load total_;
  double worst_wave_ = 0;                ///< ratio
  std::vector<std::uint64_t> partition_; ///< sectors of each
  std::uint64_t windows_ = 0, busy_ = 0; ///< partitions used in a window, summed
  Streams::Recorded recorded_;
};

} // namespace warplens::analyzers
