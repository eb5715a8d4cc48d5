// Counts global and shared memory under the rules that a user names: --rule my.toml, --rule 2.x-l1.
//
//   RuleCounts counts(function, {.coalescing = {full_warp}});
//   32 lanes load 4 bytes each, 8 bytes apart: rule.full-warp.ld_requests += 1, rule.full-warp.ld_64b += 4,
//   rule.full-warp.bytes_moved += 256, rule.full-warp.bytes_asked += 128
#pragma once

#include "analyzers/analyzer.hpp"
#include "analyzers/fast_banks.hpp"
#include "analyzers/footprint.hpp"
#include "analyzers/rule_set.hpp"

#include <array>

namespace warplens::analyzers {

class RuleCounts final : public Analyzer {
public:
  class Shard;
  /// `function` must outlive it, and its shards.
  RuleCounts(const ir::Function& function, RuleSet rules);

  [[nodiscard]] const AnalyzerInfo& info() const override;
  std::unique_ptr<exec::Shard> make_shard() override;
  void absorb(exec::Shard& shard) override;
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;

  /// Loads, stores, atomics with a result, atomics without one.
  static constexpr std::size_t kKinds = 4;

  /// What one rule makes of the accesses of one kind.
  struct Count {
    std::uint64_t requests = 0;
    std::uint64_t bytes_asked = 0; ///< distinct addresses of each request, times the width; global memory only
    std::uint64_t by_size[3]{};    ///< transactions of 32, 64 and 128 bytes
    std::uint64_t uncoalesced = 0; ///< among them, of lanes on their own
    std::uint64_t passes = 0, worst = 0, fewest = 0; ///< over the banks
    void add(const Count& other);
    [[nodiscard]] std::uint64_t transactions() const { return by_size[0] + by_size[1] + by_size[2]; }
    [[nodiscard]] std::uint64_t bytes_moved() const { return 32 * by_size[0] + 64 * by_size[1] + 128 * by_size[2]; }
  };
  using Row = std::array<Count, kKinds>;

private:
  const ir::Function& function_;
  RuleSet rules_;
  std::vector<Row> rows_; ///< one for each rule (coalescing first) of each instruction; the last: out of range
};

class RuleCounts::Shard final : public exec::Shard {
public:
  Shard(const ir::Function& function, std::size_t rows, const RuleSet& rules);
  /// Takes accesses of global and shared memory; ignores all others.
  void access(const exec::Access& access) override;
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }

private:
  void global(Row* row, const exec::Access& access);
  void shared(Row* row, const exec::Access& access);

  const ir::Function& function_;
  std::vector<FastRule> coalescing_;
  std::vector<FastBanks> banks_;
  std::vector<Row> rows_;
};

} // namespace warplens::analyzers
