// SPDX-License-Identifier: Apache-2.0
// Local memory: spilled registers and arrays of a thread. The hardware interleaves it by lane: word i of the 32 threads
// of a warp forms one segment of 128 bytes (CUDA C Programming Guide 3.2, section 5.3.2.2). Lanes that use the same
// variable therefore need only the sectors that their words fill, and on compute capability 1.x every request is one
// transaction.
//
//   a warp loads a spilled register: smsp__sass_inst_executed_op_local_ld.sum += 1, 4 sectors
//   each lane loads another element of its array: up to 32 sectors
#pragma once

#include "analyzers/analyzer.hpp"
#include "analyzers/line_use.hpp"

namespace warplens::analyzers {

/// Counts of loads, or of stores (with atomics).
struct LocalCount {
  std::uint64_t requests = 0;
  std::uint64_t sectors = 0;
  std::uint64_t ideal = 0; ///< the fewest sectors that hold the requested bytes
  std::uint64_t bytes = 0; ///< that the lanes request
  void add(const LocalCount& other);
  void scale(const Scale& by) { by.apply(requests, sectors, ideal, bytes); }
};
struct LocalRow {
  LocalCount loads, stores;
  void add(const LocalRow& other) {
    loads.add(other.loads);
    stores.add(other.stores);
  }
  void scale(const Scale& by) {
    loads.scale(by);
    stores.scale(by);
  }
  [[nodiscard]] bool any() const { return loads.requests + stores.requests != 0; }
};

/// The number of 32-byte sectors that a warp touches. `offsets` [32] in the lanes' local memory, valid for the lanes in
/// `mask`.
std::uint32_t local_sectors(const std::uint64_t* offsets, exec::Mask mask, std::uint32_t lane_bytes);
/// Appends the lines of the warp's local memory that an access touches, each once, in the order of the lanes: line i
/// holds word i of the 32 lanes, a sector that of 8 neighbours.
void local_lines(const exec::Access& access, std::vector<LineUse>& lines);

class LocalShard final : public RowShard<LocalRow> {
public:
  using RowShard::RowShard;
  /// Takes accesses of local memory; ignores all others.
  void access(const exec::Access& access) override;
};

class LocalMemory final : public RowAnalyzer<LocalShard> {
public:
  static constexpr AnalyzerInfo kInfo = {"local_memory", "Local memory",
                                         "loads and stores of per-thread memory, interleaved by lane"};
  explicit LocalMemory(std::size_t instructions) : RowAnalyzer(kInfo, instructions) {}
  [[nodiscard]] std::uint64_t requests() const {
    std::uint64_t sum = 0;
    for (const LocalRow& row : rows_) sum += row.loads.requests + row.stores.requests;
    return sum;
  }
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;
};

} // namespace warplens::analyzers
