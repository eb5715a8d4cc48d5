// SPDX-License-Identifier: Apache-2.0
#include "analyzers/partition_camping.hpp"

#include "analyzers/coalescing.hpp"

#include <bit>

namespace warplens::analyzers {

namespace {

/// The sectors of each partition in a window.
class Window {
public:
  explicit Window(std::uint32_t partitions) : sectors_(partitions) {}

  void add(const Partitions& partitions, std::span<const LineUse> lines) {
    std::vector<std::uint64_t>& own = one_;
    own.assign(sectors_.size(), 0);
    for (const LineUse& use : lines)
      for (std::uint32_t rest = use.sectors(); rest; rest &= rest - 1) {
        constexpr std::uint64_t kLineBytes = 128;
        const std::uint64_t address =
            use.line() * kLineBytes + kSectorBytes * static_cast<std::uint64_t>(std::countr_zero(rest));
        ++own[address / partitions.bytes % partitions.count];
      }
    for (std::size_t p = 0; p < sectors_.size(); ++p) {
      sectors_[p] += own[p];
      all_ += own[p];
      largest_ = std::max(largest_, own[p]);
    }
  }

  [[nodiscard]] PartitionCamping::Load load() const {
    const double even = static_cast<double>(all_) / static_cast<double>(sectors_.size());
    return {*std::max_element(sectors_.begin(), sectors_.end()), std::max(even, static_cast<double>(largest_))};
  }
  [[nodiscard]] const std::vector<std::uint64_t>& sectors() const { return sectors_; }
  [[nodiscard]] bool empty() const { return all_ == 0; }

private:
  std::vector<std::uint64_t> sectors_, one_;
  std::uint64_t all_ = 0, largest_ = 0;
};

double ratio(const PartitionCamping::Load& load) {
  return load.even > 0 ? static_cast<double>(load.busiest) / load.even : 0;
}

} // namespace

void PartitionCamping::Load::add(const Load& other) {
  busiest += other.busiest;
  even += other.even;
}

void PartitionCamping::study(const Streams& streams) {
  if (!streams.board().partitions) return;
  const Partitions& partitions = *streams.board().partitions;
  recorded_ = streams.recorded();
  partition_.assign(partitions.count, 0);
  Window window(partitions.count);
  std::map<std::uint32_t, Window> by_instruction;
  for (std::uint64_t wave = 0; wave < streams.waves(); ++wave) {
    Load of_wave;
    std::uint64_t round = 0;
    const auto close = [&] {
      if (window.empty()) return;
      of_wave.add(window.load());
      ++windows_;
      for (std::size_t p = 0; p < partition_.size(); ++p) {
        partition_[p] += window.sectors()[p];
        busy_ += window.sectors()[p] != 0 ? 1 : 0;
      }
      for (const auto& [instruction, own] : by_instruction) rows_[row_of(instruction)].add(own.load());
      window = Window(partitions.count);
      by_instruction.clear();
    };
    streams.each_of_wave(wave, [&](const StreamPlace& place, const StreamAccess& access) {
      if (access.space != isa::Space::global) return; // the location of local memory is unknown
      if (place.round != round) close();
      round = place.round;
      window.add(partitions, access.lines);
      by_instruction.try_emplace(access.instruction, partitions.count).first->second.add(partitions, access.lines);
    });
    close();
    total_.add(of_wave);
    worst_wave_ = std::max(worst_wave_, ratio(of_wave));
  }
}

void PartitionCamping::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  if (windows_ == 0) return;
  launch.add_ratio(MetricId::partition_coverage, 100 * static_cast<double>(recorded_.kept),
                   static_cast<double>(recorded_.all));
  launch.add_ratio(MetricId::partition_camping, ratio(total_), 1);
  launch.add_ratio(MetricId::partition_camping_worst, worst_wave_, 1);
  launch.add_ratio(MetricId::partitions_busy, static_cast<double>(busy_), static_cast<double>(windows_));
  for (std::size_t p = 0; p < partition_.size(); ++p) launch.add({MetricId::sectors_of_partition, p}, partition_[p]);
  for (std::size_t i = 0; i < rows.size() && i < rows_.size(); ++i)
    if (rows_[i].even > 0) rows[i].metrics.add_ratio(MetricId::partition_camping, ratio(rows_[i]), 1);
}

} // namespace warplens::analyzers
