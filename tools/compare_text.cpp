// SPDX-License-Identifier: Apache-2.0
#include "tools/compare_text.hpp"

#include "api/report/table.hpp"
#include "api/report/units.hpp"
#include "api/session/kernel_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

namespace warplens::tools {

namespace {

using api::Change;
using api::LaunchComparison;
using api::Style;

std::string number(const std::optional<double>& value) {
  if (!value) return "";
  const bool whole = *value == std::floor(*value) && std::abs(*value) < 1e15;
  return whole ? fmt::format("{:.0f}", *value) : fmt::format("{:.4g}", *value);
}

std::string ratio(const Change& change) {
  const auto r = change.ratio();
  return r ? fmt::format("x {:.3g}", *r) : "";
}

std::string heading(const LaunchComparison& c, const Style& style) {
  if (c.before == nullptr || c.after == nullptr)
    return fmt::format("{}{}{}: {}\n", style.bold, title_of(c.before != nullptr ? *c.before : *c.after), style.reset,
                       c.before != nullptr ? "only in the first report" : "only in the second report");
  const std::string a = title_of(*c.before), b = title_of(*c.after);
  return fmt::format("{}{}{}{}\n", style.bold, a, style.reset, a == b ? "" : " -> " + b);
}

/// "6.03 ms -> 1.14 ms, 5.31 times as fast"
std::string times_text(double before, double after, const Style& style) {
  const double r = after / before;
  const std::string_view colour = r < 0.995 ? style.green : r > 1.005 ? style.red : std::string_view();
  return fmt::format("{} -> {}, {}{}{}", api::readable_time(before), api::readable_time(after), colour,
                     r < 0.995   ? fmt::format("{:.2f} times as fast", 1 / r)
                     : r > 1.005 ? fmt::format("{:.2f} times as slow", r)
                                 : "the same",
                     style.reset);
}

std::string signed_time(double milliseconds) {
  return (milliseconds < 0 ? "-" : "+") + api::readable_time(std::abs(milliseconds));
}

std::string times(const LaunchComparison& c, const Style& style) {
  const auto &a = *c.before, &b = *c.after;
  if (!a.milliseconds || !b.milliseconds) return "";
  std::string text = fmt::format("  predicted: {}\n", times_text(*a.milliseconds, *b.milliseconds, style));
  text += a.model == b.model ? fmt::format("    by {}", a.model)
                             : fmt::format("    by {} and {}: different models", a.model, b.model);
  text += a.bound == b.bound ? fmt::format("; bound by {}\n", a.bound)
                             : fmt::format("; bound by {} -> {}\n", a.bound, b.bound);
  for (const api::Factor& f : c.factors) text += fmt::format("    {}: {}\n", signed_time(f.milliseconds), f.what);
  if (!c.factors.empty() && std::abs(c.unexplained) > 0.01 * *a.milliseconds)
    text += fmt::format("    {}: combined effect of these changes\n", signed_time(c.unexplained));
  return text;
}

/// --all also shows metrics without a label.
std::string metrics_text(const LaunchComparison& c, bool all, const Style& style) {
  api::Table table({{"metric"}, {"before", api::Table::right}, {"after", api::Table::right}, {"", api::Table::right}});
  for (const Change& change : c.metrics) {
    const std::string_view words = label_of(c, change.name);
    if (all || !words.empty())
      table.row({all ? change.name : std::string(words), number(change.before), number(change.after), ratio(change)});
  }
  return table.empty() ? "" : table.text(style.dim, style.reset);
}

/// "kernel.cu:9", or "k.cu:5 -> kernel.cu:9" of a line that moved.
std::string place_of(const LaunchComparison::Line& line) {
  const std::string before(api::base_name(line.where)), after(api::base_name(line.where_after));
  return line.where == line.where_after ? before : fmt::format("{} -> {}", before, after);
}

/// The largest changes, or all.
std::string lines_text(const LaunchComparison& c, bool all, const Style& style) {
  constexpr std::size_t kMost = 10;
  struct Row {
    const LaunchComparison::Line* line;
    const Change* change;
    std::string_view words;
    [[nodiscard]] double size() const { return std::abs(change->after.value_or(0) - change->before.value_or(0)); }
  };
  std::vector<Row> rows;
  for (const auto& line : c.lines)
    for (const Change& change : line.metrics)
      if (const std::string_view words = label_of(c, change.name); all || (!words.empty() && words != "ideal sectors"))
        rows.push_back({&line, &change, words});
  if (!all) {
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.size() > b.size(); });
    rows.resize(std::min(rows.size(), kMost));
  }
  api::Table table({{"line"},
                    {"instruction"},
                    {"metric"},
                    {"before", api::Table::right},
                    {"after", api::Table::right},
                    {"", api::Table::right}});
  for (const Row& row : rows)
    table.row({place_of(*row.line), api::cut(row.line->text, 34), all ? row.change->name : std::string(row.words),
               number(row.change->before), number(row.change->after), ratio(*row.change)});
  return table.empty() ? "" : table.text(style.dim, style.reset);
}

