// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep_result.hpp"

#include "api/files/csv.hpp"
#include "api/html/page.hpp"
#include "api/report/table.hpp"
#include "api/report/units.hpp"
#include "api/session/kernel_name.hpp"
#include "api/sweep/sweep_json.hpp"
#include "tools/output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace warplens::tools {

namespace {

using api::SweepRow;

constexpr std::string_view kTunable[] = {"block", "grid", "shared", "registers", "l1"};

bool tunable(const std::string& name) {
  return std::find(std::begin(kTunable), std::end(kTunable), name) != std::end(kTunable);
}

std::string shape(const api::Extent& e) {
  if (e[2] != 1) return fmt::format("{}x{}x{}", e[0], e[1], e[2]);
  return e[1] != 1 ? fmt::format("{}x{}", e[0], e[1]) : fmt::format("{}", e[0]);
}

constexpr std::string_view kTime = "milliseconds";

/// "milliseconds", and "sim.milliseconds" of a model.
bool is_time(std::string_view metric) {
  return metric == kTime || (metric.ends_with(kTime) && metric[metric.size() - kTime.size() - 1] == '.');
}

/// Times have a unit; whole numbers are not rounded.
std::string shown(std::string_view metric, std::optional<double> value) {
  if (!value) return "";
  if (is_time(metric)) return api::readable_time(*value);
  return *value < 1e15 && *value == static_cast<double>(static_cast<std::int64_t>(*value))
             ? fmt::format("{}", static_cast<std::int64_t>(*value))
             : fmt::format("{:.4g}", *value);
}

/// The title of a column: "time by sim" for "sim.milliseconds".
std::string title_of(const std::string& metric) {
  return is_time(metric) ? fmt::format("time by {}", metric.substr(0, metric.size() - kTime.size() - 1)) : metric;
}

/// "112 µs", "73728 transactions"
std::string with_name(const std::string& metric, double value) {
  return is_time(metric) ? shown(metric, value) : fmt::format("{} {}", shown(metric, value), metric);
}

std::string csv_value(const SweepRow& row, const std::string& name) {
  for (const analyzers::NamedValue& m : row.metrics)
    if (m.name == name) return std::visit([](auto value) { return fmt::format("{}", value); }, m.value);
  return "";
}

std::vector<std::string> metric_names(std::span<const SweepRow> rows) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const SweepRow& row : rows)
    for (const analyzers::NamedValue& m : row.metrics)
      if (seen.insert(m.name).second) names.push_back(m.name);
  return names;
}

std::string describe(const SweepRow& row, const std::vector<std::string>& names) {
  api::Settings chosen;
  for (const std::string& name : names)
    if (const auto* value = api::setting(row.settings, name)) chosen.emplace_back(name, *value);
  return api::text_of(chosen);
}

