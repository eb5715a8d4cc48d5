// Local memory: spilled registers and arrays of a thread.
//
//   a warp loads a spilled register: smsp__sass_inst_executed_op_local_ld.sum += 1
#pragma once

#include "analyzers/analyzer.hpp"

#include <algorithm>

namespace warplens::analyzers {

class LocalMemory final : public Analyzer {
public:
  class Shard;
  struct Row {
    std::uint64_t loads = 0;
    std::uint64_t stores = 0;
  };

  explicit LocalMemory(std::size_t instructions) : rows_(instructions + 1) {}

  [[nodiscard]] const AnalyzerInfo& info() const override;
  std::unique_ptr<exec::Shard> make_shard() override;
  void absorb(exec::Shard& shard) override;
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;

private:
  std::vector<Row> rows_; // the last: instructions out of range
};

class LocalMemory::Shard final : public exec::Shard {
public:
  explicit Shard(std::size_t rows) : rows_(rows) {}
  /// Takes accesses of local memory; ignores all others.
  void access(const exec::Access& access) override {
    if (access.space != isa::Space::local) return;
    Row& row = rows_[std::min<std::size_t>(access.instruction, rows_.size() - 1)];
    (access.kind == exec::AccessKind::load ? row.loads : row.stores) += access.count;
  }
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }

private:
  std::vector<Row> rows_;
};

} // namespace warplens::analyzers
