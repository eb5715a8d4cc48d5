// SPDX-License-Identifier: Apache-2.0
#include "analyzers/caches.hpp"

#include "analyzers/in_flight.hpp"
#include "analyzers/second_level.hpp"

namespace warplens::analyzers {

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
  in_flight += other.in_flight;
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

  /// The effect of an access in the first level of its multiprocessor.
  struct Path {
    std::uint32_t multiprocessor = 0;
    Cache* first = nullptr; ///< null if the access bypasses it
    CacheGeometry::Store store{};
    Caches::Lookups* loads = nullptr;
    Caches::Lookups* stores = nullptr; ///< null if they are not counted
  };
  Path path(Caches::Row& row, std::uint32_t multiprocessor, isa::Space space) {
    const Path around{multiprocessor};
    if (first_.empty()) return around;
    Cache& first = first_[multiprocessor];
    if (space == isa::Space::global)
      return global_ ? Path{multiprocessor, &first, first.geometry().store, &row.loads, nullptr} : around;
    return local_ ? Path{multiprocessor, &first, *local_, &row.local_loads, &row.local_stores} : around;
  }

  /// What follows happens in a round of a recorded wave.
  void begin(std::uint64_t wave, std::uint64_t round) {
    first_wave_ = wave == 0;
    in_flight_.begin(wave, round);
  }

  /// An access of any multiprocessor. Returns the sectors that nobody accessed in an earlier round of the first wave.
  std::uint32_t first_accesses(const LineUse& use) { return first_wave_ ? in_flight_.first_accesses(use) : 0; }

  /// Accesses to these lines follow.
  void expect(const Path& path, std::span<const LineUse> lines) const {
    for (const LineUse& use : lines) {
      in_flight_.expect(path.multiprocessor, use.line());
      if (path.first != nullptr) path.first->expect(use.line());
    }
  }

  /// `first`: of the sectors, those that nobody accessed before.
  void load(Caches::Row& row, const Path& path, const LineUse& use, std::uint32_t first) {
    if (path.first == nullptr) {
      wait(use.sectors(), first);
      return read(row, path, use.line(), use.sectors());
    }
    const Cache::Outcome o = path.first->load(use.line(), use.sectors());
    look_up(*path.loads, use, o, o.missed == 0);
    const std::uint32_t in_flight = in_flight_.hits(path.multiprocessor, use.line(), o);
    row.in_flight += LineUse::count(in_flight);
    wait((use.sectors() & ~o.hit) | in_flight, first);
    row.l1_again += LineUse::count(o.again);
    if (o.evicted != 0) made_room(row, path, o);
    if (o.missed != 0) read(row, path, use.line(), o.missed);
  }

  void store(Caches::Row& row, const Path& path, const LineUse& use) {
    if (path.first == nullptr) return change(row, use.line(), use.sectors());
    const Cache::Outcome o = path.first->store(use.line(), use.sectors(), path.store);
    if (path.stores != nullptr) look_up(*path.stores, use, o, o.hit == use.sectors());
    if (o.evicted != 0) made_room(row, path, o);
    if (path.store != CacheGeometry::Store::back) change(row, use.line(), use.sectors());
  }

  void atomic(Caches::Row& row, const Path& path, const LineUse& use) {
    if (path.first != nullptr) path.first->invalidate(use.line());
    read(row, path, use.line(), use.sectors());
    change(row, use.line(), use.sectors());
  }

  Caches::Totals totals;

private:
  static void look_up(Caches::Lookups& lookups, const LineUse& use, const Cache::Outcome& o, bool whole) {
    lookups.hit += LineUse::count(o.hit);
    lookups.missed += LineUse::count(use.sectors() & ~o.hit);
    (whole ? lookups.lines_hit : lookups.lines_missed) += 1;
  }

  /// For sectors that the first level does not have, or not yet.
  void wait(std::uint32_t sectors, std::uint32_t first) {
    if (!first_wave_) return;
    totals.waits += LineUse::count(sectors);
    totals.first_accesses += LineUse::count(sectors & first);
  }

  /// Loads from the second level.
  void read(Caches::Row& row, const Path& path, std::uint64_t line, std::uint32_t sectors) {
    row.l2_read += LineUse::count(sectors);
    if (!second_) {
      totals.dram_read += LineUse::count(sectors);
      return;
    }
    const Cache::Outcome o = second_->load(path.multiprocessor, line, sectors);
    row.l2_hit += LineUse::count(o.hit);
    row.l2_again += LineUse::count(o.again);
    totals.dram_read += LineUse::count(o.missed);
    made_room(o);
  }

  void change(Caches::Row& row, std::uint64_t line, std::uint32_t sectors) {
    row.l2_written += LineUse::count(sectors);
    if (!second_) {
      totals.dram_written += LineUse::count(sectors);
      return;
    }
    made_room(second_->store(line, sectors));
  }

  /// An access to a first level by the instruction of `row`.
  void made_room(Caches::Row& row, const Path& path, const Cache::Outcome& o) {
    totals.l1_evicted += o.evicted;
    if (o.written == 0) return;
    for (const Cache::Changed& one : path.first->written()) change(row, one.line, one.sectors);
  }

  /// An access to the second level.
  void made_room(const Cache::Outcome& o) {
    totals.l2_evicted += o.evicted;
    totals.dram_written += o.written;
  }

