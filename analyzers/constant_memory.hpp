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

namespace warplens::analyzers {

struct ConstantRow {
  std::uint64_t requests = 0;
  std::uint64_t passes = 0;
  std::uint64_t passes_if_shared = 0; ///< over 32 banks
  void add(const ConstantRow& other) {
    requests += other.requests;
    passes += other.passes;
    passes_if_shared += other.passes_if_shared;
  }
  void scale(const Scale& by) { by.apply(requests, passes, passes_if_shared); }
  [[nodiscard]] bool any() const { return requests != 0; }
};

class ConstantShard final : public RowShard<ConstantRow> {
public:
  using RowShard::RowShard;
  /// Takes accesses of constant memory and of parameters; ignores all others.
  void access(const exec::Access& access) override;
};

class ConstantMemory final : public RowAnalyzer<ConstantShard> {
public:
  static constexpr AnalyzerInfo kInfo = {"constant_memory", "Constant memory",
                                         "requests, and passes for distinct addresses"};
  explicit ConstantMemory(std::size_t instructions) : RowAnalyzer(kInfo, instructions) {}
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;
};

} // namespace warplens::analyzers
