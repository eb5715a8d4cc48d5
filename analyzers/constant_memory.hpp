// Constant memory: a pass serves all lanes that ask for one address, so a warp takes as many passes as it asks for
// different ones. (On compute capability 1.x half-warps go on their own: warp_serialize, in shared_banks.hpp.)
//
//   32 lanes load c[threadIdx.x % 4]: idc__requests.sum += 1, constant_passes += 4, constant_passes_excessive += 3
//
// Parameters lie in a constant bank too (in shared memory on 1.x). Those that the code names are operands of machine
// instructions, the same for all lanes: no requests, inst_executed_param counts them. Those at computed addresses, such
// as an array in a structure, are loaded as constants are.
#pragma once

#include "analyzers/analyzer.hpp"

#include <algorithm>

namespace warplens::analyzers {

class ConstantMemory final : public Analyzer {
public:
  class Shard;
  struct Row {
    std::uint64_t requests = 0;
    std::uint64_t passes = 0;
  };

  explicit ConstantMemory(std::size_t instructions) : rows_(instructions + 1) {}

  [[nodiscard]] const AnalyzerInfo& info() const override;
  std::unique_ptr<exec::Shard> make_shard() override;
  void absorb(exec::Shard& shard) override;
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;

private:
  std::vector<Row> rows_; // the last: instructions out of range
};

class ConstantMemory::Shard final : public exec::Shard {
public:
  explicit Shard(std::size_t rows) : rows_(rows) {}
  /// Takes accesses of constant memory and of parameters; ignores all others.
  void access(const exec::Access& access) override;
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }

private:
  std::vector<Row> rows_;
};

} // namespace warplens::analyzers
