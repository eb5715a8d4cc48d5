#include "analyzers/profile.hpp"

#include <map>

namespace warplens::analyzers {

double Metric::number() const {
  if (const auto* count = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*count);
  return std::get<double>(value);
}

void Metrics::add_ratio(std::string_view name, double numerator, double denominator) {
  if (denominator != 0) list_.push_back({std::string(name), numerator / denominator});
}

const Metric* Metrics::find(std::string_view name) const {
  for (const Metric& metric : list_)
    if (metric.name == name) return &metric;
  return nullptr;
}

std::uint64_t Metrics::integer(std::string_view name) const {
  const Metric* metric = find(name);
  const auto* count = metric ? std::get_if<std::uint64_t>(&metric->value) : nullptr;
  return count ? *count : 0;
}

void Metrics::accumulate(const Metrics& other) {
  for (const Metric& metric : other.list_) {
    const auto* count = std::get_if<std::uint64_t>(&metric.value);
    if (!count) continue;
    bool found = false;
    for (Metric& mine : list_)
      if (mine.name == metric.name) {
        std::get<std::uint64_t>(mine.value) += *count;
        found = true;
      }
    if (!found) list_.push_back(metric);
  }
}

std::vector<SourceRow> Profile::by_source_line() const {
  std::map<std::pair<std::string, std::uint32_t>, Metrics> lines;
  for (const InstructionRow& row : instructions)
    if (row.source_line) lines[{row.source_file, row.source_line}].accumulate(row.metrics);
  std::vector<SourceRow> result;
  for (auto& [place, metrics_of_line] : lines)
    result.push_back({place.first, place.second, std::move(metrics_of_line)});
  return result;
}

} // namespace warplens::analyzers
