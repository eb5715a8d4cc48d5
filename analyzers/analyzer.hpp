// What all analyzers share: merging of shards, the description of their metrics, and how an access site is described.
//
// An analyzer is an exec::Watcher. It can be handed to the emulator on its own, or with all others: see analyzers.hpp.
#pragma once

#include "analyzers/profile.hpp"
#include "emulator/exec/events.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <string_view>

namespace warplens::analyzers {

struct MetricInfo {
  std::string_view name;
  std::string_view unit;
  std::string_view description;
  std::optional<double> ideal{}; ///< the value of a perfect kernel, where there is one
};

struct AnalyzerInfo {
  std::string_view id; ///< "global_transactions"
  std::string_view title;
  std::string_view description;
  std::span<const MetricInfo> metrics; ///< those that always mean the same; histograms add numbered ones
};

class Analyzer : public exec::Watcher {
public:
  [[nodiscard]] virtual const AnalyzerInfo& info() const = 0;
  /// Adds what a shard of this analyzer has counted. Sums only, so the order of the shards does not matter.
  virtual void absorb(exec::Shard& shard) = 0;
  /// After the last shard.
  virtual void conclude(const std::vector<exec::InstructionCount>&) {}
  /// Adds the metrics of the launch, and of each instruction to its row; `rows` has one row per instruction.
  virtual void report(Metrics& launch, std::vector<InstructionRow>& rows) const = 0;

  void finish(std::vector<std::unique_ptr<exec::Shard>> shards,
              const std::vector<exec::InstructionCount>& counts) final {
    for (const auto& shard : shards) absorb(*shard);
    conclude(counts);
  }
};

/// How the lanes of one memory instruction lie to each other, over all its accesses.
class AccessSite {
public:
  void add(exec::Shape shape, std::int64_t stride, exec::Mask mask, std::uint64_t count);
  void merge(const AccessSite& other);
  /// "unit stride", "stride 8 bytes", "broadcast", "irregular", "single lane", "several strides"; the most frequent,
  /// with "mostly " before it when there are others.
  [[nodiscard]] std::string pattern() const;
  /// Bytes from lane to lane; 0 unless that is the same for most accesses.
  [[nodiscard]] std::int64_t stride() const;

private:
  [[nodiscard]] std::size_t most_frequent() const;
  std::uint64_t counts_[5]{};                          // by Shape; the last: a single lane, which has no pattern
  std::int64_t least_stride_ = 0, largest_stride_ = 0; // of strided accesses
};

/// What decides the cost of a regular access, together with the low bits of its base: accesses with equal keys cost
/// the same.
struct ShapeKey {
  std::int64_t stride = 0;
  std::uint64_t low_base = 0;
  exec::Mask mask = 0;
  std::uint16_t lane_bytes = 0;
  exec::Shape shape = exec::Shape::irregular;
  friend bool operator==(const ShapeKey&, const ShapeKey&) = default;
};

/// The addresses of an irregular access, to recognise the next one that is the same but for its base: the rows of a
/// tile, a permutation.
class LaneOffsets {
public:
  void remember(const exec::Access& access) { std::copy_n(access.addresses, exec::kWarpSize, lanes_); }
  /// Whether all active lanes have moved by the same distance; asked only with the mask that was remembered.
  [[nodiscard]] bool moved_together(const exec::Access& access) const {
    const int first = std::countr_zero(access.mask);
    const std::uint64_t distance = access.addresses[first] - lanes_[first];
    for (exec::Mask rest = access.mask & (access.mask - 1); rest; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      if (access.addresses[lane] - lanes_[lane] != distance) return false;
    }
    return true;
  }

private:
  std::uint64_t lanes_[exec::kWarpSize]{};
};

} // namespace warplens::analyzers
