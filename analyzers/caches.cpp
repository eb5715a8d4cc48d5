#include "analyzers/caches.hpp"

#include <bit>

namespace warplens::analyzers {

namespace {

constexpr MetricInfo kMetrics[] = {
    {"cache_accesses_simulated.pct", "%", "of the accesses to global memory, those that the figures below are of", 100},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", "sectors", "of loads, found in the first level"},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_miss.sum", "sectors", "of loads, not found there"},
    {"l1tex__t_sector_hit_rate.pct", "%", "of the sectors of loads, those found in the first level", 100},
    {"l1_global_load_hit", "lines", "requests of loads for 128-byte lines that found all in the first level"},
    {"l1_global_load_miss", "lines", "those that did not"},
    {"l1_lines_evicted", "lines", "thrown out of a first level to make room", 0},
    {"l1_sectors_missed_again", "sectors", "misses on what that first level had held before: thrashing, and stores", 0},
    {"lts__t_sectors_op_read.sum", "sectors", "that the second level is asked for"},
    {"lts__t_sectors_op_read_lookup_hit.sum", "sectors", "of them, found there"},
    {"lts__t_sectors_op_read_lookup_miss.sum", "sectors", "of them, not found there"},
    {"lts__t_sectors_op_write.sum", "sectors", "that stores and atomics change in the second level"},
    {"lts__t_sector_op_read_hit_rate.pct", "%", "of the sectors read, those found in the second level", 100},
    {"l2_lines_evicted", "lines", "thrown out of the second level to make room", 0},
    {"l2_sectors_missed_again", "sectors", "misses on what the second level had held before: thrashing", 0},
    {"dram__sectors_read.sum", "sectors", "read from device memory"},
    {"dram__sectors_write.sum", "sectors", "changed, and thrown out of the second level"},
};

constexpr AnalyzerInfo kInfo = {
    "caches", "Caches",
    "hits, misses and evictions of both levels; unless asked for by name, hits of one multiprocessor's first level",
    kMetrics};

std::uint64_t count(std::uint32_t sectors) { return LineUse::count(sectors); }

} // namespace

const AnalyzerInfo& Caches::info() const { return kInfo; }

void Caches::Row::add(const Row& other) {
  l1_hit += other.l1_hit;
  l1_missed += other.l1_missed;
  l1_again += other.l1_again;
  lines_hit += other.lines_hit;
  lines_missed += other.lines_missed;
  l2_read += other.l2_read;
  l2_hit += other.l2_hit;
  l2_again += other.l2_again;
  l2_written += other.l2_written;
}

namespace {

/// The first level of each multiprocessor, and the second.
class Hierarchy {
public:
  Hierarchy(const Board& board, Caches::Extent extent) {
    const bool whole = extent == Caches::Extent::whole;
    if (board.l1) first_.assign(whole ? board.multiprocessors : 1, Cache(*board.l1));
    if (board.l2 && whole) second_.emplace(*board.l2);
  }

  void load(Caches::Row& row, std::uint32_t multiprocessor, const LineUse& use) {
    if (first_.empty()) return read(row, use.line(), use.sectors());
    const Cache::Outcome o = first_[multiprocessor].load(use.line(), use.sectors());
    row.l1_hit += count(o.hit);
    row.l1_missed += count(use.sectors() & ~o.hit);
    row.l1_again += count(o.again);
    (o.missed == 0 ? row.lines_hit : row.lines_missed) += 1;
    totals.l1_evicted += o.evicted;
    if (o.missed != 0) read(row, use.line(), o.missed);
  }

  void store(Caches::Row& row, std::uint32_t multiprocessor, const LineUse& use) {
    if (!first_.empty()) first_[multiprocessor].store(use.line(), use.sectors());
    change(row, use);
  }

  void atomic(Caches::Row& row, std::uint32_t multiprocessor, const LineUse& use) {
    if (!first_.empty()) first_[multiprocessor].invalidate(use.line());
    read(row, use.line(), use.sectors());
    change(row, use);
  }