std::string findings_text(const LaunchComparison& c) {
  std::string text;
  for (const auto& f : c.vanished) text += api::wrapped(fmt::format("resolved: {} ({})", f.message, f.where), "  ");
  for (const auto& f : c.appeared) text += api::wrapped(fmt::format("new: {} ({})", f.message, f.where), "  ");
  return text;
}

std::string one_text(const LaunchComparison& c, bool all, const Style& style) {
  std::string text = heading(c, style);
  if (c.before == nullptr || c.after == nullptr) return text;
  text += times(c, style);
  if (c.metrics.empty()) text += "  all metrics are the same\n";
  return text + metrics_text(c, all, style) + lines_text(c, all, style) + findings_text(c);
}

/// The launches of a kernel.
struct KernelChange {
  std::string name;
  std::size_t before = 0, after = 0; ///< number of launches
  double milliseconds_before = 0, milliseconds_after = 0;
  std::set<std::string> appeared, vanished; ///< findings: launches of one kernel share them

  [[nodiscard]] double change() const { return std::abs(milliseconds_after - milliseconds_before); }
};

/// The kernels, those whose time changed most first.
std::vector<KernelChange> kernel_changes(std::span<const LaunchComparison> comparisons) {
  std::vector<KernelChange> list;
  std::map<std::string, std::size_t> places;
  for (const LaunchComparison& c : comparisons) {
    const std::string from = c.before != nullptr ? api::source_name(c.before->kernel) : "",
                      to = c.after != nullptr ? api::source_name(c.after->kernel) : "",
                      name = from.empty() || to.empty() || from == to ? from + (from == to ? "" : to)
                                                                      : fmt::format("{} -> {}", from, to);
    const auto [place, fresh] = places.try_emplace(name, list.size());
    if (fresh) list.push_back({name, 0, 0, 0, 0, {}, {}});
    KernelChange& kernel = list[place->second];
    if (c.before != nullptr) ++kernel.before, kernel.milliseconds_before += c.before->milliseconds.value_or(0);
    if (c.after != nullptr) ++kernel.after, kernel.milliseconds_after += c.after->milliseconds.value_or(0);
    for (const auto& f : c.appeared) kernel.appeared.insert(f.rule + " " + f.where);
    for (const auto& f : c.vanished) kernel.vanished.insert(f.rule + " " + f.where);
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const KernelChange& a, const KernelChange& b) { return a.change() > b.change(); });
  return list;
}

/// "3", or "3 -> 4"
std::string counts(std::size_t before, std::size_t after) {
  return before == after ? fmt::format("{}", before) : fmt::format("{} -> {}", before, after);
}

std::string kernels_text(std::span<const LaunchComparison> comparisons, bool all, const Style& style) {
  constexpr std::size_t kMost = 20, kName = 40;
  const std::vector<KernelChange> kernels = kernel_changes(comparisons);
  KernelChange sum;
  api::Table table({{"kernel"},
                    {"launches", api::Table::right},
                    {"before", api::Table::right},
                    {"after", api::Table::right},
                    {"", api::Table::right},
                    {"new findings", api::Table::right},
                    {"resolved", api::Table::right}});
  const auto row = [&](const std::string& name, const KernelChange& k, std::size_t appeared, std::size_t vanished) {
    const auto time = [](double ms) { return ms > 0 ? api::readable_time(ms) : ""; };
    const bool both = k.milliseconds_before > 0 && k.milliseconds_after > 0;
    table.row({name, counts(k.before, k.after), time(k.milliseconds_before), time(k.milliseconds_after),
               both ? fmt::format("x {:.3g}", k.milliseconds_after / k.milliseconds_before) : "",
               appeared != 0 ? fmt::format("{}", appeared) : "", vanished != 0 ? fmt::format("{}", vanished) : ""});
  };
  const std::size_t shown = all ? kernels.size() : std::min(kernels.size(), kMost);
  std::size_t appeared = 0, vanished = 0;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const KernelChange& k = kernels[i];
    if (i < shown) row(api::cut(k.name, all ? k.name.size() : kName), k, k.appeared.size(), k.vanished.size());
    sum.before += k.before, sum.after += k.after;
    sum.milliseconds_before += k.milliseconds_before, sum.milliseconds_after += k.milliseconds_after;
    appeared += k.appeared.size(), vanished += k.vanished.size();
  }
  if (shown < kernels.size()) table.row({fmt::format("… and {} more", kernels.size() - shown), "", "", "", "", "", ""});
  if (kernels.size() > 1) row("all", sum, appeared, vanished);
  std::string text = table.text(style.dim, style.reset);
  if (sum.milliseconds_before > 0 && sum.milliseconds_after > 0)
    text += fmt::format("  predicted, all launches: {}\n",
                        times_text(sum.milliseconds_before, sum.milliseconds_after, style));
  return text;
}

