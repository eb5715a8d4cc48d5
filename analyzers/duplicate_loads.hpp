// SPDX-License-Identifier: Apache-2.0
// Duplicate loads: how often concurrent warps request the same data of global memory, so that the memory system can
// fetch it once for all of them.
//
//   float data = FloatArray[blockIdx.x + threadIdx.x % 32];   4 warps a block: 4 requests for the same sectors, 4
//
// Requests belong together when they are the same dynamic instance of a load: the k-th time that each warp runs it.
// Warps of a block are compared, and warps of all blocks that are on a multiprocessor together (streams.hpp defines
// which). The result is the number of requested 32-byte sectors divided by the number of distinct ones: 1 if no
// warps share data, the number of warps of the block if all load the same. See Dasgupta 2011, equation 27 and
// section 5.2.4, who counts them by hand and calls the warps of a block the first degree.
//
// The loads of the blocks on one multiprocessor usually suffice: every launch covers these, and all loads if the
// analyzer is requested by name.
#pragma once

#include "analyzers/streams.hpp"

namespace warplens::analyzers {

class DuplicateLoads final : public StreamAnalyzer {
public:
  static constexpr AnalyzerInfo kInfo = {
      "duplicate_loads", "Duplicate loads",
      "concurrent warps that load the same data; on one multiprocessor unless requested by name"};
  DuplicateLoads(std::size_t instructions, const exec::LaunchShape& shape, const Board& board)
      : StreamAnalyzer(kInfo, instructions, shape, board), rows_(instructions + 1) {}

  void study(const Streams& streams) override;
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;

  /// Sectors of the loads of one instruction.
  struct Row {
    std::uint64_t requested = 0;
    std::uint64_t different_in_block = 0, different_on_multiprocessor = 0;
    void add(const Row& other);
    [[nodiscard]] bool any() const { return requested != 0; }
  };

private:
  std::vector<Row> rows_;
  Streams::Recorded recorded_;
};

} // namespace warplens::analyzers
