#include "analyzers/issue_chain.hpp"

#include "analyzers/instruction_mix.hpp"
#include "emulator/ir/control_flow.hpp"
#include "emulator/ir/effects.hpp"

#include <algorithm>

namespace warplens::analyzers {

namespace {

constexpr MetricInfo kMetrics[] = {
    {"issue_chain_cycles_per_warp", "cycles", "that a warp alone takes to issue its instructions, memory aside"},
};

constexpr AnalyzerInfo kInfo = {"issue_chain", "Chains of instructions",
                                "how long a warp waits for its own results, from the data flow of each basic block",
                                kMetrics};

/// Cycles until another instruction can read the result, on Volta and later: 4 after arithmetic, about 30 after a load
/// from shared memory (Jia et al. 2018, Luo et al. 2024: micro-benchmarks); what `ptxas` makes many instructions of
/// counts 4 for each that waits for the one before it.
std::uint32_t latency(std::string_view opcode) {
  switch (classify(opcode)) {
  case InstructionClass::shared:
  case InstructionClass::warp: return 30;
  case InstructionClass::constant:
  case InstructionClass::f64: return 8;
  case InstructionClass::reciprocal_root:
  case InstructionClass::sine:
  case InstructionClass::exponential: return 24;
  case InstructionClass::reciprocal: return 40;
  case InstructionClass::square_root:
  case InstructionClass::f32_divide:
  case InstructionClass::integer_divide: return 64;
  case InstructionClass::f64_divide: return 128;
  default: return 4;
  }
}

} // namespace

const AnalyzerInfo& IssueChain::info() const { return kInfo; }

void IssueChain::conclude(const std::vector<exec::InstructionCount>& counts) {
  if (function_.instructions.empty()) return;
  const ir::ControlFlow flow = ir::control_flow(function_);
  const std::vector<ir::Effect> effects = ir::effects(module_, function_);
  struct Ready {
    std::uint32_t block = ir::kNone; ///< in which it was written last
    std::uint64_t at = 0;
  };
  std::vector<Ready> registers(function_.registers.size());
  for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
    const ir::Block& block = flow.blocks[b];
    if (block.first == block.end || block.first >= counts.size() || counts[block.first].warps == 0) continue;
    std::uint64_t longest = 0; // chain of the block
    for (std::uint32_t i = block.first; i < block.end; ++i) {
      std::uint64_t at = 0; // when the instruction may issue
      const auto wait_for = [&](const std::vector<std::uint32_t>& list) {
        for (const std::uint32_t r : list)
          if (registers[r].block == b) at = std::max(at, registers[r].at);
      };
      wait_for(effects[i].reads);
      if (!effects[i].certain) wait_for(effects[i].writes);
      for (const std::uint32_t r : effects[i].writes)
        registers[r] = {b, at + latency(function_.instructions[i].opcode)};
      longest = std::max(longest, at + 1);
    }
    const std::uint64_t cycles = std::max<std::uint64_t>(longest, block.end - block.first);
    cycles_ += static_cast<double>(cycles) * static_cast<double>(counts[block.first].warps);
  }
}

void IssueChain::report(Metrics& launch, std::vector<InstructionRow>&) const {
  launch.add_ratio("issue_chain_cycles_per_warp", cycles_, static_cast<double>(warps_));
}

} // namespace warplens::analyzers
