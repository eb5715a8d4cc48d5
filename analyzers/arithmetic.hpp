// SPDX-License-Identifier: Apache-2.0
// Arithmetic: floating-point operations, operations per byte of global memory, and instructions with a high
// latency.
//
//   c[i] = a[i] * b[i] + c[i] in a warp: 32 fused multiply-adds, 64 operations; 4 x 128 bytes; intensity 0.125
#pragma once

#include "analyzers/global_transactions.hpp"

#include <array>

namespace warplens::analyzers {

class Arithmetic final : public Analyzer {
public:
  static constexpr AnalyzerInfo kInfo = {"arithmetic", "Arithmetic",
                                         "floating-point operations, arithmetic intensity, high-latency instructions"};
  /// `function` and `global`, which has seen the same launch, must outlive it.
  Arithmetic(const ir::Function& function, const GlobalTransactions& global)
      : Analyzer(kInfo), function_(function), global_(global) {}

  class Shard;
  std::unique_ptr<exec::Shard> make_shard() override;
  void absorb(exec::Shard& shard) override;
  void conclude(const std::vector<exec::InstructionCount>& counts) override { counts_ = counts; }
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;

private:
  /// Multiply-adds with sums of other types and of half precision, by type.
  using SizedWork = std::array<std::array<std::uint64_t, exec::kMatrixElements>, 2>;
  const ir::Function& function_;
  const GlobalTransactions& global_;
  std::vector<exec::InstructionCount> counts_;
  /// Multiply-adds by type, of products whose size was known only when they ran.
  SizedWork sized_{};
};

class Arithmetic::Shard final : public exec::Shard {
public:
  void product(const exec::SizedProduct& product) override {
    sized[product.half_sums][static_cast<std::size_t>(product.element)] += product.multiply_adds;
  }
  void fields(Archive& a) override { a(sized); }
  SizedWork sized{};
};

} // namespace warplens::analyzers
