// SPDX-License-Identifier: Apache-2.0
#include "analyzers/issue_chain.hpp"

#include "emulator/ir/control_flow.hpp"
#include "emulator/ir/effects.hpp"

#include <algorithm>

namespace warplens::analyzers {

void IssueChain::conclude(const std::vector<exec::InstructionCount>& counts) {
  if (function_.instructions.empty() || !latency_) return;
  const ir::ControlFlow flow = ir::control_flow(function_);
  const std::vector<ir::Effect> effects = ir::effects(module_, function_);
  struct Ready {
    std::uint32_t block = ir::kNone; ///< that wrote it last
    double at = 0;
  };
  std::vector<Ready> registers(function_.registers.size());
  for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
    const ir::Block& block = flow.blocks[b];
    if (block.first == block.end || block.first >= counts.size() || counts[block.first].warps == 0) continue;
    double longest = 0; // chain of the block
    for (std::uint32_t i = block.first; i < block.end; ++i) {
      double at = 0; // when the instruction may issue
      const auto wait_for = [&](const std::vector<std::uint32_t>& list) {
        for (const std::uint32_t r : list)
          if (registers[r].block == b) at = std::max(at, registers[r].at);
      };
      wait_for(effects[i].reads);
      if (!effects[i].certain) wait_for(effects[i].writes);
      for (const std::uint32_t r : effects[i].writes)
        registers[r] = {b, at + (*latency_)[static_cast<std::size_t>(function_.instructions[i].instruction_class)]};
      longest = std::max(longest, at + 1);
    }
    cycles_ += std::max<double>(longest, block.end - block.first) * static_cast<double>(counts[block.first].warps);
  }
}

void IssueChain::report(Metrics& launch, std::vector<InstructionRow>&) const {
  if (latency_) launch.add_ratio(MetricId::issue_chain, cycles_, static_cast<double>(warps_));
}

} // namespace warplens::analyzers
