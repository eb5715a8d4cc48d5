// Passes over the banks of shared memory: wavefronts and conflicts as Nsight Compute counts them (rule 5.x+), and
// warp_serialize as on compute capability 1.x.
//
//   32 lanes load 4 bytes each, 8 bytes apart: smsp__inst_executed_op_shared_ld += 1, wavefronts += 2, conflicts += 1,
//   warp_serialize += 2 (each half-warp conflicts 2-way)
#pragma once

#include "analyzers/analyzer.hpp"
#include "analyzers/fast_banks.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace warplens::analyzers {

/// What is counted of each access; the totals are sums over accesses.
struct BankCost {
  std::uint64_t wavefronts = 0;
  std::uint64_t conflicts = 0;      ///< wavefronts beyond the fewest that the width of the access needs
  std::uint64_t serialize_best = 0; ///< extra passes under rule 1.x
  std::uint64_t serialize_worst = 0;
  std::uint64_t serialize_free = 0; ///< the fewest passes under rule 1.x
  void add(const BankCost& other, std::uint64_t times);
};

class SharedBanks final : public Analyzer {
public:
  class Shard;
  static constexpr std::size_t kDegrees = exec::kWarpSize + 1;
  using Degrees = std::array<std::uint64_t, kDegrees>; ///< accesses by the ways of their worst request

  /// `function` must outlive it, and its shards.
  explicit SharedBanks(const ir::Function& function)
      : function_(function), rows_((function.instructions.size() + 1) * kOperations) {}

  /// Loads, stores, atomics: a copy from shared to shared memory is one instruction of two kinds. Nsight Compute counts
  /// shared reductions among the atomics.
  static constexpr std::size_t kOperations = 3;
  static std::size_t operation(exec::AccessKind kind) {
    return std::min(static_cast<std::size_t>(kind), kOperations - 1);
  }

  [[nodiscard]] const AnalyzerInfo& info() const override;
  std::unique_ptr<exec::Shard> make_shard() override;
  void absorb(exec::Shard& shard) override;
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;

  /// Of one instruction and operation.
  struct Row {
    std::uint64_t requests = 0; ///< of shared memory; constants and parameters only serialize
    BankCost cost;
    AccessSite site;
    exec::AccessKind kind{};
    std::uint16_t lane_bytes = 0;
    void merge(const Row& other);
  };

private:
  const ir::Function& function_;
  std::vector<Row> rows_; // kOperations an instruction; the last: instructions out of range
  Degrees degrees_{};
};

class SharedBanks::Shard final : public exec::Shard {
public:
  explicit Shard(const ir::Function& function);
  /// Takes accesses of shared and constant memory and of parameters; ignores all others.
  void access(const exec::Access& access) override {
    if (access.space != isa::Space::shared && access.space != isa::Space::constant && access.space != isa::Space::param)
      return;
    const std::size_t instruction = std::min<std::size_t>(access.instruction, sites_.size() / kOperations - 1);
    Site& site = sites_[instruction * kOperations + operation(access.kind)];
    // Moving an access by whole banks moves its conflicts along: only the place inside a bank matters.
    const std::uint64_t low = access.addresses[std::countr_zero(access.mask)] % 4;
    const ShapeKey key{access.stride, low, access.mask, access.lane_bytes, access.shape};
    if (site.repeat.key == key && site.repeat.space == access.space && site.repeat.count &&
        (access.shape != exec::Shape::irregular || site.offsets.moved_together(access))) {
      site.repeat.count += access.count;
      return;
    }
    start(site, key, access);
  }

  /// Everything counted so far.
  std::span<Row> rows();
  [[nodiscard]] const Degrees& degrees() const { return degrees_; }

private:
  struct Repeat {
    ShapeKey key;
    isa::Space space{}; ///< generic addresses of one instruction may go to several
    std::uint64_t count = 0;
    BankCost one;
    std::uint32_t ways = 0; ///< 0: no access of shared memory
    Pattern pattern;
  };
  struct Site {
    Repeat repeat;
    LaneOffsets offsets; ///< of an irregular one
    Row row;
  };
  /// Under both rules.
  struct Both {
    Passes now, old;
  };
  [[nodiscard]] Both passes(const exec::Access& access) const;
  void flush(Site& site);
  void start(Site& site, const ShapeKey& key, const exec::Access& access);

  const ir::Function& function_;
  std::vector<Site> sites_; ///< with that for instructions out of range
  std::vector<Row> merged_;
  Degrees degrees_{};
  FastBanks banks_;     // compute capability 5.0 and later
  FastBanks old_banks_; // 1.x
};

} // namespace warplens::analyzers
