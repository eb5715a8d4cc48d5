// SPDX-License-Identifier: Apache-2.0
#include "analyzers/bulk_copies.hpp"

#include "analyzers/coalescing.hpp"

namespace warplens::analyzers {

namespace {

void add_bulk_copies(Metrics& metrics, const BulkCopyRow& row) {
  if (!row.any()) return;
  metrics.add(MetricId::tma_sectors_ld, row.sectors_received);
  metrics.add(MetricId::tma_moved_ld, row.sectors_received * kSectorBytes);
  metrics.add(MetricId::tma_sectors_st, row.store.sectors);
  metrics.add(MetricId::tma_moved_st, row.store.sectors * kSectorBytes);
  metrics.add(MetricId::tma_sectors_red, row.reduction.sectors);
  metrics.add(MetricId::tma_moved_red, row.reduction.sectors * kSectorBytes);
  BulkCopyRow::Moved all = row.load;
  all.add(row.store);
  all.add(row.reduction);
  metrics.add(MetricId::tma_copies, all.copies);
  metrics.add(MetricId::tma_bytes, all.bytes);
  metrics.add(MetricId::tma_sectors, all.sectors);
  metrics.add(MetricId::tma_sectors_ideal, all.ideal);
  metrics.add(MetricId::tma_sectors_excessive, all.sectors - all.ideal);
  metrics.add(MetricId::tma_shared_read, row.shared_read);
  metrics.add(MetricId::tma_shared_written, row.shared_written);
}

} // namespace

void BulkCopyRow::Moved::add(const Moved& other) {
  copies += other.copies;
  bytes += other.bytes;
  sectors += other.sectors;
  ideal += other.ideal;
}

void BulkCopyRow::add(const BulkCopyRow& other) {
  load.add(other.load);
  store.add(other.store);
  reduction.add(other.reduction);
  sectors_received += other.sectors_received;
  shared_read += other.shared_read;
  shared_written += other.shared_written;
}

void BulkCopyShard::bulk_copy(const exec::BulkCopy& copy) {
  Row& row = row_of(copy.instruction);
  BulkCopyRow::Moved& moved = copy.kind == exec::AccessKind::load    ? row.load
                              : copy.kind == exec::AccessKind::store ? row.store
                                                                     : row.reduction;
  const std::uint64_t ideal = (copy.bytes + kSectorBytes - 1) / kSectorBytes;
  moved.add({copy.count, copy.count * copy.bytes, copy.count * copy.sectors, copy.count * ideal});
  if (copy.kind == exec::AccessKind::load) row.sectors_received += copy.count * copy.received * copy.blocks;
  row.shared_read += copy.count * copy.shared_read;
  row.shared_written += copy.count * copy.shared_written;
}

void BulkCopies::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  add_bulk_copies(launch, add_rows(rows_, rows, add_bulk_copies));
}

} // namespace warplens::analyzers
