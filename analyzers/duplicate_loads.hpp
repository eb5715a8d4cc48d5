// Duplicate loads: how often the same data of global memory is asked for by warps that run at the same time, so that
// the memory system may fetch it once for all of them.
//
//   float data = FloatArray[blockIdx.x + threadIdx.x % 32];   4 warps a block: 4 requests for the same sectors, 4
//
// Requests belong together when they are the same dynamic instance of a load: the k-th time that each warp runs it.
// Warps of a block are compared, and warps of all blocks that are on a multiprocessor together (streams.hpp says which
// those are). Duplicates are the 32-byte sectors requested over the different ones among them: 1 where no two warps
// share anything; all warps of the block where they all load the same. Dasgupta 2011, equation 27 and section 5.2.4,
// who found them by hand and calls the warps of a block the first degree.
//
// Mostly the loads of the blocks on one multiprocessor tell: they are looked at in every launch, the others where the
// analyzer is asked for by name.
#pragma once

#include "analyzers/streams.hpp"

namespace warplens::analyzers {

class DuplicateLoads final : public StreamAnalyzer {
public:
  DuplicateLoads(std::size_t instructions, const exec::LaunchShape& shape, const Board& board)
      : StreamAnalyzer(instructions, shape, board), rows_(instructions + 1) {}

  [[nodiscard]] const AnalyzerInfo& info() const override;
  void study(const Streams& streams) override;
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;

  /// Sectors of the loads of one instruction.
  struct Row {
    std::uint64_t requested = 0;
    std::uint64_t different_in_block = 0, different_on_multiprocessor = 0;
    void add(const Row& other);
  };

private:
  std::vector<Row> rows_;
  Streams::Recorded recorded_;
};

} // namespace warplens::analyzers
