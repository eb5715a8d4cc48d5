// SPDX-License-Identifier: Apache-2.0
#include "api/report/report_order.hpp"

#include "api/report/table.hpp"
#include "api/report/units.hpp"

#include <fmt/format.h>

namespace warplens::api {

namespace {

using analyzers::MetricId;

class OrderSections {
public:
  OrderSections(const analyzers::Metrics& metrics, const Style& style, std::size_t columns, bool graphics)
      : m_(metrics), s_(style), columns_(columns), graphics_(graphics) {}

  std::string warp_state() {
    loads();
    barriers();
    return std::move(out_);
  }
  std::string cache() {
    caches();
    reuse();
    partitions();
    return std::move(out_);
  }

private:
  template <class... Args> void line(fmt::format_string<Args...> format, Args&&... args) {
    out_ += wrapped(fmt::format(format, std::forward<Args>(args)...), "  ", columns_);
  }
  void section(std::string_view title, std::string_view explanation) {
    out_ += section_title(title, explanation, s_, columns_);
  }
  [[nodiscard]] bool has(MetricId id) const { return m_.find(id) != nullptr; }
  [[nodiscard]] std::uint64_t count(MetricId id) const { return m_.integer(id); }
  [[nodiscard]] double number(MetricId id) const { return m_.number(id); }
  /// If the metrics do not cover all accesses.
  void part_of_all(MetricId share) {
    if (has(share) && number(share) < 100) line("Based on {:.3g} % of the accesses.", number(share));
  }

  void loads() {
    const bool merge = number(MetricId::duplicate_loads) > 1;
    if (!has(MetricId::independent_loads) && !merge) return;
    section("Loads in flight",
            "more loads in flight hide more latency; concurrent loads of the same data are fetched once");
    if (has(MetricId::independent_loads))
      line("A warp waits for loads {:.4g} times, on average with {:.3g} load{} in flight (independent loads).",
           number(MetricId::load_waits), number(MetricId::independent_loads),
           number(MetricId::independent_loads) == 1 ? "" : "s");
    if (!merge) return;
    line("On average, {:.3g} warps of a block and {:.3g} warps of all blocks on a multiprocessor request the same data "
         "at the same time (duplicate loads).",
         number(MetricId::duplicate_loads_in_block), number(MetricId::duplicate_loads));
    part_of_all(MetricId::duplicate_coverage);
  }

  void barriers() {
    if (count(MetricId::barrier_meetings) == 0) return;
    section("Barriers", "a block continues when its last warp has arrived");
    line("{} barriers completed; on average, the other warps run {:.3g} % fewer instructions than the busiest warp.",
         count(MetricId::barrier_meetings), number(MetricId::barrier_imbalance));
  }

  void caches() {
    if (!has(MetricId::dram_read)) return;
    section("Caches", "sectors of 32 bytes");
    Table t({{""}, {"read", Table::right}, {"hit rate", Table::right}, {"repeated misses", Table::right}});
    const auto row = [&](std::string name, std::uint64_t hit, std::uint64_t missed, std::uint64_t again) {
      if (hit + missed == 0) return;
      t.row({std::move(name), fmt::format("{}", hit + missed),
             fmt::format("{:.1f}%", 100 * static_cast<double>(hit) / static_cast<double>(hit + missed)),
             fmt::format("{}", again)});
    };
    const std::uint64_t hit_ld = count(MetricId::l1_local_sectors_hit_ld),
                        hit_st = count(MetricId::l1_local_sectors_hit_st),
                        all_ld = hit_ld + count(MetricId::l1_local_sectors_miss_ld),
                        all_st = hit_st + count(MetricId::l1_local_sectors_miss_st);
    row("first level", count(MetricId::l1_global_sectors_hit_ld) + hit_ld,
        count(MetricId::l1_global_sectors_miss_ld) + all_ld - hit_ld, count(MetricId::l1_missed_again));
    row("second level", count(MetricId::l2_read_hit), count(MetricId::l2_read_miss), count(MetricId::l2_missed_again));
    out_ += t.text(s_.dim, s_.reset);
    if (all_ld + all_st != 0)
      line("Local memory in the first level: {} of {} loaded sectors and {} of {} stored sectors hit.", hit_ld, all_ld,
           hit_st, all_st);
    line("Device memory: {} sectors read, {} written back.", count(MetricId::dram_read), count(MetricId::dram_written));
    part_of_all(MetricId::cache_coverage);
  }

  void reuse() {
    if (!has(MetricId::reuse_first)) return;
    section("Reuse distance", "distinct 128-byte lines that a block accesses between two accesses to the same line");
    line("{} first accesses to a line, {} repeated accesses with an average distance of {:.4g} lines.",
         count(MetricId::reuse_first), count(MetricId::reuse_again), number(MetricId::reuse_mean));
    Table t({{"distance"}, {"accesses", Table::right}, {graphics_ ? "share" : ""}});
    double all = 0;
    for (const analyzers::Metric& m : m_.list())
      if (m.key.id == MetricId::reuse_of_distance) all += m.number();
    for (const analyzers::Metric& m : m_.list()) {
      if (m.key.id != MetricId::reuse_of_distance) continue;
      std::string range(m.name().substr(std::string_view("reuse_distance_").size()));
      if (const std::size_t to = range.find("_to_"); to != range.npos) range.replace(to, 4, " to ");
      t.row({range, fmt::format("{}", m.number()), graphics_ && all > 0 ? bar(m.number() / all, 20) : ""});
    }
    out_ += t.text(s_.dim, s_.reset);
    part_of_all(MetricId::reuse_coverage);
  }

  void partitions() {
    if (!has(MetricId::partition_camping)) return;
    section("Partitions of device memory", "concurrent accesses should be spread evenly over all partitions");
    line("The busiest partition serves {:.3g} times the average load, {:.3g} times in the worst wave of blocks; on "
         "average, {:.3g} partitions are busy at the same time.",
         number(MetricId::partition_camping), number(MetricId::partition_camping_worst),
         number(MetricId::partitions_busy));
    part_of_all(MetricId::partition_coverage);
  }

  const analyzers::Metrics& m_;
  const Style& s_;
  std::size_t columns_;
  bool graphics_;
  std::string out_;
};

} // namespace

std::string warp_state_sections(const analyzers::Metrics& metrics, const Style& style, std::size_t columns) {
  return OrderSections(metrics, style, columns, false).warp_state();
}

std::string cache_sections(const analyzers::Metrics& metrics, const Style& style, std::size_t columns, bool graphics) {
  return OrderSections(metrics, style, columns, graphics).cache();
}

} // namespace warplens::api
