// SPDX-License-Identifier: Apache-2.0
#include "analyzers/duplicate_loads.hpp"

#include "analyzers/key_index.hpp"

namespace warplens::analyzers {

namespace {

/// A line that a dynamic instance of a load requests.
struct Asked {
  std::uint32_t instruction, instance;
  std::uint64_t line;
  friend bool operator==(const Asked&, const Asked&) = default;
};
std::uint64_t hash_of(const Asked& asked) {
  return analyzers::hash_of(asked.line ^ analyzers::hash_of(std::uint64_t{asked.instruction} << 32 | asked.instance));
}

/// The joint requests of the warps of a multiprocessor, block after block.
class Together {
public:
  void ask(DuplicateLoads::Row& row, const Asked& asked, std::uint64_t cta, std::uint32_t sectors) {
    const auto [number, is_new] = asked_.of(asked);
    if (is_new) seen_.push_back({cta, 0, 0});
    Seen& seen = seen_[number];
    if (seen.cta != cta) seen = {cta, 0, seen.of_all};
    row.requested += LineUse::count(sectors);
    row.different_in_block += LineUse::count(sectors & ~seen.of_block);
    row.different_on_multiprocessor += LineUse::count(sectors & ~seen.of_all);
    seen.of_block |= sectors;
    seen.of_all |= sectors;
  }
  void expect(const Asked& asked) const { asked_.expect(asked); }
  void clear() {
    asked_.clear();
    seen_.clear();
  }

private:
  struct Seen {
    std::uint64_t cta; ///< the last one
    std::uint32_t of_block, of_all;
  };
  KeyIndex<Asked> asked_;
  std::vector<Seen> seen_;
};

} // namespace

void DuplicateLoads::Row::add(const Row& other) {
  requested += other.requested;
  different_in_block += other.different_in_block;
  different_on_multiprocessor += other.different_on_multiprocessor;
}

void DuplicateLoads::study(const Streams& streams) {
  recorded_ = streams.recorded();
  Together together;
  std::vector<std::uint32_t> instances; // of each load, in a warp
  for (std::uint64_t wave = 0; wave < streams.waves(); ++wave)
    for (std::uint32_t m = 0; m < streams.board().multiprocessors; ++m) {
      together.clear();
      for (const std::uint64_t cta : streams.ctas_of(wave, m))
        for (std::uint32_t warp = 0; warp < streams.shape().warps(); ++warp) {
          instances.assign(rows_.size(), 0);
          streams.each_of_warp(cta, warp, [&](const StreamPlace&, const StreamAccess& access) {
            if (access.kind != exec::AccessKind::load) return;
            const std::size_t row = row_of(access.instruction);
            const std::uint32_t instance = instances[row]++;
            for (const LineUse& use : access.lines) together.expect({access.instruction, instance, use.line()});
            for (const LineUse& use : access.lines)
              together.ask(rows_[row], {access.instruction, instance, use.line()}, cta, use.sectors());
          });
        }
    }
}

namespace {

void add_duplicates(Metrics& metrics, const DuplicateLoads::Row& row) {
  metrics.add(MetricId::duplicates_requested, row.requested);
  metrics.add(MetricId::duplicates_in_block, row.different_in_block);
  metrics.add(MetricId::duplicates_on_multiprocessor, row.different_on_multiprocessor);
  const auto requested = static_cast<double>(row.requested);
  metrics.add_ratio(MetricId::duplicate_loads_in_block, requested, static_cast<double>(row.different_in_block));
  metrics.add_ratio(MetricId::duplicate_loads, requested, static_cast<double>(row.different_on_multiprocessor));
}

} // namespace

void DuplicateLoads::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  if (recorded_.kept == 0) return;
  const Row total = add_rows(rows_, rows, add_duplicates);
  launch.add_ratio(MetricId::duplicate_coverage, 100 * static_cast<double>(recorded_.kept),
                   static_cast<double>(recorded_.all));
  add_duplicates(launch, total);
}

} // namespace warplens::analyzers
