// SPDX-License-Identifier: Apache-2.0
// Texture and surface memory: requests of warps, and the 32-byte sectors of the texels that they access. Texels are
// stored row by row here; devices tile them, so the sectors are those of a texture in linear memory.
//
//   32 lanes fetch neighbouring texels of 4 bytes: l1tex__t_requests_pipe_tex_mem_texture.sum += 1, sectors += 4
#pragma once

#include "analyzers/analyzer.hpp"

#include <algorithm>

namespace warplens::analyzers {

class TextureMemory final : public Analyzer {
public:
  class Shard;
  struct Row {
    std::uint64_t requests = 0;
    std::uint64_t sectors = 0;
  };

  explicit TextureMemory(const ir::Function& function) : function_(function), rows_(function.instructions.size() + 1) {}

  [[nodiscard]] const AnalyzerInfo& info() const override;
  std::unique_ptr<exec::Shard> make_shard() override;
  void absorb(exec::Shard& shard) override;
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;

private:
  const ir::Function& function_;
  std::vector<Row> rows_; // the last: instructions out of range
};

class TextureMemory::Shard final : public exec::Shard {
public:
  explicit Shard(std::size_t rows) : rows_(rows) {}
  /// Takes accesses of texture memory; ignores all others.
  void access(const exec::Access& access) override;
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }

private:
  std::vector<Row> rows_;
};

} // namespace warplens::analyzers
