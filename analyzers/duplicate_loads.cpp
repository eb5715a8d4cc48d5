#include "analyzers/duplicate_loads.hpp"

#include <bit>
#include <tuple>

namespace warplens::analyzers {

namespace {

constexpr MetricInfo kMetrics[] = {
    {"duplicate_accesses_looked_at.pct", "%", "of the accesses to global memory, those that the figures below are of",
     100},
    {"load_sectors_requested", "sectors", "by all warps, each for itself"},
    {"load_sectors_different_in_block", "sectors", "different ones that the warps of a block ask for at a time"},
    {"load_sectors_different_on_multiprocessor", "sectors", "that the warps of all resident blocks ask for at a time"},
    {"duplicate_loads_in_block", "", "requests for a sector by the warps of a block, average"},
    {"duplicate_loads", "", "requests for a sector by the warps of all resident blocks, average"},
};

constexpr AnalyzerInfo kInfo = {
    "duplicate_loads", "Duplicate loads",
    "warps that run together and load the same data; on one multiprocessor unless asked for by name", kMetrics};

std::uint64_t count(std::uint32_t mask) { return static_cast<std::uint64_t>(std::popcount(mask)); }

} // namespace

/// A warp asks for sectors of a line.
struct DuplicateLoads::Request {
  std::uint32_t instruction, instance;
  std::uint64_t line, cta;
  std::uint32_t sectors;
  [[nodiscard]] auto key() const { return std::tie(instruction, instance, line); }
  friend bool operator<(const Request& a, const Request& b) {
    return std::tie(a.instruction, a.instance, a.line, a.cta) < std::tie(b.instruction, b.instance, b.line, b.cta);
  }
};

const AnalyzerInfo& DuplicateLoads::info() const { return kInfo; }

void DuplicateLoads::Row::add(const Row& other) {
  requested += other.requested;
  different_in_block += other.different_in_block;
  different_on_multiprocessor += other.different_on_multiprocessor;
}

void DuplicateLoads::study(const Streams& streams) {
  recorded_ = streams.recorded();
  std::vector<Request> requests;
  std::map<std::uint32_t, std::uint32_t> instances; // of each load, in a warp
  for (std::uint64_t wave = 0; wave < streams.waves(); ++wave)
    for (std::uint32_t m = 0; m < streams.board().multiprocessors; ++m) {
      requests.clear();
      for (const std::uint64_t cta : streams.ctas_of(wave, m))
        for (std::uint32_t warp = 0; warp < streams.shape().warps(); ++warp) {
          instances.clear();
          streams.each_of_warp(cta, warp, [&](const StreamPlace&, const StreamAccess& access) {
            if (access.kind != exec::AccessKind::load) return;
            const std::uint32_t instance = instances[access.instruction]++;
            for (const LineUse& use : access.lines)
              requests.push_back({access.instruction, instance, use.line(), cta, use.sectors()});
          });
        }
      compare(requests);
    }
}

// Of the warps on one multiprocessor.
void DuplicateLoads::compare(std::vector<Request>& requests) {
  std::sort(requests.begin(), requests.end());
  for (auto first = requests.begin(); first != requests.end();) {
    Row& row = rows_[row_of(first->instruction)];
    std::uint32_t of_all = 0, of_block = 0;
    auto r = first;
    for (; r != requests.end() && r->key() == first->key(); ++r) {
      if (r != first && r->cta != (r - 1)->cta) {
        row.different_in_block += count(of_block);
        of_block = 0;
      }
      row.requested += count(r->sectors);
      of_all |= r->sectors;
      of_block |= r->sectors;
    }
    row.different_in_block += count(of_block);
    row.different_on_multiprocessor += count(of_all);
    first = r;
  }
}

namespace {

void add_metrics(Metrics& metrics, const DuplicateLoads::Row& row) {
  metrics.add("load_sectors_requested", row.requested);
  metrics.add("load_sectors_different_in_block", row.different_in_block);
  metrics.add("load_sectors_different_on_multiprocessor", row.different_on_multiprocessor);
  const auto requested = static_cast<double>(row.requested);
  metrics.add_ratio("duplicate_loads_in_block", requested, static_cast<double>(row.different_in_block));
  metrics.add_ratio("duplicate_loads", requested, static_cast<double>(row.different_on_multiprocessor));
}

} // namespace

void DuplicateLoads::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  if (recorded_.kept == 0) return;
  Row total;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    total.add(rows_[i]);
    if (i < rows.size() && rows_[i].requested != 0) add_metrics(rows[i].metrics, rows_[i]);
  }
  launch.add_ratio("duplicate_accesses_looked_at.pct", 100 * static_cast<double>(recorded_.kept),
                   static_cast<double>(recorded_.all));
  add_metrics(launch, total);
}

} // namespace warplens::analyzers
