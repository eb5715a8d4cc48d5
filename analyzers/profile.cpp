// SPDX-License-Identifier: Apache-2.0
#include "analyzers/profile.hpp"

#include <algorithm>
#include <numeric>

namespace warplens::analyzers {

/// `likely`: the column if this block has the same counters as the previous one.
std::size_t BlockTable::column(const MetricKey& key, std::size_t likely) {
  if (likely < columns.size() && columns[likely] == key) return likely;
  const auto at = static_cast<std::size_t>(std::find(columns.begin(), columns.end(), key) - columns.begin());
  if (at == columns.size()) columns.push_back(key);
  return at;
}

void BlockTable::add(std::uint64_t cta, const Metrics& metrics) {
  Row row{cta, std::vector<std::uint64_t>(columns.size())};
  std::size_t likely = 0;
  for (const Metric& metric : metrics.list()) {
    const auto* count = std::get_if<std::uint64_t>(&metric.value);
    if (!count) continue;
    const std::size_t at = column(metric.key, likely);
    likely = at + 1;
    row.values.resize(columns.size());
    row.values[at] = *count;
  }
  rows.push_back(std::move(row));
}

void BlockTable::merge(const BlockTable& other) {
  std::vector<std::size_t> ours;
  for (std::size_t i = 0; i < other.columns.size(); ++i) ours.push_back(column(other.columns[i], i));
  for (const Row& theirs : other.rows) {
    Row row{theirs.cta, std::vector<std::uint64_t>(columns.size())};
    for (std::size_t i = 0; i < ours.size(); ++i) row.values[ours[i]] = theirs.at(i);
    rows.push_back(std::move(row));
  }
}

void BlockTable::sort() {
  std::vector<std::size_t> order(columns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return columns[a].name() < columns[b].name(); });
  std::vector<MetricKey> sorted;
  sorted.reserve(order.size());
  for (const std::size_t i : order) sorted.push_back(std::move(columns[i]));
  columns = std::move(sorted);
  for (Row& row : rows) {
    std::vector<std::uint64_t> values;
    values.reserve(order.size());
    for (const std::size_t i : order) values.push_back(row.at(i));
    row.values = std::move(values);
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.cta < b.cta; });
}

} // namespace warplens::analyzers