bool unchanged(const LaunchComparison& c) {
  return c.before != nullptr && c.after != nullptr && c.metrics.empty() && c.lines.empty() && c.appeared.empty() &&
         c.vanished.empty() && c.before->device_id == c.after->device_id &&
         c.before->milliseconds == c.after->milliseconds;
}

/// Launches whose comparisons have the same text.
struct SameTexts {
  std::string text;
  std::size_t launches = 0;
  double change = 0; ///< of their time, in milliseconds
};

std::vector<SameTexts> different_texts(std::span<const LaunchComparison> comparisons, bool all, const Style& style) {
  std::vector<SameTexts> list;
  std::map<std::string, std::size_t> places;
  for (const LaunchComparison& c : comparisons) {
    if (comparisons.size() > 1 && unchanged(c)) continue;
    std::string text = one_text(c, all, style);
    const auto [place, fresh] = places.try_emplace(text, list.size());
    if (fresh) list.push_back({std::move(text), 0, 0});
    SameTexts& same = list[place->second];
    ++same.launches;
    same.change += std::abs((c.after != nullptr ? c.after->milliseconds.value_or(0) : 0) -
                            (c.before != nullptr ? c.before->milliseconds.value_or(0) : 0));
  }
  return list;
}

/// Drops all but those that changed the time most.
std::size_t drop_small_ones(std::vector<SameTexts>& list, std::size_t most) {
  if (list.size() <= most) return 0;
  std::vector<double> sizes;
  sizes.reserve(list.size());
  for (const SameTexts& same : list) sizes.push_back(same.change);
  std::nth_element(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(most - 1), sizes.end(), std::greater<>());
  const double least = sizes[most - 1];
  auto ties = static_cast<std::size_t>(
      std::count_if(list.begin(), list.end(), [&](const SameTexts& same) { return same.change > least; }));
  const std::size_t before = list.size();
  std::erase_if(list, [&](const SameTexts& same) {
    return same.change < least || (same.change == least && ++ties > most); // the first ones of equal changes stay
  });
  return before - list.size();
}

} // namespace

std::string title_of(const api::ReportedLaunch& launch) {
  std::string text = fmt::format("{} on {}", api::source_name(launch.kernel), launch.device_name);
  if (!launch.settings.empty()) text += fmt::format(" ({})", api::text_of(launch.settings));
  return text;
}

std::string comparison_text(std::span<const LaunchComparison> comparisons, bool all, const Style& style) {
  constexpr std::size_t kMost = 10;
  std::string text;
  const bool sweep = std::any_of(comparisons.begin(), comparisons.end(), [](const LaunchComparison& c) {
    return !(c.before != nullptr ? c.before : c.after)->settings.empty();
  });
  if (comparisons.size() > 1 && !sweep) text += "\n" + kernels_text(comparisons, all, style);
  std::vector<SameTexts> list = different_texts(comparisons, all, style);
  const std::size_t more = all ? 0 : drop_small_ones(list, kMost);
  for (const SameTexts& same : list) {
    text += "\n" + same.text;
    if (same.launches > 1) text += fmt::format("  the same for {} launches\n", same.launches);
  }
  const auto same = static_cast<std::size_t>(std::count_if(comparisons.begin(), comparisons.end(), unchanged));
  if (more != 0) text += fmt::format("\n… and {} more changes of launches: --all shows them\n", more);
  if (same != 0 && comparisons.size() > 1)
    text += fmt::format("\n{} of {} launches did not change\n", same, comparisons.size());
  return text;
}

} // namespace warplens::tools
