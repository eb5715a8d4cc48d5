// SPDX-License-Identifier: Apache-2.0
#include "api/sweep/compare.hpp"

#include "api/report/device_costs.hpp"
#include "api/sweep/match_lines.hpp"
#include "model/models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>

namespace warplens::api {

namespace {

std::optional<double> time_of(const std::string& model, const model::KernelStatistics& s, const model::Device& device) {
  const Expected<model::Prediction> p = model::predict(model, s, device);
  return p ? std::optional(p->milliseconds) : std::nullopt;
}

/// Replaces the fields of each aspect of `before`, one at a time, with those of `after`.
void explain(LaunchComparison& c) {
  const ReportedLaunch &before = *c.before, &after = *c.after;
  if (!before.milliseconds || !after.milliseconds || before.model != after.model) return;
  const Expected<model::Device> from = model::find_device(before.device_id), to = model::find_device(after.device_id);
  if (!from || !to) return;
  double explained = 0;
  const auto add = [&](std::string what, std::optional<double> time) {
    if (!time || std::abs(*time - *before.milliseconds) <= 1e-6 * *before.milliseconds) return;
    c.factors.push_back({std::move(what), *time - *before.milliseconds});
    explained += c.factors.back().milliseconds;
  };
  if (before.device_id != after.device_id) add("the device", time_of(before.model, before.statistics, *to));
  for (const model::AspectInfo& aspect : model::kAspects) {
    model::KernelStatistics changed = before.statistics, other = after.statistics;
    for (const model::StatisticField& field : model::statistic_fields())
      if (field.aspect == aspect.aspect) field.get(changed) = field.get(other);
    add(std::string(aspect.text), time_of(before.model, changed, *from));
  }
  std::stable_sort(c.factors.begin(), c.factors.end(), [](const Factor& a, const Factor& b) {
    return std::abs(a.milliseconds) > std::abs(b.milliseconds);
  });
  c.unexplained = *after.milliseconds - *before.milliseconds - explained;
}

const analyzers::NamedValue* find(const std::vector<analyzers::NamedValue>& list, std::string_view name) {
  for (const analyzers::NamedValue& m : list)
    if (m.name == name) return &m;
  return nullptr;
}

std::vector<Change> changes(const std::vector<analyzers::NamedValue>& before,
                            const std::vector<analyzers::NamedValue>& after) {
  std::vector<Change> list;
  for (const analyzers::NamedValue& m : before) {
    const analyzers::NamedValue* other = find(after, m.name);
    if (other == nullptr || other->number() != m.number())
      list.push_back({m.name, m.number(), other != nullptr ? std::optional(other->number()) : std::nullopt});
  }
  for (const analyzers::NamedValue& m : after)
    if (find(before, m.name) == nullptr) list.push_back({m.name, std::nullopt, m.number()});
  return list;
}

/// Compares the lines that are in both reports. Returns where those of the first report are in the second.
std::map<std::string_view, std::string_view> compare_lines(LaunchComparison& c) {
  const std::vector<std::optional<std::size_t>> matches =
      match_lines(c.before->lines, c.after->lines, c.before->kernel == c.after->kernel);
  std::map<std::string_view, std::string_view> moved;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    if (!matches[i]) continue;
    const ReportedLaunch::Line &line = c.before->lines[i], &other = c.after->lines[*matches[i]];
    moved.emplace(line.where, other.where);
    std::vector<Change> changed = changes(line.metrics, other.metrics);
    if (!changed.empty()) c.lines.push_back({line.where, other.where, line.text, std::move(changed)});
  }
  return moved;
}

void compare_findings(LaunchComparison& c, const std::map<std::string_view, std::string_view>& moved) {
  const auto same = [&](const ReportedLaunch::Finding& before, const ReportedLaunch::Finding& after) {
    const auto place = moved.find(before.where);
    return before.rule == after.rule && (place == moved.end() ? before.where : place->second) == after.where;
  };
  const auto &before = c.before->findings, &after = c.after->findings;
  for (const auto& f : before)
    if (std::none_of(after.begin(), after.end(), [&](const auto& a) { return same(f, a); })) c.vanished.push_back(f);
  for (const auto& f : after)
    if (std::none_of(before.begin(), before.end(), [&](const auto& b) { return same(b, f); })) c.appeared.push_back(f);
}

} // namespace

