// SPDX-License-Identifier: Apache-2.0
// The time that a single warp takes to issue its instructions, excluding memory latency: at most one per cycle, each
// when its operands are ready, in the best order.
//
//   fma d, a, b, d;  fma d, a, c, d;  add e, a, b;     the second waits for the first, the third for none: 0, 4 and 1
//
// Each basic block is considered separately: all registers are ready at its beginning. Loads of global, local and
// texture memory count as arithmetic; independent_loads.hpp counts the waits for them.
#pragma once

#include "analyzers/analyzer.hpp"
#include "analyzers/board.hpp"

#include <set>

namespace warplens::analyzers {

/// The cycles of all warps. `counts` of each instruction; the results of the loads in `from_shared` come from shared
/// memory, and the loop that they are in does not go on before they are there.
double issue_cycles(const ir::Module& module, const ir::Function& function,
                    const std::vector<exec::InstructionCount>& counts, const ResultLatencies& latencies,
                    const std::set<std::uint32_t>& from_shared = {});

class IssueChain final : public Analyzer {
public:
  static constexpr AnalyzerInfo kInfo = {
      "issue_chain", "Chains of instructions",
      "how long a warp waits for its own results, from the data flow of each basic block"};
  /// `module` and `function` must outlive it; `warps` of the launch. If the latencies of the board are unknown,
  /// there are no metrics.
  IssueChain(const ir::Module& module, const ir::Function& function, std::uint64_t warps, const Board& board)
      : Analyzer(kInfo), module_(module), function_(function), warps_(warps), latency_(board.result_latency) {}

  void conclude(const std::vector<exec::InstructionCount>& counts) override;
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;

private:
  const ir::Module& module_;
  const ir::Function& function_;
  std::uint64_t warps_;
  std::optional<ResultLatencies> latency_;
  double cycles_ = 0;
};

} // namespace warplens::analyzers
