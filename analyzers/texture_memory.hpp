// SPDX-License-Identifier: Apache-2.0
// Texture and surface memory: requests of warps, and the 32-byte sectors of the texels that they access. Texels are
// stored row by row here; devices tile them, so the sectors are those of a texture in linear memory.
//
//   32 lanes fetch neighbouring texels of 4 bytes: l1tex__t_requests_pipe_tex_mem_texture.sum += 1, sectors += 4
#pragma once

#include "analyzers/analyzer.hpp"

namespace warplens::analyzers {

struct TextureRow {
  std::uint64_t requests = 0;
  std::uint64_t sectors = 0;
  void add(const TextureRow& other) {
    requests += other.requests;
    sectors += other.sectors;
  }
  void scale(const Scale& by) { by.apply(requests, sectors); }
};

class TextureShard final : public RowShard<TextureRow> {
public:
  using RowShard::RowShard;
  /// Takes accesses of texture memory; ignores all others.
  void access(const exec::Access& access) override;
};

class TextureMemory final : public RowAnalyzer<TextureShard> {
public:
  static constexpr AnalyzerInfo kInfo = {"texture_memory", "Texture and surface memory", "requests and texel sectors"};
  explicit TextureMemory(const ir::Function& function)
      : RowAnalyzer(kInfo, function.instructions.size()), function_(function) {}
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;

private:
  const ir::Function& function_;
};

} // namespace warplens::analyzers
