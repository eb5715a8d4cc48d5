// Transactions of global memory, under three rules at once: 32-byte sectors (Nsight Compute's names), compute
// capability 1.2/1.3 (gld_32b, …) and 1.0/1.1 (gld_coherent, …; the CUDA Visual Profiler's names).
//
//   32 lanes load 4 bytes each, 8 bytes apart: l1tex__t_requests_… += 1, l1tex__t_sectors_… += 8, gld_128b += 2,
//   gld_incoherent += 32; ideal 4 sectors
#pragma once

#include "analyzers/analyzer.hpp"
#include "analyzers/fast_banks.hpp"
#include "analyzers/footprint.hpp"

#include <array>
#include <bit>

namespace warplens::analyzers {

/// What is counted of each access; the totals are sums over accesses.
struct GlobalCost {
  std::uint64_t bytes = 0;       ///< that the active lanes ask for
  std::uint64_t sectors = 0;     ///< as the hardware counts them: repeated where lanes of an atomic collide
  std::uint64_t theoretical = 0; ///< distinct sectors
  std::uint64_t ideal = 0;       ///< the fewest sectors that could hold the bytes used
  std::uint64_t lines = 0;       ///< distinct 128-byte lines
  std::uint64_t passes = 0;      ///< over the banks of the first cache, where those are the banks of shared memory
  std::uint64_t by_size[3]{};    ///< 32, 64, 128 bytes, rule 1.2
  std::uint64_t coherent = 0;    ///< transactions under rule 1.0
  std::uint64_t incoherent = 0;
  std::uint64_t half_warp_bytes = 0;        ///< the fewest that the half-warps could move, rule 1.2
  std::uint64_t half_warp_transactions = 0; ///< the fewest that they could make, rule 1.0
  void add(const GlobalCost& other, std::uint64_t times);
};

class GlobalTransactions final : public Analyzer {
public:
  class Shard;
  explicit GlobalTransactions(std::size_t instructions) : rows_(instructions + 1) {}

  [[nodiscard]] const AnalyzerInfo& info() const override;
  std::unique_ptr<exec::Shard> make_shard() override;
  void absorb(exec::Shard& shard) override;
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;

  /// Distinct sectors that the requests of the launch touch, summed.
  [[nodiscard]] std::uint64_t sectors() const;

  /// Of one instruction.
  struct Row {
    std::uint64_t requests = 0;
    GlobalCost cost;
    AccessSite site;
    exec::AccessKind kind{};
    std::uint16_t lane_bytes = 0;
    void merge(const Row& other);
  };

private:
  std::vector<Row> rows_; // the last: instructions out of range
};

class GlobalTransactions::Shard final : public exec::Shard {
public:
  explicit Shard(std::size_t rows);
  /// Takes accesses of global memory; ignores all others.
  void access(const exec::Access& access) override {
    if (access.space != isa::Space::global) return;
    Site& site = sites_[std::min<std::size_t>(access.instruction, sites_.size() - 1)];
    const std::uint64_t low = access.addresses[std::countr_zero(access.mask)] % kLineBytes;
    const bool irregular = access.shape == exec::Shape::irregular;
    Repeat& repeat = site.repeats[irregular ? kIrregular : low / 32];
    const ShapeKey key{access.stride, low, access.mask, access.lane_bytes, access.shape};
    if (repeat.key == key && repeat.count && (!irregular || site.offsets.moved_together(access))) {
      repeat.count += access.count;
      return;
    }
    start(site, repeat, key, access);
  }

  /// Everything counted so far.
  std::span<Row> rows();

private:
  /// An access that keeps coming: only counted, until another takes its place.
  struct Repeat {
    ShapeKey key;
    std::uint64_t count = 0;
    GlobalCost one;
    Pattern pattern;
  };
  /// One Repeat for each sector of a line that a regular access can start in (warps of narrow words take turns), and
  /// one for irregular accesses.
  static constexpr std::size_t kIrregular = 4;
  struct Site {
    Repeat repeats[5];
    LaneOffsets offsets; ///< of the irregular one
    Row row;
  };
  void start(Site& site, Repeat& repeat, const ShapeKey& key, const exec::Access& access);
  static void flush(Site& site, Repeat& repeat);
  void find_cost(const exec::Access& access, GlobalCost& one) const;

  std::vector<Site> sites_;
  std::vector<Row> merged_;
  FastRule half_warps_;    // compute capability 1.2
  FastRule ordered_words_; // compute capability 1.0
  FastBanks banks_;        // compute capability 5.x and later
};

} // namespace warplens::analyzers