/// The reasons for the time of a row.
std::string reasons(const SweepRow& row) {
  std::vector<std::string> parts;
  if (!row.bound.empty())
    parts.push_back(row.mwp_bound.empty() ? fmt::format("bound by {}", row.bound)
                                          : fmt::format("bound by {} (concurrent memory requests limited by {})",
                                                        row.bound, row.mwp_bound));
  if (const auto occupancy = row.number("occupancy"))
    parts.push_back(
        fmt::format("occupancy {:.0f} %{}", 100 * *occupancy,
                    row.occupancy_bound.empty() ? "" : fmt::format(" (limited by {})", row.occupancy_bound)));
  if (const auto transactions = row.number("transactions"))
    parts.push_back(fmt::format("{} transactions", shown("transactions", transactions)));
  if (const auto conflicts = row.number("bank_conflict_passes"); conflicts && *conflicts > 0)
    parts.push_back(fmt::format("{} bank conflict passes", shown("bank_conflict_passes", conflicts)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Orders rows within a thousandth of the best by resident warps, which hide latencies that the model does not know,
/// then by their order in the table.
void put_most_occupied_first(std::vector<const SweepRow*>& sorted, const Ranking& ranking) {
  const double best = *sorted.front()->number(ranking.metric);
  const auto end = std::find_if_not(sorted.begin(), sorted.end(), [&](const SweepRow* row) {
    return std::abs(*row->number(ranking.metric) - best) <= 1e-3 * std::abs(best);
  });
  std::sort(sorted.begin(), end, [](const SweepRow* a, const SweepRow* b) {
    const double x = a->number("occupancy").value_or(0), y = b->number("occupancy").value_or(0);
    return x != y ? x > y : a < b; // rows of one table
  });
}

} // namespace

std::vector<std::string> varying_settings(std::span<const SweepRow> rows) {
  std::vector<std::string> names;
  std::map<std::string, std::set<std::string>> values;
  for (const SweepRow& row : rows)
    for (const auto& [name, value] : row.settings) {
      if (!values.contains(name)) names.push_back(name);
      values[name].insert(value);
    }
  std::erase_if(names, [&](const std::string& name) { return values[name].size() < 2; });
  return names;
}

std::string sweep_text(std::span<const SweepRow> rows, const Ranking& ranking, const std::vector<std::string>& more,
                       const api::Style& style) {
  const std::vector<std::string> names = varying_settings(rows);
  std::vector<std::string> extra;
  if (!ranking.by_time()) extra.push_back(ranking.metric);
  for (const std::string& name : more)
    if (std::find(extra.begin(), extra.end(), name) == extra.end() && name != "all" && name != kTime)
      extra.push_back(name);
  std::vector<api::Table::Column> columns;
  columns.reserve(names.size() + extra.size() + 7);
  for (const std::string& name : names) columns.push_back({name, api::Table::left});
  if (std::find(names.begin(), names.end(), "kernel") == names.end()) columns.push_back({"kernel"});
  for (const char* title : {"blocks", "time"}) columns.push_back({title, api::Table::right});
  columns.push_back({"bound by"});
  for (const char* title : {"occupancy", "transactions"}) columns.push_back({title, api::Table::right});
  for (const std::string& name : extra) columns.push_back({title_of(name), api::Table::right});
  columns.push_back({""});
  api::Table table(columns);
  for (const SweepRow& row : rows) {
    std::vector<std::string> cells;
    for (const std::string& name : names) {
      const auto* value = api::setting(row.settings, name);
      cells.push_back(value != nullptr ? *value : "");
    }
    if (std::find(names.begin(), names.end(), "kernel") == names.end()) cells.push_back(api::source_name(row.kernel));
    const bool ran = row.grid[0] != 0;
    cells.push_back(ran ? shape(row.grid) : "");
    cells.push_back(shown(kTime, row.number(kTime)));
    cells.push_back(row.bound);
    const auto occupancy = row.number("occupancy");
    cells.push_back(occupancy ? fmt::format("{:.0f} %", 100 * *occupancy) : "");
    cells.push_back(shown("transactions", row.number("transactions")));
    for (const std::string& name : extra) cells.push_back(shown(name, row.number(name)));
    cells.push_back(row.failure.empty() ? "" : fmt::format("{}{}{}", style.red, row.failure, style.reset));
    table.row(std::move(cells));
  }
  return table.text(style.dim, style.reset);
}

std::string sweep_csv(std::span<const SweepRow> rows, const std::vector<std::string>& metrics) {
  std::vector<std::string> settings;
  for (const SweepRow& row : rows)
    for (const auto& [name, value] : row.settings)
      if (std::find(settings.begin(), settings.end(), name) == settings.end()) settings.push_back(name);
  std::vector<std::string> names = metrics;
  if (std::find(names.begin(), names.end(), "all") != names.end()) names = metric_names(rows);
  std::vector<std::string> line = settings;
  // What was actually run; settings of these names show what was requested.
  for (const char* title : {"run.kernel", "run.device", "run.grid", "run.block", "failure", "model", "bound"})
    line.emplace_back(title);
  line.insert(line.end(), names.begin(), names.end());
  std::string text = fmt::format("{}\n", fmt::join(line, ","));
  for (const SweepRow& row : rows) {
    line.clear();
    for (const std::string& name : settings) {
      const auto* value = api::setting(row.settings, name);
      line.push_back(api::csv_cell(value != nullptr ? *value : ""));
    }
    for (const std::string& cell :
         {row.kernel, row.device, shape(row.grid), shape(row.block), row.failure, row.model, row.bound})
      line.push_back(api::csv_cell(cell));
    for (const std::string& name : names) line.push_back(csv_value(row, name));
    text += fmt::format("{}\n", fmt::join(line, ","));
  }
  return text;
}

std::vector<Recommendation> recommend(std::span<const SweepRow> rows, const Ranking& ranking) {
  const std::vector<std::string> varying = varying_settings(rows);
  const bool any_tunable = std::any_of(varying.begin(), varying.end(), tunable);
  std::vector<Recommendation> all;
  std::map<api::Settings, std::vector<const SweepRow*>> by_work;
  std::vector<api::Settings> order;
  for (const SweepRow& row : rows) {
    if (!row.failure.empty() || !row.number(ranking.metric)) continue;
    api::Settings work;
    for (const auto& s : row.settings)
      if (any_tunable && !tunable(s.first) && std::find(varying.begin(), varying.end(), s.first) != varying.end())
        work.push_back(s);
    if (!by_work.contains(work)) order.push_back(work);
    by_work[work].push_back(&row);
  }
  for (const api::Settings& work : order) {
    std::vector<const SweepRow*>& group = by_work[work];
    std::stable_sort(group.begin(), group.end(), [&](const SweepRow* a, const SweepRow* b) {
      const double x = *a->number(ranking.metric), y = *b->number(ranking.metric);
      return ranking.largest ? x > y : x < y;
    });
    put_most_occupied_first(group, ranking);
    Recommendation r{work, group.front(), {}, group.back(), group.size()};
    for (const SweepRow* row : group) r.models.insert(row->model);
    const double best = *r.best->number(ranking.metric);
    for (std::size_t i = 1; i < group.size(); ++i)
      if (std::abs(*group[i]->number(ranking.metric) - best) <= ranking.ties / 100 * std::abs(best))
        r.as_good.push_back(group[i]);
    all.push_back(std::move(r));
  }
  return all;
}

api::Settings recommended_settings(const std::vector<Recommendation>& recommended) {
  return recommended.size() == 1 ? recommended.front().best->settings : api::Settings{};
}

std::string sweep_page(std::span<const SweepRow> rows, const std::vector<Recommendation>& recommended,
                       const Ranking& ranking) {
  std::vector<api::SweepNote> notes = api::sweep_notes(rows);
  std::vector<const SweepRow*> all;
  for (const SweepRow& row : rows) all.push_back(&row);
  if (auto note = api::note_on_models(all)) notes.push_back(std::move(*note));
  for (api::SweepNote& note : api::other_opinions(rows, ranking.ties)) notes.push_back(std::move(note));
  return value_or_throw(api::html_page(api::json_sweep_page(rows, recommended_settings(recommended), notes)));
}

std::string caution(const std::set<std::string>& models, std::string_view indent) {
  if (models.size() < 2) return "";
  return api::wrapped(fmt::format("caution: the times are by different models ({}), and may differ because of that",
                                  fmt::join(models, ", ")),
                      indent);
}

std::string recommendation_text(const std::vector<Recommendation>& all, const Ranking& ranking,
                                const api::Style& style) {
  constexpr std::size_t kMostShown = 12;
  std::string text;
  for (const Recommendation& r : all) {
    if (r.count < 2) continue;
    std::vector<std::string> names;
    for (const auto& [name, value] : r.best->settings)
      if (std::find(r.work.begin(), r.work.end(), std::pair(name, value)) == r.work.end() &&
          *api::setting(r.worst->settings, name) != value)
        names.push_back(name);
    for (const SweepRow* other : r.as_good)
      for (const auto& [name, value] : other->settings)
        if (*api::setting(r.best->settings, name) != value &&
            std::find(names.begin(), names.end(), name) == names.end())
          names.push_back(name);
    text += "\n";
    if (!r.work.empty()) text += fmt::format("{}:\n", api::text_of(r.work));
    const double best = *r.best->number(ranking.metric), worst = *r.worst->number(ranking.metric);
    if (names.empty()) {
      text += fmt::format("  all {} configurations are equal: {}\n", r.count, with_name(ranking.metric, best));
      continue;
    }
    text += fmt::format("  {}recommended: {}{}, {}{}\n", style.bold, describe(*r.best, names), style.reset,
                        with_name(ranking.metric, best), ranking.by_time() ? " predicted by " + r.best->model : "");
    text += api::wrapped("because: " + reasons(*r.best), "    ");
    if (ranking.by_time()) text += caution(r.models, "    ");
    if (!r.as_good.empty()) {
      std::vector<std::string> near;
      for (std::size_t i = 0; i < std::min(kMostShown, r.as_good.size()); ++i) {
        const double percent = best != 0 ? 100 * (*r.as_good[i]->number(ranking.metric) / best - 1) : 0;
        near.push_back(std::abs(percent) < 0.05
                           ? fmt::format("{} (equal)", describe(*r.as_good[i], names))
                           : fmt::format("{} ({:+.1f} %)", describe(*r.as_good[i], names), percent));
      }
      if (r.as_good.size() > kMostShown) near.push_back(fmt::format("{} more", r.as_good.size() - kMostShown));
      text += api::wrapped(fmt::format("within {} %: {}", ranking.ties, fmt::join(near, "; ")), "    ");
    }
    if (r.as_good.size() + 1 < r.count && best != 0)
      text += api::wrapped(fmt::format("worst: {}, {} ({:.2f} times the best): {}", describe(*r.worst, names),
                                       with_name(ranking.metric, worst), worst / best, reasons(*r.worst)),
                           "    ");
  }
  return text;
}

} // namespace warplens::tools
