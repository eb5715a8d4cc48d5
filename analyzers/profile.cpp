#include "analyzers/profile.hpp"

#include <algorithm>
#include <map>
#include <numeric>

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

/// `likely`: where it is if this block has the counters of the one before.
std::size_t BlockTable::column(std::string_view name, std::size_t likely) {
  if (likely < names.size() && names[likely] == name) return likely;
  const auto at = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  if (at == names.size()) names.emplace_back(name);
  return at;
}

void BlockTable::add(std::uint64_t cta, const Metrics& metrics) {
  Row row{cta, std::vector<std::uint64_t>(names.size())};
  std::size_t likely = 0;
  for (const Metric& metric : metrics.list()) {
    const auto* count = std::get_if<std::uint64_t>(&metric.value);
    if (!count) continue;
    const std::size_t at = column(metric.name, likely);
    likely = at + 1;
    row.values.resize(names.size());
    row.values[at] = *count;
  }
  rows.push_back(std::move(row));
}

void BlockTable::merge(const BlockTable& other) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < other.names.size(); ++i) columns.push_back(column(other.names[i], i));
  for (const Row& theirs : other.rows) {
    Row row{theirs.cta, std::vector<std::uint64_t>(names.size())};
    for (std::size_t i = 0; i < columns.size(); ++i) row.values[columns[i]] = theirs.at(i);
    rows.push_back(std::move(row));
  }
}

void BlockTable::sort() {
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return names[a] < names[b]; });
  std::vector<std::string> sorted;
  sorted.reserve(order.size());
  for (const std::size_t i : order) sorted.push_back(std::move(names[i]));
  names = std::move(sorted);
  for (Row& row : rows) {
    std::vector<std::uint64_t> values;
    values.reserve(order.size());
    for (const std::size_t i : order) values.push_back(row.at(i));
    row.values = std::move(values);
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.cta < b.cta; });
}

std::vector<SourceRow> Profile::by_source_line() const {
  std::map<std::pair<std::string, std::uint32_t>, Metrics> lines;
  for (const InstructionRow& row : instructions)
    if (row.source_line) lines[{row.source_file, row.source_line}].accumulate(row.metrics);
  std::vector<SourceRow> result;
  result.reserve(lines.size());
  for (auto& [place, metrics_of_line] : lines)
    result.push_back({place.first, place.second, std::move(metrics_of_line)});
  return result;
}

} // namespace warplens::analyzers
