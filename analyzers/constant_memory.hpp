// SPDX-License-Identifier: Apache-2.0
// Constant memory: a pass serves all lanes that read the same address, so a warp takes one pass per distinct address.
// (On compute capability 1.x half-warps are served separately: warp_serialize, in shared_banks.hpp.)
//
//   32 lanes load c[threadIdx.x % 4]: idc__requests.sum += 1, constant_passes += 4, constant_passes_excessive += 3
//
// Parameters are also in a constant bank (in shared memory on 1.x). Parameters that the code names are operands of
// machine instructions and the same for all lanes: they cause no requests, and inst_executed_param counts them.
// Parameters at computed addresses, such as an array in a structure, are loaded like constants.
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
