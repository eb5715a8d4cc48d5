#include "analyzers/reuse_distance.hpp"

#include <bit>

namespace warplens::analyzers {

namespace {

constexpr MetricInfo kMetrics[] = {
    {"reuse_accesses_looked_at.pct", "%", "of the accesses to global memory, those that the figures below are of", 100},
    {"reuse_first_uses", "lines", "uses of 128-byte lines that are new to the block"},
    {"reuse_again", "lines", "uses of lines that the block has used before"},
    {"reuse_distance_mean", "lines", "different lines in between, average"},
    {"reuse_distance_0", "lines",
     "uses again with so many lines in between; further ones 1, 2_to_3, 4_to_7, … where there are any"},
};

constexpr AnalyzerInfo kInfo = {"reuse_distance", "Reuse distance",
                                "lines that a block touches before it touches the same line again", kMetrics,
                                Cost::by_name};

} // namespace

// A tree of partial sums after Fenwick: node i holds the sum over the lowbit(i) times that end at i.
void StackDistance::change(std::size_t time, std::int32_t by) {
  for (; time < tree_.size(); time += time & (~time + 1)) tree_[time] += by;
}

std::uint64_t StackDistance::up_to(std::size_t time) const {
  std::int64_t sum = 0;
  for (; time != 0; time &= time - 1) sum += tree_[time];
  return static_cast<std::uint64_t>(sum);
}

std::optional<std::uint64_t> StackDistance::use(std::uint64_t line) {
  ++now_;
  const auto [known, is_new] = last_.try_emplace(line, now_);
  std::optional<std::uint64_t> distance;
  if (!is_new) {
    distance = up_to(now_ - 1) - up_to(known->second);
    change(known->second, -1);
    known->second = now_;
  }
  change(now_, 1);
  return distance;
}

const AnalyzerInfo& ReuseDistance::info() const { return kInfo; }

void ReuseDistance::Row::add(const Row& other) {
  first += other.first;
  again += other.again;
  between += other.between;
}

void ReuseDistance::study(const Streams& streams) {
  recorded_ = streams.recorded();
  for (std::uint64_t cta = 0; cta < streams.kept_ctas(); ++cta) {
    std::size_t uses = 0;
    streams.each_of_cta(cta, [&](const StreamPlace&, const StreamAccess& a) { uses += a.lines.size(); });
    StackDistance stack(uses);
    streams.each_of_cta(cta, [&](const StreamPlace&, const StreamAccess& access) {
      Row& row = rows_[row_of(access.instruction)];
      for (const LineUse& use : access.lines) {
        const std::optional<std::uint64_t> distance = stack.use(use.line());
        if (!distance) {
          ++row.first;
          continue;
        }
        ++row.again;
        row.between += *distance;
        ++histogram_[std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(*distance)), kBuckets - 1)];
      }
    });
  }
}

namespace {

void add_metrics(Metrics& metrics, const ReuseDistance::Row& row) {
  metrics.add("reuse_first_uses", row.first);
  metrics.add("reuse_again", row.again);
  metrics.add_ratio("reuse_distance_mean", static_cast<double>(row.between), static_cast<double>(row.again));
}

} // namespace

void ReuseDistance::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  Row total;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    total.add(rows_[i]);
    if (i < rows.size() && rows_[i].first + rows_[i].again != 0) add_metrics(rows[i].metrics, rows_[i]);
  }
  launch.add_ratio("reuse_accesses_looked_at.pct", 100 * static_cast<double>(recorded_.kept),
                   static_cast<double>(recorded_.all));
  add_metrics(launch, total);
  for (std::size_t b = 0; b < kBuckets; ++b) {
    if (b != 0 && histogram_[b] == 0) continue;
    const std::uint64_t low = b == 0 ? 0 : std::uint64_t{1} << (b - 1), high = b == 0 ? 0 : 2 * low - 1;
    launch.add("reuse_distance_" + std::to_string(low) + (high > low ? "_to_" + std::to_string(high) : ""),
               histogram_[b]);
  }
}

} // namespace warplens::analyzers
