// SPDX-License-Identifier: Apache-2.0
// The metrics that a report can have: declared once, in metrics.def. Code names a metric by its MetricId; names are
// made where something is written or read.
//
//   launch.add(MetricId::warp_instructions, 4096);  launch.integer(MetricId::warp_instructions) == 4096
//   info(MetricId::warp_instructions).name == "smsp__inst_executed.sum", .unit == "instructions"
//   launch.add({MetricId::branches_with_active_lanes, 7}, 12);  // "branch_with_7_active_lanes"
#pragma once

#include "emulator/exec/state/events.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace warplens::analyzers {

enum class MetricId : std::uint16_t {
#define METRIC(analyzer, id, ...) id,
#include "analyzers/metrics.def"
};

struct MetricInfo {
  enum class Type : std::uint8_t { count, ratio };
  enum class Profiler : std::uint8_t { ncu, cvp, own };

  std::string_view analyzer; ///< that counts it: AnalyzerInfo::id; or "launch", "sweep", "rule_counts"
  MetricId id{};
  std::string_view name; ///< a family's is a pattern, in which each {} varies
  bool family = false;
  Type type{};         ///< counts are exact and add up over instructions and blocks, ratios are doubles
  Profiler profiler{}; ///< whose name it is: Nsight Compute's, the CUDA Visual Profiler's, or ours
  std::string_view unit;
  std::string_view definition;
  std::string_view formula{};    ///< by names of metrics; empty: the metric is counted
  std::string_view nvprof{};     ///< what nvprof calls it; empty: there is no such metric
  std::optional<double> ideal{}; ///< the value of a perfect kernel, where there is one
  std::string_view label{};      ///< in comparisons, where this metric tells most; empty: elsewhere
};

/// All metrics, in the order of metrics.def: that of MetricId.
std::span<const MetricInfo> metric_infos();
/// Those of an analyzer; they follow each other.
std::span<const MetricInfo> metrics_of(std::string_view analyzer);
/// What counts metrics, with the page of docs/ that explains them: "rules.md#global-memory-transactions".
struct MetricGroup {
  std::string_view analyzer, page;
};
std::span<const MetricGroup> metric_groups();
const MetricInfo& info(MetricId id);
/// The metric or family that a name in output belongs to; null: there is none.
const MetricInfo* find_metric(std::string_view name);
/// "did you mean 'NAME'?" with the metric whose name is closest; empty if none is close.
std::string did_you_mean_metric(std::string_view name);
/// `loads` names the metric of loads; those of stores, atomics and reductions follow it in metrics.def.
constexpr MetricId by_operation(MetricId loads, std::size_t operation) {
  return static_cast<MetricId>(static_cast<std::size_t>(loads) + operation);
}
constexpr MetricId by_operation(MetricId loads, exec::AccessKind kind) {
  return by_operation(loads, static_cast<std::size_t>(kind));
}
/// How names spell an operation: "ld", "st", "atom", "red"; by exec::AccessKind.
constexpr std::array<std::string_view, 4> kOperationNames = {"ld", "st", "atom", "red"};

/// What varies in the name of a family's metric: a name or a number.
struct Varying {
  std::string text;
  Varying() = default;
  template <class T> Varying(const T& value) { // NOLINT(google-explicit-constructor)
    if constexpr (std::is_arithmetic_v<T>)
      text = std::to_string(value);
    else
      text = value;
  }
};

/// A metric, or one of a family.
struct MetricKey {
  MetricId id{};
  std::string member{}; ///< the name of one of a family; empty otherwise

  MetricKey() = default;
  MetricKey(MetricId metric) : id(metric) {} // NOLINT(google-explicit-constructor): a metric is the key of itself
  /// Of the family, the one that has these in the places of {}.
  MetricKey(MetricId family, const Varying& first, const Varying& second = {}, const Varying& third = {});

  [[nodiscard]] std::string_view name() const { return member.empty() ? info(id).name : std::string_view(member); }
  void fields(Archive& a) { a(id, member); }
  friend bool operator==(const MetricKey&, const MetricKey&) = default;
};

/// Counts are exact; ratios are doubles.
using Value = std::variant<std::uint64_t, double>;
double number(const Value& value);

struct Metric {
  MetricKey key;
  Value value;
  [[nodiscard]] std::string_view name() const { return key.name(); }
  [[nodiscard]] double number() const { return analyzers::number(value); }
};

/// A metric as it was read from a file, which may have others than this version.
struct NamedValue {
  std::string name;
  Value value;
  [[nodiscard]] double number() const { return analyzers::number(value); }
};

/// An ordered list of metrics, without duplicates.
class Metrics {
public:
  void add(MetricKey key, std::uint64_t count) { list_.push_back({std::move(key), count}); }
  /// Adds nothing when there is nothing to divide by.
  void add_ratio(MetricKey key, double numerator, double denominator);

  [[nodiscard]] const Metric* find(const MetricKey& key) const;
  /// By its name in output.
  [[nodiscard]] const Metric* find(std::string_view name) const;
  /// 0 where there is no such count.
  [[nodiscard]] std::uint64_t integer(const MetricKey& key) const { return count_of(find(key)); }
  [[nodiscard]] std::uint64_t integer(std::string_view name) const { return count_of(find(name)); }
  /// 0 where there is no such metric.
  [[nodiscard]] double number(const MetricKey& key) const;
  [[nodiscard]] const std::vector<Metric>& list() const { return list_; }
  /// Adds the counts of `other`, in its order; leaves out ratios.
  void accumulate(const Metrics& other);

private:
  static std::uint64_t count_of(const Metric* metric);
  std::vector<Metric> list_;
};

} // namespace warplens::analyzers
