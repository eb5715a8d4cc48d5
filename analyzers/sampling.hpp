// SPDX-License-Identifier: Apache-2.0
// Counts of a launch of which only some blocks were watched (exec/grid/sampled.hpp).
//
// How often each instruction ran is known of all blocks, so the counts of an instruction's accesses are multiplied by
// the ratio of these numbers: of the blocks that were not drawn for the sample, and of those that were. Blocks with
// other trip counts therefore do no harm; only differences between the accesses of an instruction do.
//
// The error comes from leaving out one group of the drawn blocks at a time (delete-a-group jackknife), so that it also
// covers what is computed from several counts, such as ratios.
//
//   100 of 10 000 blocks drawn, each executes a load 8 times:  Scale{80 000, 800}(3200 sectors) == 320 000
#pragma once

#include "analyzers/metrics.hpp"
#include "emulator/exec/state/events.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace warplens::analyzers {

/// Multiplies counts by a ratio; rounds to the nearest number.
struct Scale {
  std::uint64_t all = 1, drawn = 1;
  [[nodiscard]] std::uint64_t operator()(std::uint64_t count) const {
    if (all == drawn || drawn == 0) return count;
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(count) * all + drawn / 2) / drawn);
  }
  template <class... Counts> void apply(Counts&... counts) const { ((counts = (*this)(counts)), ...); }
};

/// The ratio of each instruction.
class Scales {
public:
  static constexpr std::size_t kAllGroups = ~std::size_t{0};
  /// Without the drawn group `left_out`.
  Scales(const ir::Function& function, const exec::Sample& sample, std::size_t left_out);
  /// For an instruction out of range, the counts stay as they are.
  [[nodiscard]] Scale of(std::size_t instruction) const {
    return instruction < ratios_.size() ? ratios_[instruction] : Scale{};
  }
  /// The share of the memory accesses of warps whose instructions no watched block executed: they are not counted.
  [[nodiscard]] double uncovered() const { return uncovered_; }

private:
  std::vector<Scale> ratios_;
  double uncovered_ = 0;
};

/// The relative standard error of a metric of the launch.
struct MetricError {
  MetricKey key;
  double relative = 0;
};

/// What a report says of a sample.
struct SampleReport {
  std::uint64_t blocks = 0, watched = 0;
  std::uint64_t classes = 0, seen_classes = 0, unseen_blocks = 0; ///< as in exec::Sample
  bool classes_known = true;
  double uncovered = 0;            ///< Scales::uncovered()
  std::vector<MetricError> errors; ///< in the order of the metrics; those without an error are exact or alike in all
  double largest = 0;              ///< of the main counters, with uncovered()
};

/// The errors are not known yet.
SampleReport report_of(const exec::Sample& sample, double uncovered);

/// `without`: the metrics without each of the groups. `fraction`: of the blocks that could be drawn.
std::vector<MetricError> errors_of(const Metrics& metrics, std::span<const Metrics> without, double fraction);

/// The largest error of the counters that most predictions and findings use. Counters that are small beside the largest
/// of them do not count.
double main_error(const Metrics& metrics, std::span<const MetricError> errors);

} // namespace warplens::analyzers
