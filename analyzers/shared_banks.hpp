// SPDX-License-Identifier: Apache-2.0
// Passes over the banks of shared memory under all rules of a launch. Two of these rules define counters of profilers:
// wavefronts and conflicts of Nsight Compute (compute capability 5.0 and later), and warp_serialize of compute
// capability 1.x.
//
//   32 lanes load 4 bytes each, 8 bytes apart: smsp__inst_executed_op_shared_ld += 1, wavefronts += 2, conflicts += 1,
//   warp_serialize += 2 (each half-warp conflicts 2-way)
#pragma once

#include "analyzers/analyzer.hpp"
#include "analyzers/counted_rules.hpp"
#include "analyzers/rule_counts.hpp"
#include "analyzers/sparse_rows.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace warplens::analyzers {

class SharedBanks final : public Analyzer {
public:
  static constexpr AnalyzerInfo kInfo = {"shared_banks", "Shared memory bank conflicts",
                                         "passes over the banks of shared memory, bank conflicts and their degrees"};
  class Shard;
  static constexpr std::size_t kDegrees = exec::kWarpSize + 1;
  using Degrees = std::array<std::uint64_t, kDegrees>; ///< accesses by the ways of their worst request

  /// `rules` must outlive it, and its shards.
  SharedBanks(std::size_t instructions, const CountedRules& rules)
      : Analyzer(kInfo), rules_(rules), rows_((instructions + 1) * kOperations) {}

  /// Loads, stores, atomics: a copy from shared to shared memory is one instruction of two kinds. Nsight Compute counts
  /// shared reductions among the atomics.
  static constexpr std::size_t kOperations = 3;
  static std::size_t operation(exec::AccessKind kind) {
    return std::min(static_cast<std::size_t>(kind), kOperations - 1);
  }

  std::unique_ptr<exec::Shard> make_shard() override;
  void absorb(exec::Shard& shard) override;
  void scale(const Scales& scales) override;
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;

  using Counts = std::vector<PassCount>; ///< by exec::AccessKind
  /// Adds the counts under a rule to the row of each instruction; returns those of the launch.
  Counts counts(const rules::Banks& rule, std::vector<InstructionRow>& rows) const;
  /// The same as metrics, `rule.NAME.…`.
  void report(const rules::BankRule& rule, Metrics& launch, std::vector<InstructionRow>& rows) const;

  /// Of one instruction and operation.
  struct Row {
    std::uint64_t requests = 0;  ///< of shared memory; constants and parameters only serialize
    std::vector<PassSums> under; ///< each rule
    AccessSite site;
    exec::AccessKind kind{};
    std::uint16_t lane_bytes = 0;
    void merge(const Row& other);
    void fields(Archive& a) { a(requests, under, site, kind, lane_bytes); }
  };

private:
  template <class See> void for_each(const rules::Banks& rule, See&& see) const;

  const CountedRules& rules_;
  SparseRows<Row> rows_; // kOperations an instruction; the last: instructions out of range
  Degrees degrees_{};
};

class SharedBanks::Shard final : public exec::Shard {
public:
  Shard(std::size_t rows, const CountedRules& rules);
  /// Takes accesses of shared and constant memory and of parameters; ignores all others.
  void access(const exec::Access& access) override {
    if (access.space != isa::Space::shared && access.space != isa::Space::constant && access.space != isa::Space::param)
      return;
    Site& site = site_of(access.instruction, access.kind);
    // Moving an access by whole banks keeps its conflicts: under most rules only the position inside a bank matters.
    const std::uint64_t low = access.addresses[std::countr_zero(access.mask)] & low_;
    const ShapeKey key{access.stride, low, access.mask, access.lane_bytes, access.shape};
    if (site.repeat.key == key && site.repeat.space == access.space && site.repeat.count &&
        (access.shape != exec::Shape::irregular || site.offsets.moved_together(access))) {
      site.repeat.count += access.count;
      return;
    }
    start(site, key, access);
  }

  void access_rows(const exec::AccessRows& all) override;

  /// Gives everything counted so far to the rows of the analyzer.
  void add_to(SparseRows<Row>& rows);
  void fields(Archive& a) override;
  [[nodiscard]] const Degrees& degrees() const { return degrees_; }

private:
  struct Repeat {
    ShapeKey key;
    isa::Space space{}; ///< generic addresses of one instruction may go to several
    std::uint64_t count = 0;
    std::uint32_t ways = 0; ///< 0: no access of shared memory
    Pattern pattern;
  };
  struct Site {
    Repeat repeat;
    LaneOffsets offsets; ///< of an irregular one
    Row row;
    std::vector<PassSums> under; ///< what the repeated access costs, for each rule
    void fields(Archive& a) { a(row); }
  };
  void find_cost(const exec::Access& access, Site& site);
  void flush(Site& site);
  Site& site_of(std::uint32_t instruction, exec::AccessKind kind) {
    const std::size_t row = std::min<std::size_t>(instruction, sites_.size() / kOperations - 1);
    return sites_[row * kOperations + operation(kind)];
  }
  void prepare(Site& site) const;
  void start(Site& site, const ShapeKey& key, const exec::Access& access);

  const CountedRules& rules_;
  std::uint64_t low_;         ///< the bits of an address that determine its cost
  SparseRows<Site> sites_;    ///< with that for instructions out of range
  std::vector<Passes> costs_; ///< of the last access that was counted, by rule
  Degrees degrees_{};
};

} // namespace warplens::analyzers
