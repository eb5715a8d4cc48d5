// SPDX-License-Identifier: Apache-2.0
// Bulk copies and copies by tensor map: what the tensor memory accelerator moves.
//
//   a box of 16 rows of 128 bytes, at multiples of 32 bytes: 64 sectors, 64 ideal; multicast to 4 blocks: 256 arrive
#pragma once

#include "analyzers/analyzer.hpp"

namespace warplens::analyzers {

struct BulkCopyRow {
  /// Of global memory by operation: loads, stores, reductions.
  struct Moved {
    std::uint64_t copies = 0, bytes = 0, sectors = 0, ideal = 0;
    void add(const Moved& other);
  };
  Moved load, store, reduction;
  std::uint64_t sectors_received = 0; ///< of loads, by all blocks of a multicast
  std::uint64_t shared_read = 0, shared_written = 0;
  void add(const BulkCopyRow& other);
  [[nodiscard]] bool any() const { return (load.copies | store.copies | reduction.copies | shared_read) != 0; }
};

class BulkCopyShard final : public RowShard<BulkCopyRow> {
public:
  using RowShard::RowShard;
  void bulk_copy(const exec::BulkCopy& copy) override;
};

class BulkCopies final : public RowAnalyzer<BulkCopyShard> {
public:
  static constexpr AnalyzerInfo kInfo = {"bulk_copies", "Bulk copies",
                                         "bytes and sectors that the tensor memory accelerator moves"};
  explicit BulkCopies(std::size_t instructions) : RowAnalyzer(kInfo, instructions) {}
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;
};

} // namespace warplens::analyzers
