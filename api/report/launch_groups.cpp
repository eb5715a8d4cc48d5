// SPDX-License-Identifier: Apache-2.0
#include "api/report/launch_groups.hpp"

#include "api/report/ranking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace warplens::api {

namespace {

double predicted_time(const LaunchReport& report) {
  const model::Prediction* const p = ranking_prediction(report.predictions, {});
  return p == nullptr ? 0 : p->milliseconds;
}

void append(std::string& text, const analyzers::Metrics& metrics) {
  for (const analyzers::Metric& m : metrics.list()) {
    text += m.name();
    text += std::visit([](auto value) { return fmt::format(" {}\n", value); }, m.value);
  }
}

/// Equal for launches that are identical.
std::string identity(const LaunchReport& r) {
  std::string text = fmt::format("{}\n{}\n{}\n{}\n{} {} {} {} {}\n", r.kernel, r.file, r.launched_by, r.device.id,
                                 fmt::join(r.grid, " "), fmt::join(r.block, " "), fmt::join(r.cluster, " "),
                                 r.resources.registers, r.resources.dynamic_shared_bytes);
  append(text, r.profile.metrics);
  for (const analyzers::InstructionRow& row : r.profile.instructions) {
    text += fmt::format("{} {}\n", row.line, row.pattern);
    append(text, row.metrics);
  }
  return text;
}

} // namespace

std::vector<const analyzers::Finding*> top_findings(const LaunchReport& report) {
  std::vector<const analyzers::Finding*> list;
  for (const analyzers::Finding& f : report.findings) list.push_back(&f);
  const auto before = [](const analyzers::Finding* a, const analyzers::Finding* b) {
    const double faster_a = a->speedup.value_or(1), faster_b = b->speedup.value_or(1);
    if (a->severity != b->severity) return a->severity < b->severity;
    return saves_little(*a) != saves_little(*b) ? saves_little(*b) : faster_a > faster_b;
  };
  std::stable_sort(list.begin(), list.end(), before);
  return list;
}

std::vector<KernelGroup> kernel_groups(std::span<const LaunchReport> reports) {
  std::vector<KernelGroup> groups;
  std::map<std::string_view, std::size_t> by_name;                       // to `groups`
  std::unordered_map<std::size_t, std::vector<std::size_t>> by_identity; // hash to sets of the kernel
  double all = 0;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const LaunchReport& r = reports[i];
    if (!r.analyzed || r.trap) continue;
    const auto [name, is_new] = by_name.try_emplace(r.kernel, groups.size());
    if (is_new) groups.push_back({.kernel = r.kernel});
    KernelGroup& group = groups[name->second];
    const std::string own = identity(r);
    std::vector<std::size_t>& candidates = by_identity[std::hash<std::string>()(own)];
    const auto known = std::find_if(candidates.begin(), candidates.end(), [&](std::size_t set) {
      return set < group.sets.size() && own == identity(reports[group.sets[set][0]]);
    });
    const std::size_t set = known == candidates.end() ? group.sets.size() : *known;
    if (known == candidates.end()) {
      candidates.push_back(set);
      group.sets.emplace_back();
    }
    group.sets[set].push_back(i);
    group.milliseconds += predicted_time(r);
    all += predicted_time(r);
    ++group.launches;
  }
  for (KernelGroup& group : groups) {
    const auto longer = [&](const auto& a, const auto& b) {
      return predicted_time(reports[a[0]]) > predicted_time(reports[b[0]]);
    };
    std::stable_sort(group.sets.begin(), group.sets.end(), longer);
    const LaunchReport& first = reports[group.sets[0][0]];
    if (all > 0) group.share = group.milliseconds / all;
    if (const model::Prediction* p = ranking_prediction(first.predictions, {})) group.limiter = p->bound;
    if (const auto findings = top_findings(first); !findings.empty()) group.finding = findings[0];
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.milliseconds > b.milliseconds; });
  return groups;
}

} // namespace warplens::api
