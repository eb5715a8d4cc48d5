// SPDX-License-Identifier: Apache-2.0
// The result of a sweep as a plot.
#include "tools/output.hpp"
#include "tools/sweep_result.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::tools {

namespace {

using api::SweepRow;

std::string axis_title(const std::string& name) {
  if (name == "block") return "block, threads";
  if (name == "total") return "threads of the grid";
  if (name == "shared") return "dynamic shared memory per block, bytes";
  if (name == "registers") return "registers per thread";
  return name;
}

/// The kernel and the device, each if all rows have the same.
std::string title(std::span<const SweepRow> rows) {
  const auto same = [&](std::string SweepRow::*member) {
    return std::all_of(rows.begin(), rows.end(), [&](const SweepRow& row) { return row.*member == rows[0].*member; });
  };
  std::string text = same(&SweepRow::kernel) ? rows[0].kernel : "";
  if (same(&SweepRow::device)) text += (text.empty() ? "on " : " on ") + rows[0].device;
  return text;
}

} // namespace

Plot sweep_plot(std::span<const SweepRow> rows, const Ranking& ranking, const std::string& asked_x) {
  std::vector<std::string> varying = varying_settings(rows);
  const std::string x = !asked_x.empty()                                                      ? asked_x
                        : std::find(varying.begin(), varying.end(), "block") != varying.end() ? "block"
                        : varying.empty()                                                     ? "launch"
                                                                                              : varying.back();
  if (api::setting(rows.front().settings, x) == nullptr)
    throw UsageError{fmt::format("--x {}: no configuration has this setting", x), ""};
  std::erase(varying, x);
  const bool time = ranking.metric.ends_with("milliseconds");
  Plot plot{title(rows),
            axis_title(x),
            ranking.metric == "milliseconds" ? "predicted time, ms"
            : time                           ? ranking.metric + ", ms"
                                             : ranking.metric,
            {},
            {},
            false};
  const auto index_of = [](auto& list, const std::string& name, auto make) {
    for (std::size_t i = 0; i < list.size(); ++i)
      if (make(list[i]) == name) return i;
    list.emplace_back();
    return list.size() - 1;
  };
  for (const SweepRow& row : rows) {
    api::Settings others;
    for (const std::string& name : varying)
      if (const auto* value = api::setting(row.settings, name)) others.emplace_back(name, *value);
    const auto* value = api::setting(row.settings, x);
    const std::string place = value != nullptr ? *value : "", line = api::text_of(others);
    const std::size_t p = index_of(plot.places, place, [](const std::string& s) { return s; });
    plot.places[p] = place;
    const std::size_t l = index_of(plot.lines, line, [](const Plot::Line& one) { return one.name; });
    plot.lines[l].name = line;
    plot.lines[l].values.resize(std::max(plot.lines[l].values.size(), p + 1));
    plot.lines[l].values[p] = row.number(ranking.metric);
  }
  for (Plot::Line& line : plot.lines) line.values.resize(plot.places.size());
  return plot;
}

} // namespace warplens::tools