  bool global_, first_wave_ = true;
  InFlight in_flight_;
  std::optional<CacheGeometry::Store> local_;
  std::vector<Cache> first_;
  std::optional<SecondLevel> second_;
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
  // The first wave fills the caches; those that were not recorded find them full.
  if (!whole && streams.waves() > 1)
    weight_of_later_ = static_cast<double>(streams.waves_of_launch() - 1) / static_cast<double>(streams.waves() - 1);
  for (std::uint64_t wave = 0; wave < streams.waves(); ++wave) {
    if (!whole && wave == 1) first_wave_ = rows_;
    streams.each_of_wave(wave, [&](const StreamPlace& place, const StreamAccess& access) {
      hierarchy.begin(wave, place.round);
      if (!whole && place.multiprocessor != streams.sampled_multiprocessor()) {
        for (const LineUse& use : access.lines) hierarchy.first_accesses(use);
        return;
      }
      ++looked_at_;
      Row& row = rows_[row_of(access.instruction)];
      const Hierarchy::Path path = hierarchy.path(row, whole ? place.multiprocessor : 0, access.space);
      hierarchy.expect(path, access.lines);
      for (const LineUse& use : access.lines) {
        const std::uint32_t first_accesses = hierarchy.first_accesses(use);
        switch (access.kind) {
        case exec::AccessKind::load: hierarchy.load(row, path, use, first_accesses); break;
        case exec::AccessKind::store: hierarchy.store(row, path, use); break;
        default: hierarchy.atomic(row, path, use); break;
        }
      }
    });
  }
  totals_ = hierarchy.totals;
}

namespace {

/// Sectors of loads, weighted by how many of the launch each stands for.
class HitRate {
public:
  void add(const Caches::Row& row, double weight) {
    hit_ += weight * static_cast<double>(row.loads.hit + row.local_loads.hit);
    in_flight_ += weight * static_cast<double>(row.in_flight);
    all_ += weight * static_cast<double>(row.l1_loads());
  }
  void report(Metrics& metrics) const {
    metrics.add_ratio(MetricId::l1_hit_rate, 100 * hit_, all_);
    metrics.add_ratio(MetricId::l1_in_flight_rate, 100 * in_flight_, all_);
  }

private:
  double hit_ = 0, in_flight_ = 0, all_ = 0;
};

/// `hits`: the metric of sectors that hit; those of sectors that miss, of lines that hit and of lines that miss follow.
void add_lookups(Metrics& metrics, MetricId hits, const Caches::Lookups& lookups) {
  std::size_t next = 0;
  for (const std::uint64_t count : {lookups.hit, lookups.missed, lookups.lines_hit, lookups.lines_missed})
    metrics.add(by_operation(hits, next++), count);
}

void add_levels(Metrics& metrics, const Caches::Row& row) {
  metrics.add(MetricId::l1_missed_again, row.l1_again);
  metrics.add(MetricId::l2_read, row.l2_read);
  metrics.add(MetricId::l2_read_hit, row.l2_hit);
  metrics.add(MetricId::l2_read_miss, row.l2_read - row.l2_hit);
  metrics.add(MetricId::l2_written, row.l2_written);
  metrics.add_ratio(MetricId::l2_hit_rate, 100 * static_cast<double>(row.l2_hit), static_cast<double>(row.l2_read));
  metrics.add(MetricId::l2_missed_again, row.l2_again);
}

void add_cache_hits(Metrics& metrics, const Caches::Row& row, bool global, bool local) {
  if (global) add_lookups(metrics, MetricId::l1_global_sectors_hit_ld, row.loads);
  if (local) {
    add_lookups(metrics, MetricId::l1_local_sectors_hit_ld, row.local_loads);
    add_lookups(metrics, MetricId::l1_local_sectors_hit_st, row.local_stores);
  }
  add_levels(metrics, row);
}

} // namespace

void Caches::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  if (!present_ || all_ == 0) return;
  const bool whole = coverage_ == Coverage::whole;
  Row total;
  HitRate rate_of_launch;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    total.add(row);
    HitRate rate;
    for (HitRate* const r : {&rate, &rate_of_launch}) {
      r->add(row, weight_of_later_);
      if (i < first_wave_.size()) r->add(first_wave_[i], 1 - weight_of_later_);
    }
    if (i >= rows.size() || row.empty()) continue;
    rate.report(rows[i].metrics);
    const bool local = row.local_loads.all() + row.local_stores.all() != 0;
    if (whole) add_cache_hits(rows[i].metrics, row, !local || row.loads.all() != 0, local);
  }
  launch.add_ratio(MetricId::cache_coverage, 100 * static_cast<double>(looked_at_), static_cast<double>(all_));
  rate_of_launch.report(launch);
  launch.add_ratio(MetricId::first_wave_from_memory, 100 * static_cast<double>(totals_.first_accesses),
                   static_cast<double>(totals_.waits));
  if (!whole) return;
  add_cache_hits(launch, total, true, true);
  launch.add(MetricId::l1_evicted, totals_.l1_evicted);
  launch.add(MetricId::l2_evicted, totals_.l2_evicted);
  launch.add(MetricId::dram_read, totals_.dram_read);
  launch.add(MetricId::dram_written, totals_.dram_written);
}

} // namespace warplens::analyzers