  Caches::Totals totals;

private:
  /// From the second level.
  void read(Caches::Row& row, std::uint64_t line, std::uint32_t sectors) {
    row.l2_read += count(sectors);
    if (!second_) {
      totals.dram_read += count(sectors);
      return;
    }
    const Cache::Outcome o = second_->load(line, sectors);
    row.l2_hit += count(o.hit);
    row.l2_again += count(o.again);
    totals.dram_read += count(o.missed);
    made_room(o);
  }

  void change(Caches::Row& row, const LineUse& use) {
    row.l2_written += count(use.sectors());
    if (!second_) {
      totals.dram_written += count(use.sectors());
      return;
    }
    made_room(second_->store(use.line(), use.sectors()));
  }

  void made_room(const Cache::Outcome& o) {
    totals.l2_evicted += o.evicted;
    totals.dram_written += o.written;
  }

  std::vector<Cache> first_;
  std::optional<Cache> second_;
};

} // namespace

void Caches::study(const Streams& streams) {
  const bool whole = extent_ == Extent::whole;
  const Board& board = streams.board();
  all_ = streams.recorded().all;
  present_ = board.l1 || (board.l2 && whole);
  if (!present_) return; // before Fermi
  Hierarchy hierarchy(board, extent_);
  for (std::uint64_t wave = 0; wave < (whole ? streams.waves() : 1); ++wave)
    streams.each_of_wave(wave, [&](const StreamPlace& place, const StreamAccess& access) {
      if (!whole && place.multiprocessor != 0) return;
      ++looked_at_;
      Row& row = rows_[row_of(access.instruction)];
      for (const LineUse& use : access.lines) switch (access.kind) {
        case exec::AccessKind::load: hierarchy.load(row, place.multiprocessor, use); break;
        case exec::AccessKind::store: hierarchy.store(row, place.multiprocessor, use); break;
        default: hierarchy.atomic(row, place.multiprocessor, use); break;
        }
    });
  totals_ = hierarchy.totals;
}

namespace {

void add_hit_rate(Metrics& metrics, const Caches::Row& row) {
  metrics.add_ratio("l1tex__t_sector_hit_rate.pct", 100 * static_cast<double>(row.l1_hit),
                    static_cast<double>(row.l1_hit + row.l1_missed));
}

void add_metrics(Metrics& metrics, const Caches::Row& row) {
  const std::string sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_";
  metrics.add(sectors + "hit.sum", row.l1_hit);
  metrics.add(sectors + "miss.sum", row.l1_missed);
  add_hit_rate(metrics, row);
  metrics.add("l1_global_load_hit", row.lines_hit);
  metrics.add("l1_global_load_miss", row.lines_missed);
  metrics.add("l1_sectors_missed_again", row.l1_again);
  metrics.add("lts__t_sectors_op_read.sum", row.l2_read);
  metrics.add("lts__t_sectors_op_read_lookup_hit.sum", row.l2_hit);
  metrics.add("lts__t_sectors_op_read_lookup_miss.sum", row.l2_read - row.l2_hit);
  metrics.add("lts__t_sectors_op_write.sum", row.l2_written);
  metrics.add_ratio("lts__t_sector_op_read_hit_rate.pct", 100 * static_cast<double>(row.l2_hit),
                    static_cast<double>(row.l2_read));
  metrics.add("l2_sectors_missed_again", row.l2_again);
}

} // namespace

void Caches::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  if (!present_ || all_ == 0) return;
  const auto add = extent_ == Extent::whole ? add_metrics : add_hit_rate;
  Row total;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    total.add(row);
    if (i < rows.size() && row.l1_hit + row.l1_missed + row.l2_read + row.l2_written != 0) add(rows[i].metrics, row);
  }
  launch.add_ratio("cache_accesses_simulated.pct", 100 * static_cast<double>(looked_at_), static_cast<double>(all_));
  add(launch, total);
  if (extent_ == Extent::sample) return;
  launch.add("l1_lines_evicted", totals_.l1_evicted);
  launch.add("l2_lines_evicted", totals_.l2_evicted);
  launch.add("dram__sectors_read.sum", totals_.dram_read);
  launch.add("dram__sectors_write.sum", totals_.dram_written);
}

} // namespace warplens::analyzers
