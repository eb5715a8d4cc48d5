#include "api/report/report_order.hpp"

#include "api/report/table.hpp"

#include <fmt/format.h>

namespace warplens::api {

namespace {

class Sections {
public:
  Sections(const analyzers::Metrics& metrics, const Style& style) : m_(metrics), s_(style) {}

  std::string write() {
    loads();
    barriers();
    caches();
    reuse();
    partitions();
    return std::move(out_);
  }

private:
  template <class... Args> void line(fmt::format_string<Args...> format, Args&&... args) {
    out_ += wrapped(fmt::format(format, std::forward<Args>(args)...), "  ");
  }
  void section(std::string_view title, std::string_view explanation) {
    out_ += fmt::format("\n{}{}{}{}: {}{}\n", s_.bold, title, s_.reset, s_.dim, explanation, s_.reset);
  }
  [[nodiscard]] bool has(std::string_view name) const { return m_.find(name) != nullptr; }
  [[nodiscard]] std::uint64_t count(std::string_view name) const { return m_.integer(name); }
  [[nodiscard]] double number(std::string_view name) const {
    const analyzers::Metric* const m = m_.find(name);
    return m == nullptr ? 0 : m->number();
  }
  /// Where not all accesses were looked at.
  void part_of_all(std::string_view share) {
    if (has(share) && number(share) < 100) line("Counted on {:.3g} % of the accesses.", number(share));
  }

  void loads() {
    const bool merge = number("duplicate_loads") > 1;
    if (!has("independent_loads") && !merge) return;
    section("Loads in flight", "more of them hide more latency; those that share data are fetched once");
    if (has("independent_loads"))
      line("A warp waits for loads {:.4g} times, with {:.3g} in flight on average (independent loads).",
           number("load_waits_per_warp"), number("independent_loads"));
    if (!merge) return;
    line("The same data is asked for at the same time {:.3g} times by the warps of a block, {:.3g} times by those of "
         "all "
         "blocks on a multiprocessor (duplicate loads).",
         number("duplicate_loads_in_block"), number("duplicate_loads"));
    part_of_all("duplicate_accesses_looked_at.pct");
  }

  void barriers() {
    if (count("barrier_meetings") == 0) return;
    section("Barriers", "a block goes on when its last warp has arrived");
    line("{} meetings; of the instructions of the busiest warp, the others run {:.3g} % fewer on average.",
         count("barrier_meetings"), number("barrier_imbalance.pct"));
  }

  void caches() {
    if (!has("dram__sectors_read.sum")) return;
    section("Caches", "sectors of 32 bytes");
    Table t({{""}, {"read", Table::right}, {"found there", Table::right}, {"lost and missed again", Table::right}});
    const std::string first = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_";
    const auto row = [&](std::string name, std::uint64_t hit, std::uint64_t missed, std::uint64_t again) {
      if (hit + missed == 0) return;
      t.row({std::move(name), fmt::format("{}", hit + missed),
             fmt::format("{:.1f}%", 100 * static_cast<double>(hit) / static_cast<double>(hit + missed)),
             fmt::format("{}", again)});
    };
    const std::string local = "l1tex__t_sectors_pipe_lsu_mem_local_op_";
    const auto found = [&](const std::string& op) { return count(local + op + "_lookup_hit.sum"); };
    const auto missed = [&](const std::string& op) { return count(local + op + "_lookup_miss.sum"); };
    row("first level", count(first + "hit.sum") + found("ld"), count(first + "miss.sum") + missed("ld"),
        count("l1_sectors_missed_again"));
    row("second level", count("lts__t_sectors_op_read_lookup_hit.sum"), count("lts__t_sectors_op_read_lookup_miss.sum"),
        count("l2_sectors_missed_again"));
    out_ += t.text(s_.dim, s_.reset);
    if (const std::uint64_t of_local = found("ld") + missed("ld") + found("st") + missed("st"); of_local != 0)
      line("Local memory in the first level: {} of {} sectors loaded were there, {} of {} stored.", found("ld"),
           found("ld") + missed("ld"), found("st"), found("st") + missed("st"));
    line("Device memory: {} sectors read, {} written back.", count("dram__sectors_read.sum"),
         count("dram__sectors_write.sum"));
    part_of_all("cache_accesses_simulated.pct");
  }

  void reuse() {
    if (!has("reuse_first_uses")) return;
    section("Reuse distance", "other 128-byte lines that a block touches before it touches the same one again");
    line("{} uses of new lines, {} of others, {:.4g} lines apart on average.", count("reuse_first_uses"),
         count("reuse_again"), number("reuse_distance_mean"));
    constexpr std::string_view prefix = "reuse_distance_";
    Table t({{"distance"}, {"uses", Table::right}});
    for (const analyzers::Metric& m : m_.list()) {
      if (!m.name.starts_with(prefix) || m.name == "reuse_distance_mean") continue;
      std::string range = m.name.substr(prefix.size());
      if (const std::size_t to = range.find("_to_"); to != range.npos) range.replace(to, 4, " to ");
      t.row({range, fmt::format("{}", m.number())});
    }
    out_ += t.text(s_.dim, s_.reset);
    part_of_all("reuse_accesses_looked_at.pct");
  }

  void partitions() {
    if (!has("partition_camping.ratio")) return;
    section("Partitions of device memory", "accesses of one time should spread over all of them");
    line("The busiest partition has {:.3g} times an even share, {:.3g} times in the worst wave of blocks; {:.3g} are "
         "busy at a time.",
         number("partition_camping.ratio"), number("partition_camping_worst_wave.ratio"), number("partitions_busy"));
    part_of_all("partition_accesses_simulated.pct");
  }

  const analyzers::Metrics& m_;
  const Style& s_;
  std::string out_;
};

} // namespace

std::string order_sections(const analyzers::Metrics& metrics, const Style& style) {
  return Sections(metrics, style).write();
}

} // namespace warplens::api
