// SPDX-License-Identifier: Apache-2.0
// The base of all analyzers: merging of shards, descriptions, and the access patterns of instructions.
//
// An analyzer is an exec::Watcher. The emulator can run it alone, or together with all others: see analyzers.hpp.
#pragma once

#include "analyzers/profile.hpp"
#include "analyzers/sampling.hpp"
#include "emulator/exec/state/events.hpp"

#include <algorithm>
#include <bit>
#include <string_view>

namespace warplens::analyzers {

/// When an analyzer runs.
enum class Cost : std::uint8_t {
  small,  ///< always: costs at most a tenth of the emulation
  by_name ///< only on request: processes each access separately, which takes several times as long as the emulation
};

struct AnalyzerInfo {
  std::string_view id; ///< "global_transactions"
  std::string_view title;
  std::string_view description;
  Cost cost = Cost::small;
};

class Analyzer : public exec::Watcher {
public:
  /// `info` must outlive it.
  explicit Analyzer(const AnalyzerInfo& info) : info_(info) {}
  [[nodiscard]] const AnalyzerInfo& info() const { return info_; }
  /// By default for analyzers that need no events.
  std::unique_ptr<exec::Shard> make_shard() override { return std::make_unique<exec::Shard>(); }
  /// Adds the counts of a shard of this analyzer. They are sums, so the order of the shards does not matter.
  virtual void absorb(exec::Shard&) {}
  /// Multiplies the counts of accesses, of a sample of the blocks.
  virtual void scale(const Scales&) {}
  /// Called after the last shard.
  virtual void conclude(const std::vector<exec::InstructionCount>&) {}
  /// Adds the metrics of the launch to `launch`, and those of each instruction to its row in `rows`.
  virtual void report(Metrics& launch, std::vector<InstructionRow>& rows) const = 0;

  void finish(std::vector<std::unique_ptr<exec::Shard>> shards,
              const std::vector<exec::InstructionCount>& counts) final {
    for (const auto& shard : shards) absorb(*shard);
    conclude(counts);
  }

private:
  const AnalyzerInfo& info_;
};

/// Counts in a row for each instruction; the last row is for instructions out of range. A row has add(), which adds the
/// counts of another one, and any(), which is false if there are none.
template <class RowType> class RowShard : public exec::Shard {
public:
  using Row = RowType;
  explicit RowShard(std::size_t rows) : rows_(rows) {}
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  void fields(Archive& a) override { a(rows_); }

protected:
  Row& row_of(std::uint32_t instruction) { return rows_[std::min<std::size_t>(instruction, rows_.size() - 1)]; }
  std::vector<Row> rows_;
};

/// Adds the metrics of each row to those of its instruction; returns the sum of all rows.
template <class Row, class AddMetrics>
Row add_rows(const std::vector<Row>& counted, std::vector<InstructionRow>& rows, AddMetrics&& add_metrics) {
  Row total;
  for (std::size_t i = 0; i < counted.size(); ++i) {
    total.add(counted[i]);
    if (i < rows.size() && counted[i].any()) add_metrics(rows[i].metrics, counted[i]);
  }
  return total;
}

/// An analyzer whose shards are RowShards.
template <class ShardType> class RowAnalyzer : public Analyzer {
public:
  using Shard = ShardType;
  using Row = typename Shard::Row;
  RowAnalyzer(const AnalyzerInfo& info, std::size_t instructions) : Analyzer(info), rows_(instructions + 1) {}
  std::unique_ptr<exec::Shard> make_shard() override { return std::make_unique<Shard>(rows_.size()); }
  void absorb(exec::Shard& shard) override {
    const std::vector<Row>& other = static_cast<Shard&>(shard).rows();
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].add(other[i]);
  }
  void scale(const Scales& scales) override {
    if constexpr (requires(Row row) { row.scale(Scale{}); })
      for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].scale(scales.of(i));
  }

protected:
  std::vector<Row> rows_;
};

/// The arrangement of the lanes of one access.
struct Pattern {
  enum class Kind : std::uint8_t {
    unit_stride,
    broadcast,
    strided,
    grouped,  ///< groups of consecutive lanes that all have the same stride: the rows of a tile
    permuted, ///< consecutive words, one per lane, in another order
    random,
    single_lane ///< has no pattern
  } kind{};
  std::int64_t stride = 0; ///< bytes from lane to lane, if strided or grouped
  std::uint32_t group = 0; ///< lanes, if grouped: 2, 4, 8 or 16
  bool unit = false;       ///< grouped: the stride is the width of a word
  friend bool operator==(const Pattern&, const Pattern&) = default;
};
constexpr std::size_t kPatterns = static_cast<std::size_t>(Pattern::Kind::single_lane) + 1;
Pattern classify(const exec::Access& access);

/// The arrangement of the lanes of one memory instruction, over all its accesses.
class AccessSite {
public:
  void add(const Pattern& pattern, std::uint64_t count);
  void merge(const AccessSite& other);
  void scale(const Scale& scale) {
    for (std::uint64_t& count : counts_) scale.apply(count);
  }
  /// "unit stride", "stride 8 bytes", "broadcast", "unit stride in groups of 16 lanes", "permuted", "random", "single
  /// lane", "several strides"; the most frequent pattern, prefixed with "mostly " if there are others.
  [[nodiscard]] std::string pattern() const;
  /// Bytes from lane to lane; 0 unless this is the same for most accesses.
  [[nodiscard]] std::int64_t stride() const;
  /// The number of accesses of a kind.
  [[nodiscard]] std::uint64_t count(Pattern::Kind kind) const { return counts_[static_cast<std::size_t>(kind)]; }

private:
  /// Whether all patterns of a kind are the same, and which.
  struct Alike {
    Pattern one;
    bool differ = false;
    void add(const Pattern& pattern, bool first) {
      differ = differ || (!first && pattern != one);
      if (first) one = pattern;
    }
  };
  [[nodiscard]] std::size_t most_frequent() const;
  std::uint64_t counts_[kPatterns]{}; // by Pattern::Kind
  Alike strided_, grouped_;
};

/// The properties that determine the cost of a regular access: accesses with equal keys cost the same.
struct ShapeKey {
  std::int64_t stride = 0;
  std::uint64_t low_base = 0;
  exec::Mask mask = 0;
  std::uint16_t lane_bytes = 0;
  exec::Shape shape = exec::Shape::irregular;
  friend bool operator==(const ShapeKey&, const ShapeKey&) = default;
};

/// The addresses of an irregular access, to recognise further accesses that differ only in their base: the rows of a
/// tile, a permutation.
class LaneOffsets {
public:
  void remember(const exec::Access& access) { std::copy_n(access.addresses, exec::kWarpSize, lanes_); }
  /// Whether all active lanes have moved by the same distance; requires the mask of the remembered access.
  [[nodiscard]] bool moved_together(const exec::Access& access) const {
    const int first = std::countr_zero(access.mask);
    const std::uint64_t distance = access.addresses[first] - lanes_[first];
    for (const int lane : exec::EachLane(access.mask & (access.mask - 1))) {
      if (access.addresses[lane] - lanes_[lane] != distance) return false;
    }
    return true;
  }

private:
  std::uint64_t lanes_[exec::kWarpSize]{};
};

} // namespace warplens::analyzers
