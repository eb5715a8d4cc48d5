#include "analyzers/caches.hpp"

#include <bit>

namespace warplens::analyzers {

namespace {

constexpr MetricInfo kMetrics[] = {
    {"cache_accesses_simulated.pct", "%",
     "of the accesses to global and local memory, those that the figures below are of", 100},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", "sectors", "of loads, found in the first level"},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_miss.sum", "sectors", "of loads, not found there"},
    {"l1tex__t_sector_hit_rate.pct", "%",
     "of the sectors of loads, of global and local memory, those found in the first level", 100},
    {"l1_global_load_hit", "lines", "requests of loads for 128-byte lines that found all in the first level"},
    {"l1_global_load_miss", "lines", "those that did not"},
    {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_hit.sum", "sectors", "of loads of local memory, found there"},
    {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_miss.sum", "sectors", "of loads of local memory, not found"},
    {"l1tex__t_sectors_pipe_lsu_mem_local_op_st_lookup_hit.sum", "sectors", "of stores to local memory, found there"},
    {"l1tex__t_sectors_pipe_lsu_mem_local_op_st_lookup_miss.sum", "sectors", "of stores to local memory, not found"},
    {"l1_local_load_hit", "lines", "requests of loads for lines of local memory that found all there"},
    {"l1_local_load_miss", "lines", "those that did not"},
    {"l1_local_store_hit", "lines", "requests of stores for lines of local memory that found all there"},
    {"l1_local_store_miss", "lines", "those that did not"},
    {"l1_lines_evicted", "lines", "thrown out of a first level to make room", 0},
    {"l1_sectors_missed_again", "sectors", "misses on what that first level had held before: thrashing, and stores", 0},
    {"lts__t_sectors_op_read.sum", "sectors", "that the second level is asked for"},
    {"lts__t_sectors_op_read_lookup_hit.sum", "sectors", "of them, found there"},
    {"lts__t_sectors_op_read_lookup_miss.sum", "sectors", "of them, not found there"},
    {"lts__t_sectors_op_write.sum", "sectors",
     "that come to the second level changed: of stores, of atomics, and what the first threw out"},
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

void Caches::Lookups::add(const Lookups& other) {
  hit += other.hit;
  missed += other.missed;
  lines_hit += other.lines_hit;
  lines_missed += other.lines_missed;
}

void Caches::Row::add(const Row& other) {
  loads.add(other.loads);
  local_loads.add(other.local_loads);
  local_stores.add(other.local_stores);
  l1_again += other.l1_again;
  l2_read += other.l2_read;
  l2_hit += other.l2_hit;
  l2_again += other.l2_again;
  l2_written += other.l2_written;
}

bool Caches::Row::empty() const { return l1_loads() + local_stores.all() + l2_read + l2_written == 0; }

namespace {

/// The first level of each multiprocessor, and the second.
class Hierarchy {
public:
  Hierarchy(const Board& board, Caches::Coverage coverage) : global_(board.l1_global), local_(board.l1_local) {
    const bool whole = coverage == Caches::Coverage::whole;
    if (board.l1) first_.assign(whole ? board.multiprocessors : 1, Cache(*board.l1));
    if (board.l2 && whole) second_.emplace(*board.l2);
  }

  /// What an access does in the first level of its multiprocessor.
  struct Path {
    Cache* first = nullptr; ///< null where it passes by
    CacheGeometry::Store store{};
    Caches::Lookups* loads = nullptr;
    Caches::Lookups* stores = nullptr; ///< null where nobody counts them
  };
  Path path(Caches::Row& row, std::uint32_t multiprocessor, isa::Space space) {
    if (first_.empty()) return {};
    Cache& first = first_[multiprocessor];
    if (space == isa::Space::global)
      return global_ ? Path{&first, first.geometry().store, &row.loads, nullptr} : Path{};
    return local_ ? Path{&first, *local_, &row.local_loads, &row.local_stores} : Path{};
  }

  void load(Caches::Row& row, const Path& path, const LineUse& use) {
    if (path.first == nullptr) return read(row, use.line(), use.sectors());
    const Cache::Outcome o = path.first->load(use.line(), use.sectors());
    look_up(*path.loads, use, o, o.missed == 0);
    row.l1_again += count(o.again);
    if (o.evicted != 0) made_room(row, *path.first, o);
    if (o.missed != 0) read(row, use.line(), o.missed);
  }

  void store(Caches::Row& row, const Path& path, const LineUse& use) {
    if (path.first == nullptr) return change(row, use.line(), use.sectors());
    const Cache::Outcome o = path.first->store(use.line(), use.sectors(), path.store);
    if (path.stores != nullptr) look_up(*path.stores, use, o, o.hit == use.sectors());
    if (o.evicted != 0) made_room(row, *path.first, o);
    if (path.store != CacheGeometry::Store::back) change(row, use.line(), use.sectors());
  }

  void atomic(Caches::Row& row, const Path& path, const LineUse& use) {
    if (path.first != nullptr) path.first->invalidate(use.line());
    read(row, use.line(), use.sectors());
    change(row, use.line(), use.sectors());
  }

  Caches::Totals totals;

private:
  static void look_up(Caches::Lookups& lookups, const LineUse& use, const Cache::Outcome& o, bool whole) {
    lookups.hit += count(o.hit);
    lookups.missed += count(use.sectors() & ~o.hit);
    (whole ? lookups.lines_hit : lookups.lines_missed) += 1;
  }

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

  void change(Caches::Row& row, std::uint64_t line, std::uint32_t sectors) {
    row.l2_written += count(sectors);
    if (!second_) {
      totals.dram_written += count(sectors);
      return;
    }
    made_room(second_->store(line, sectors));
  }

  /// In a first level, for what the instruction of `row` brings there.
  void made_room(Caches::Row& row, const Cache& first, const Cache::Outcome& o) {
    totals.l1_evicted += o.evicted;
    if (o.written == 0) return;
    for (const Cache::Changed& one : first.written()) change(row, one.line, one.sectors);
  }

  /// In the second.
  void made_room(const Cache::Outcome& o) {
    totals.l2_evicted += o.evicted;
    totals.dram_written += o.written;
  }

  bool global_;
  std::optional<CacheGeometry::Store> local_;
  std::vector<Cache> first_;
  std::optional<Cache> second_;
};

} // namespace

void Caches::study(const Streams& streams) {
  const bool whole = coverage_ == Coverage::whole;
  const Board& board = streams.board();
  Streams::Recorded recorded = streams.recorded();
  recorded.add(streams.local());
  all_ = recorded.all;
  const bool first = board.l1 && (board.l1_global || (board.l1_local && streams.local().all != 0));
  present_ = first || ((board.l1 || board.l2) && whole);
  if (!present_) return; // before Fermi
  Hierarchy hierarchy(board, coverage_);
  for (std::uint64_t wave = 0; wave < (whole ? streams.waves() : 1); ++wave)
    streams.each_of_wave(wave, [&](const StreamPlace& place, const StreamAccess& access) {
      if (!whole && place.multiprocessor != 0) return;
      ++looked_at_;
      Row& row = rows_[row_of(access.instruction)];
      const Hierarchy::Path path = hierarchy.path(row, place.multiprocessor, access.space);
      for (const LineUse& use : access.lines) switch (access.kind) {
        case exec::AccessKind::load: hierarchy.load(row, path, use); break;
        case exec::AccessKind::store: hierarchy.store(row, path, use); break;
        default: hierarchy.atomic(row, path, use); break;
        }
    });
  totals_ = hierarchy.totals;
}

namespace {

void add_hit_rate(Metrics& metrics, const Caches::Row& row) {
  metrics.add_ratio("l1tex__t_sector_hit_rate.pct", 100 * static_cast<double>(row.loads.hit + row.local_loads.hit),
                    static_cast<double>(row.l1_loads()));
}

void add_lookups(Metrics& metrics, const Caches::Lookups& lookups, const std::string& memory, const std::string& op) {
  const std::string sectors = "l1tex__t_sectors_pipe_lsu_mem_" + memory + (op == "load" ? "_op_ld" : "_op_st");
  metrics.add(sectors + "_lookup_hit.sum", lookups.hit);
  metrics.add(sectors + "_lookup_miss.sum", lookups.missed);
  metrics.add("l1_" + memory + "_" + op + "_hit", lookups.lines_hit);
  metrics.add("l1_" + memory + "_" + op + "_miss", lookups.lines_missed);
}

void add_levels(Metrics& metrics, const Caches::Row& row) {
  metrics.add("l1_sectors_missed_again", row.l1_again);
  metrics.add("lts__t_sectors_op_read.sum", row.l2_read);
  metrics.add("lts__t_sectors_op_read_lookup_hit.sum", row.l2_hit);
  metrics.add("lts__t_sectors_op_read_lookup_miss.sum", row.l2_read - row.l2_hit);
  metrics.add("lts__t_sectors_op_write.sum", row.l2_written);
  metrics.add_ratio("lts__t_sector_op_read_hit_rate.pct", 100 * static_cast<double>(row.l2_hit),
                    static_cast<double>(row.l2_read));
  metrics.add("l2_sectors_missed_again", row.l2_again);
}

void add_metrics(Metrics& metrics, const Caches::Row& row, bool global, bool local) {
  if (global) add_lookups(metrics, row.loads, "global", "load");
  add_hit_rate(metrics, row);
  if (local) {
    add_lookups(metrics, row.local_loads, "local", "load");
    add_lookups(metrics, row.local_stores, "local", "store");
  }
  add_levels(metrics, row);
}

} // namespace

void Caches::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  if (!present_ || all_ == 0) return;
  const bool whole = coverage_ == Coverage::whole;
  Row total;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    total.add(row);
    if (i >= rows.size() || row.empty()) continue;
    const bool local = row.local_loads.all() + row.local_stores.all() != 0;
    if (whole)
      add_metrics(rows[i].metrics, row, !local || row.loads.all() != 0, local);
    else
      add_hit_rate(rows[i].metrics, row);
  }
  launch.add_ratio("cache_accesses_simulated.pct", 100 * static_cast<double>(looked_at_), static_cast<double>(all_));
  if (!whole) return add_hit_rate(launch, total);
  add_metrics(launch, total, true, true);
  launch.add("l1_lines_evicted", totals_.l1_evicted);
  launch.add("l2_lines_evicted", totals_.l2_evicted);
  launch.add("dram__sectors_read.sum", totals_.dram_read);
  launch.add("dram__sectors_write.sum", totals_.dram_written);
}

} // namespace warplens::analyzers