std::string_view label_of(const LaunchComparison& c, std::string_view metric) {
  using analyzers::MetricId;
  const auto either = [&](const auto& is) { return is(*c.before) || is(*c.after); };
  const auto is_row = [](const ReportedLaunch& launch) { return !launch.settings.empty(); };
  const auto counts = device_counts();
  const auto count = std::find_if(counts.begin(), counts.end(), [&](const auto& one) { return one.name == metric; });
  if (count != counts.end() && !either(is_row)) return count->label; // rows of sweeps have metrics of the same names
  const analyzers::MetricInfo* const known = analyzers::find_metric(metric);
  if (known == nullptr) return "";
  bool of_interest = true;
  switch (known->id) {
  case MetricId::global_sectors:
  case MetricId::global_sectors_ideal:
    of_interest = either([](const ReportedLaunch& launch) { return launch.global_unit == "sectors"; });
    break;
  case MetricId::shared_conflicts_ld:
  case MetricId::shared_conflicts_st:
    of_interest = either([](const ReportedLaunch& launch) { return launch.usual_banks; });
    break;
  case MetricId::warp_serialize: // reports of launches count the passes of the device
    of_interest = either(is_row) && !either([](const ReportedLaunch& launch) { return launch.usual_banks; });
    break;
  default: break;
  }
  return of_interest ? known->label : "";
}

std::optional<double> ReportedLaunch::number(std::string_view metric) const {
  const analyzers::NamedValue* m = find(metrics, metric);
  return m == nullptr ? std::nullopt : std::optional(m->number());
}

std::optional<double> Change::ratio() const {
  return before && after && *before != 0 && *after != 0 ? std::optional(*after / *before) : std::nullopt;
}

std::optional<double> total_milliseconds(const ReportFile& report) {
  double sum = 0;
  for (const ReportedLaunch& launch : report.launches) {
    if (!launch.milliseconds || !launch.settings.empty()) return std::nullopt;
    sum += *launch.milliseconds;
  }
  return sum;
}

std::vector<LaunchComparison> compare_reports(const ReportFile& before, const ReportFile& after) {
  std::vector<LaunchComparison> list;
  std::map<std::pair<std::string_view, Settings>, std::deque<std::size_t>> waiting; // in order
  for (std::size_t i = 0; i < after.launches.size(); ++i)
    waiting[{after.launches[i].kernel, after.launches[i].settings}].push_back(i);
  std::vector<bool> taken(after.launches.size());
  bool any = false;
  for (const ReportedLaunch& launch : before.launches) {
    LaunchComparison& c = list.emplace_back();
    c.before = &launch;
    const auto same = waiting.find({launch.kernel, launch.settings});
    if (same == waiting.end() || same->second.empty()) continue;
    c.after = &after.launches[same->second.front()];
    taken[same->second.front()] = any = true;
    same->second.pop_front();
  }
  if (!any && before.launches.size() == after.launches.size()) {
    for (std::size_t i = 0; i < list.size(); ++i) list[i].after = &after.launches[i];
  } else {
    for (std::size_t i = 0; i < taken.size(); ++i)
      if (!taken[i]) list.emplace_back().after = &after.launches[i];
  }
  for (LaunchComparison& c : list) {
    if (c.before == nullptr || c.after == nullptr) continue;
    c.metrics = changes(c.before->metrics, c.after->metrics);
    explain(c);
    compare_findings(c, compare_lines(c));
  }
  return list;
}

} // namespace warplens::api
