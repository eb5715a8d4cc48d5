// SPDX-License-Identifier: Apache-2.0
#include "analyzers/metrics.hpp"

#include "emulator/base/diagnostic.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::analyzers {

namespace {

using Type = MetricInfo::Type;
using Profiler = MetricInfo::Profiler;

constexpr MetricInfo kMetrics[] = {
#define METRIC(analyzer_, id_, name_, type_, profiler_, unit_, definition_, ...)                                       \
  {.analyzer = #analyzer_,                                                                                             \
   .id = MetricId::id_,                                                                                                \
   .name = name_,                                                                                                      \
   .family = std::string_view(name_).find("{}") != std::string_view::npos,                                             \
   .type = Type::type_,                                                                                                \
   .profiler = Profiler::profiler_,                                                                                    \
   .unit = unit_,                                                                                                      \
   .definition = definition_,                                                                                          \
   __VA_ARGS__},
#include "analyzers/metrics.def"
};

constexpr MetricGroup kGroups[] = {
#define GROUP(analyzer, page) {#analyzer, page},
#include "analyzers/metrics.def"
};

/// Whether a name has the form of a family's pattern: something in the place of each {}.
bool matches(std::string_view name, std::string_view pattern) {
  const std::size_t gap = pattern.find("{}");
  if (gap == pattern.npos) return name == pattern;
  if (!name.starts_with(pattern.substr(0, gap))) return false;
  for (std::size_t end = gap + 1; end <= name.size(); ++end)
    if (matches(name.substr(end), pattern.substr(gap + 2))) return true;
  return false;
}

} // namespace

std::span<const MetricInfo> metric_infos() { return kMetrics; }

std::span<const MetricInfo> metrics_of(std::string_view analyzer) {
  const auto is_its = [&](const MetricInfo& m) { return m.analyzer == analyzer; };
  const auto* const first = std::find_if(std::begin(kMetrics), std::end(kMetrics), is_its);
  return {first, std::find_if_not(first, std::end(kMetrics), is_its)};
}

std::span<const MetricGroup> metric_groups() { return kGroups; }

const MetricInfo& info(MetricId id) { return kMetrics[static_cast<std::size_t>(id)]; }

const MetricInfo* find_metric(std::string_view name) {
  // What is no family's goes before: "launch.milliseconds" is of a family that "milliseconds" is not of.
  for (const bool family : {false, true})
    for (const MetricInfo& m : kMetrics)
      if (m.family == family && matches(name, m.name)) return &m;
  return nullptr;
}

std::string did_you_mean_metric(std::string_view name) {
  std::vector<std::string_view> known;
  for (const MetricInfo& m : kMetrics) known.push_back(m.name);
  return did_you_mean(name, known);
}

MetricKey::MetricKey(MetricId family, const Varying& first, const Varying& second, const Varying& third)
    : id(family), member(fmt::format(fmt::runtime(info(family).name), first.text, second.text, third.text)) {}

double number(const Value& value) {
  return std::visit([](auto v) { return static_cast<double>(v); }, value);
}

void Metrics::add_ratio(MetricKey key, double numerator, double denominator) {
  if (denominator != 0) list_.push_back({std::move(key), numerator / denominator});
}

const Metric* Metrics::find(const MetricKey& key) const {
  const auto found = std::find_if(list_.begin(), list_.end(), [&](const Metric& m) { return m.key == key; });
  return found == list_.end() ? nullptr : &*found;
}

const Metric* Metrics::find(std::string_view name) const {
  const auto found = std::find_if(list_.begin(), list_.end(), [&](const Metric& m) { return m.name() == name; });
  return found == list_.end() ? nullptr : &*found;
}

std::uint64_t Metrics::count_of(const Metric* metric) {
  const auto* count = metric != nullptr ? std::get_if<std::uint64_t>(&metric->value) : nullptr;
  return count != nullptr ? *count : 0;
}

double Metrics::number(const MetricKey& key) const {
  const Metric* const metric = find(key);
  return metric != nullptr ? metric->number() : 0;
}

void Metrics::accumulate(const Metrics& other) {
  for (const Metric& metric : other.list_) {
    const auto* count = std::get_if<std::uint64_t>(&metric.value);
    if (count == nullptr) continue;
    const auto mine = std::find_if(list_.begin(), list_.end(), [&](const Metric& m) { return m.key == metric.key; });
    if (mine == list_.end())
      list_.push_back(metric);
    else
      std::get<std::uint64_t>(mine->value) += *count;
  }
}

} // namespace warplens::analyzers
