// SPDX-License-Identifier: Apache-2.0
#include "analyzers/issue_chain.hpp"

#include "emulator/ir/control_flow.hpp"
#include "emulator/ir/effects.hpp"

#include <algorithm>

namespace warplens::analyzers {

double issue_cycles(const ir::Module& module, const ir::Function& function,
                    const std::vector<exec::InstructionCount>& counts, const ResultLatencies& latencies,
                    const std::set<std::uint32_t>& from_shared) {
  if (function.instructions.empty()) return 0;
  const double shared = latencies[static_cast<std::size_t>(isa::InstructionClass::shared)];
  const ir::ControlFlow flow = ir::control_flow(function);
  const std::vector<ir::Effect> effects = ir::effects(module, function);
  double cycles = 0;
  struct Ready {
    std::uint32_t block = ir::kNone; ///< that wrote it last
    double at = 0;
  };
  std::vector<Ready> registers(function.registers.size());
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
      const bool staged = from_shared.contains(i);
      const double done =
          at + (staged ? shared : latencies[static_cast<std::size_t>(function.instructions[i].instruction_class)]);
      for (const std::uint32_t r : effects[i].writes) registers[r] = {b, done};
      longest = std::max(longest, staged ? done : at + 1);
    }
    cycles += std::max<double>(longest, block.end - block.first) * static_cast<double>(counts[block.first].warps);
  }
  return cycles;
}

void IssueChain::conclude(const std::vector<exec::InstructionCount>& counts) {
  if (latency_) cycles_ += issue_cycles(module_, function_, counts, *latency_);
}

void IssueChain::report(Metrics& launch, std::vector<InstructionRow>&) const {
  if (latency_) launch.add_ratio(MetricId::issue_chain, cycles_, static_cast<double>(warps_));
}

} // namespace warplens::analyzers
