// SPDX-License-Identifier: Apache-2.0
// The time that a warp takes if it has a multiprocessor to itself, from the data flow along its path: each instruction
// starts when its operands are there, loads take as long as the cache that has their data, and a basic block ends when
// its last instruction has started, but takes at least one cycle for each of its machine instructions.
//
//   loop:  ld.global.f32 %f1, [%rd1];  fma.rn.f32 %f2, %f1, %f1, %f2;  …  @%p1 bra loop;
//     each turn waits for its load; four such loads of an unrolled loop are waited for together
//
// A compiler moves loads up within a basic block, but not above a barrier, nor above a store to the same memory (except
// ld.global.nc), and mixes nothing into divisions and roots that round, because these have a branch for special
// operands. A branch waits for its predicate. What a block costs depends on what the blocks before it have left in
// flight: two blocks before it, on the most frequent path, are followed first, so that the turns of a loop overlap as
// they do when it runs. Load latencies are averages by the hit rate of each instruction, which the analyzer of caches
// reports before.
//
// A launch may take as long as a warp that executes more than the others. The path of that warp, and those of the
// longest warp of each block, are followed in the same way, with their own counts.
#pragma once

#include "analyzers/analyzer.hpp"
#include "analyzers/board.hpp"

namespace warplens::analyzers {

class WarpPath final : public Analyzer {
public:
  static constexpr AnalyzerInfo kInfo = {"warp_path", "Critical path of a warp",
                                         "how long a warp alone takes, from the data flow along its path"};
  /// `module` and `function` must outlive it. If the latencies of the board are unknown, there are no metrics.
  WarpPath(const ir::Module& module, const ir::Function& function, const exec::LaunchShape& shape, const Board& board)
      : Analyzer(kInfo), module_(module), function_(function), shape_(shape), latency_(board.path_latency) {}

  void longest_warps(const exec::LongestWarps& longest) override { longest_ = longest; }
  void conclude(const std::vector<exec::InstructionCount>& counts) override { counts_ = counts; }
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;

private:
  const ir::Module& module_;
  const ir::Function& function_;
  exec::LaunchShape shape_;
  std::optional<PathLatencies> latency_;
  std::vector<exec::InstructionCount> counts_;
  std::optional<exec::LongestWarps> longest_;
};

} // namespace warplens::analyzers
