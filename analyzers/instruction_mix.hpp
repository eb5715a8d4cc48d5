// SPDX-License-Identifier: Apache-2.0
// Executed instructions by class (emulator/isa/classes.def), and the number of active lanes of their warps.
#pragma once

#include "analyzers/analyzer.hpp"

namespace warplens::analyzers {

class InstructionMix final : public Analyzer {
public:
  static constexpr AnalyzerInfo kInfo = {"instruction_mix", "Instruction mix",
                                         "executed instructions, in total and by class"};
  InstructionMix(const ir::Function& function, const exec::LaunchShape& shape)
      : Analyzer(kInfo), function_(function), shape_(shape) {}

  void conclude(const std::vector<exec::InstructionCount>& counts) override { counts_ = counts; }
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;

private:
  const ir::Function& function_;
  exec::LaunchShape shape_;
  std::vector<exec::InstructionCount> counts_;
};

} // namespace warplens::analyzers
