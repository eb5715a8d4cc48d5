// SPDX-License-Identifier: Apache-2.0
// Transactions of global memory under all rules of a launch. Three of these rules define counters of profilers:
// 32-byte sectors (Nsight Compute's names), compute capability 1.2/1.3 (gld_32b, …) and 1.0/1.1
// (gld_coherent, …; the CUDA Visual Profiler's names).
//
//   32 lanes load 4 bytes each, 8 bytes apart: l1tex__t_requests_… += 1, l1tex__t_sectors_… += 8, gld_128b += 2,
//   gld_incoherent += 32; ideal 4 sectors
#pragma once

#include "analyzers/analyzer.hpp"
#include "analyzers/counted_rules.hpp"
#include "analyzers/rule_counts.hpp"
#include "analyzers/sparse_rows.hpp"

#include <bit>
#include <optional>

namespace warplens::analyzers {

/// The costs of an access that do not depend on the rule; totals are sums over accesses.
struct GlobalCost {
  std::uint64_t bytes = 0;  ///< that the active lanes request
  std::uint64_t asked = 0;  ///< the same, counting distinct addresses only
  std::uint64_t blocks = 0; ///< distinct blocks of 64 bytes
  std::uint64_t lines = 0;  ///< distinct 128-byte lines
  std::uint64_t passes = 0; ///< over the banks of the first-level cache, if these are the banks of shared memory
  void add(const GlobalCost& other, std::uint64_t times);
  void scale(const Scale& by) { by.apply(bytes, asked, blocks, lines, passes); }
};

class GlobalTransactions final : public Analyzer {
public:
  static constexpr AnalyzerInfo kInfo = {
      "global_transactions", "Global memory transactions",
      "requests, sectors and transactions of global memory under three rules at once"};
  class Shard;
  /// `rules` must outlive it, and its shards.
  GlobalTransactions(std::size_t instructions, const CountedRules& rules)
      : Analyzer(kInfo), rules_(rules), rows_(instructions + 1) {}

  std::unique_ptr<exec::Shard> make_shard() override;
  void absorb(exec::Shard& shard) override;
  void scale(const Scales& scales) override;
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;

  using Counts = std::vector<TransactionCount>; ///< by exec::AccessKind
  /// Adds the counts under a rule to the row of each instruction; returns those of the launch.
  Counts counts(const rules::Coalescing& rule, std::vector<InstructionRow>& rows) const;
  /// The same as metrics, `rule.NAME.…`.
  void report(const rules::CoalescingRule& rule, Metrics& launch, std::vector<InstructionRow>& rows) const;

  /// The sum over the requests of the launch of the distinct sectors that each touches.
  [[nodiscard]] std::uint64_t sectors() const;
  [[nodiscard]] std::uint64_t requests() const;

  /// Of one instruction.
  struct Row {
    std::uint64_t requests = 0;
    GlobalCost cost;
    std::vector<TransactionSums> under; ///< each rule
    AccessSite site;
    exec::AccessKind kind{};
    std::uint16_t lane_bytes = 0;
    std::int64_t copied = 0; ///< of cp.async.cg: sectors that are looked up less those that are touched, of all blocks
    void merge(const Row& other);
    void fields(Archive& a) { a(requests, cost, under, site, kind, lane_bytes, copied); }
  };

private:
  template <class See> void for_each(const rules::Coalescing& rule, See&& see) const;

  const CountedRules& rules_;
  SparseRows<Row> rows_; // the last: instructions out of range
};

class GlobalTransactions::Shard final : public exec::Shard {
public:
  Shard(std::size_t rows, const CountedRules& rules);
  /// Takes accesses of global memory; ignores all others.
  void access(const exec::Access& access) override {
    if (access.space != isa::Space::global) return;
    Site& site = sites_[std::min<std::size_t>(access.instruction, sites_.size() - 1)];
    const std::uint64_t low = access.addresses[std::countr_zero(access.mask)] & low_;
    const bool irregular = access.shape == exec::Shape::irregular;
    Repeat& repeat = site.repeats[irregular ? kIrregular : low / 32 % kIrregular];
    const ShapeKey key{access.stride, low, access.mask, access.lane_bytes, access.shape};
    if (repeat.key == key && repeat.count && (!irregular || site.offsets.moved_together(access))) {
      repeat.count += access.count;
      return;
    }
    start(site, repeat, key, access);
  }

  void access_rows(const exec::AccessRows& all) override;
  void lane_copy(const exec::LaneCopy& copy) override;

  /// Gives everything counted so far to the rows of the analyzer.
  void add_to(SparseRows<Row>& rows);
  void fields(Archive& a) override;

private:
  /// A repeated access: only counted until a different access replaces it.
  struct Repeat {
    ShapeKey key;
    std::uint64_t count = 0;
    GlobalCost one;
    Pattern pattern;
  };
  /// One Repeat for each sector of a line in which a regular access can start (warps with narrow words alternate
  /// between them), and one for irregular accesses.
  static constexpr std::size_t kIrregular = 4, kRepeats = 5;
  struct Site {
    Repeat repeats[kRepeats];
    LaneOffsets offsets;            ///< of the irregular one
    std::optional<Service> service; ///< of the accesses that came together last
    Row row;
    std::vector<Transactions> under; ///< of each repeat, each rule
    void fields(Archive& a) { a(row); }
  };
  void prepare(Site& site) const;
  void start(Site& site, Repeat& repeat, const ShapeKey& key, const exec::Access& access);
  void flush(Site& site, Repeat& repeat) const;
  void flush(Site& site) const;
  /// `under`: of each rule.
  void find_cost(const exec::Access& access, GlobalCost& one, Transactions* under) const;

  const CountedRules& rules_;
  std::uint64_t low_;              ///< the bits of an address that determine its cost
  std::vector<std::size_t> sizes_; ///< of each rule: the number of its transaction sizes
  SparseRows<Site> sites_;
  std::vector<Transactions> sums_; ///< of the last accesses that were counted together, by rule
};

} // namespace warplens::analyzers
