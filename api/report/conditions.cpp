// SPDX-License-Identifier: Apache-2.0
#include "api/report/conditions.hpp"

#include "analyzers/finding_kinds.hpp"
#include "api/report/device_costs.hpp"
#include "api/report/ranking.hpp"
#include "api/report/units.hpp"
#include "api/session/kernel_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace warplens::api {

namespace {

using analyzers::Finding;
using analyzers::InstructionRow;
using analyzers::MetricId;

constexpr std::string_view kFindings = "findings", kWarnings = "warnings", kTime = "milliseconds",
                           kSectorsPerRequest = "sectors_per_request", kPassesPerRequest = "passes_per_request";
constexpr ConditionName kConditionNames[] = {
    {kFindings, "number of findings"},
    {kWarnings, "number of findings that are warnings"},
    {kTime, "predicted time in milliseconds"},
    {kSectorsPerRequest, "sectors of global memory per request, of the instruction with the most"},
    {kPassesPerRequest, "passes over the banks of shared memory per request, of the instruction with the most"}};

/// A value, and the line that it comes from.
struct ConditionValue {
  double number = 0;
  const InstructionRow* row = nullptr;
  const Finding* finding = nullptr;
};

template <class Of> std::optional<ConditionValue> most(const LaunchReport& report, Of&& of) {
  std::optional<ConditionValue> best;
  for (const InstructionRow& row : report.profile.instructions)
    if (const std::optional<double> number = of(row); number && (!best || *number > best->number))
      best = ConditionValue{*number, &row, nullptr};
  return best;
}

std::optional<double> sectors_for_request(const InstructionRow& row) {
  std::uint64_t requests = 0;
  for (std::size_t i = 0; i < analyzers::kOperationNames.size(); ++i)
    requests += row.metrics.integer(by_operation(MetricId::global_requests_ld, i));
  if (requests == 0) return std::nullopt;
  return static_cast<double>(row.metrics.integer(MetricId::global_sectors)) / static_cast<double>(requests);
}

std::optional<double> passes_for_request(const InstructionRow& row, const rules::BankRule& rule) {
  std::uint64_t requests = 0;
  for (const MetricId id : {MetricId::shared_requests_ld, MetricId::shared_requests_st, MetricId::shared_requests_atom})
    requests += row.metrics.integer(id);
  if (requests == 0) return std::nullopt;
  return static_cast<double>(bank_cost(row.metrics, row.counts, rule).passes) / static_cast<double>(requests);
}

template <class Counts> ConditionValue number_of(const LaunchReport& report, Counts&& counts) {
  ConditionValue value;
  for (const Finding& f : report.findings)
    if (counts(f)) {
      ++value.number;
      if (value.finding == nullptr) value.finding = &f;
    }
  return value;
}

std::optional<ConditionValue> metric_value(const LaunchReport& report, const std::string& name) {
  const analyzers::MetricInfo* const info = analyzers::find_metric(name);
  const auto number_in = [&](const analyzers::Metrics& metrics) {
    const analyzers::Metric* const m = metrics.find(name);
    return m == nullptr ? std::nullopt : std::optional(m->number());
  };
  const std::optional<double> number = number_in(report.profile.metrics);
  if (!number && (info == nullptr || info->type != analyzers::MetricInfo::Type::count)) return std::nullopt;
  ConditionValue value{number.value_or(0), nullptr, nullptr};
  if (const std::optional<ConditionValue> worst =
          most(report, [&](const InstructionRow& row) { return number_in(row.metrics); }))
    if (worst->number > 0) value.row = worst->row;
  return value;
}

std::optional<ConditionValue> value_in(const LaunchReport& report, const std::string& name) {
  if (name == kFindings) return number_of(report, [](const Finding&) { return true; });
  if (name == kWarnings) return number_of(report, [](const Finding& f) { return f.severity != Severity::note; });
  if (name == kSectorsPerRequest) return most(report, sectors_for_request);
  if (name == kPassesPerRequest)
    return most(report, [&](const InstructionRow& row) { return passes_for_request(row, report.device.bank_rule); });
  if (name == kTime) {
    const model::Prediction* const p = ranking_prediction(report.predictions, {});
    return p == nullptr ? std::nullopt : std::optional(ConditionValue{p->milliseconds, nullptr, nullptr});
  }
  for (const analyzers::FindingKind& kind : analyzers::finding_kinds())
    if (kind.name == name) return number_of(report, [&](const Finding& f) { return f.rule == name; });
  return metric_value(report, name);
}

/// All names but those of families of metrics, for hints.
std::vector<std::string_view> known_names() {
  std::vector<std::string_view> names;
  for (const ConditionName& known : kConditionNames) names.push_back(known.name);
  for (const analyzers::FindingKind& kind : analyzers::finding_kinds()) names.push_back(kind.name);
  for (const analyzers::MetricInfo& info : analyzers::metric_infos())
    if (!info.family) names.push_back(info.name);
  return names;
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == text.npos ? std::string_view() : text.substr(first, last - first + 1);
}

} // namespace

std::span<const ConditionName> condition_names() { return kConditionNames; }

Expected<Condition> Condition::parse(std::string_view text) {
  struct Sign {
    std::string_view text;
    Comparison comparison;
  };
  constexpr Sign kSigns[] = {{">=", Comparison::at_least}, {"<=", Comparison::at_most}, {"==", Comparison::equal},
                             {"!=", Comparison::unequal},  {">", Comparison::greater},  {"<", Comparison::less}};
  const std::string usage = "for example 'sectors_per_request>8' or 'findings>0'";
  const std::size_t at = text.find_first_of("<>=!");
  const auto* const sign = std::find_if(std::begin(kSigns), std::end(kSigns), [&](const Sign& s) {
    return at != text.npos && text.substr(at).starts_with(s.text);
  });
  if (sign == std::end(kSigns))
    return failure(fmt::format("expected a name, a comparison and a number, got '{}'", text), usage);
  Condition condition;
  condition.text_ = text;
  condition.comparison_ = sign->comparison;
  condition.name_ = without_blanks(text.substr(0, at));
  const std::string_view number = without_blanks(text.substr(at + sign->text.size()));
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), condition.number_);
  if (number.empty() || error != std::errc{} || end != number.data() + number.size() ||
      !std::isfinite(condition.number_))
    return failure(fmt::format("expected a number after '{}', got '{}'", sign->text, number), usage);
  const std::vector<std::string_view> names = known_names();
  const bool own = std::find(names.begin(), names.end(), condition.name_) != names.end();
  const analyzers::MetricInfo* const metric = analyzers::find_metric(condition.name_);
  if (!own && metric == nullptr)
    return failure(fmt::format("there is no metric or finding '{}'", condition.name_),
                   did_you_mean(condition.name_, names, "'warplens run … --counters' lists the metrics of a launch"));
  const bool of_launch = std::any_of(std::begin(kConditionNames), std::end(kConditionNames),
                                     [&](const ConditionName& known) { return known.name == condition.name_; });
  if (metric != nullptr && !of_launch) condition.analyzer_ = metric->analyzer;
  return condition;
}

bool Condition::met_by(double value) const {
  switch (comparison_) {
  case Comparison::greater: return value > number_;
  case Comparison::at_least: return value >= number_;
  case Comparison::less: return value < number_;
  case Comparison::at_most: return value <= number_;
  case Comparison::equal: return value == number_;
  case Comparison::unequal: return value != number_;
  }
  return false;
}

std::string MetCondition::text() const {
  std::string place;
  if (source_line != 0) place = fmt::format(", {}:{}", base_name(source_file), source_line);
  if (ptx_line != 0)
    place += source_line != 0 ? fmt::format(" (PTX line {})", ptx_line) : fmt::format(", PTX line {}", ptx_line);
  const std::string name(without_blanks(std::string_view(condition).substr(0, condition.find_first_of("<>=!"))));
  return fmt::format("{}{}: {} is {:.7g}, which meets '{}'", kernel, place, name, value, condition);
}

std::vector<MetCondition> met_conditions(std::span<const Condition> conditions, std::span<const LaunchReport> reports) {
  std::vector<MetCondition> list;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const LaunchReport& r = reports[i];
    if (!r.analyzed) continue;
    for (const Condition& condition : conditions) {
      const std::optional<ConditionValue> value = value_in(r, condition.name());
      if (!value || !condition.met_by(value->number)) continue;
      MetCondition met{i, condition.text(), value->number, source_name(r.kernel), {}, 0, 0};
      if (value->row != nullptr) {
        met.source_file = value->row->source_file;
        met.source_line = value->row->source_line;
        met.ptx_line = value->row->line;
      } else if (value->finding != nullptr) {
        met.source_file = value->finding->source_file;
        met.source_line = value->finding->source_line;
        met.ptx_line = value->finding->lines.empty() ? 0 : value->finding->lines.front();
      }
      list.push_back(std::move(met));
    }
  }
  return list;
}

std::vector<std::string> uncounted(std::span<const Condition> conditions, std::span<const LaunchReport> reports) {
  std::vector<std::string> list;
  for (const Condition& condition : conditions) {
    if (condition.analyzer().empty()) continue;
    bool any = false, counted = false;
    for (const LaunchReport& r : reports) {
      const auto& metrics = r.profile.metrics.list();
      any = any || r.analyzed;
      counted = counted || std::any_of(metrics.begin(), metrics.end(), [&](const analyzers::Metric& m) {
                  // Without its name, an analyzer may look at a sample, which gives ratios only.
                  const analyzers::MetricInfo& of = info(m.key.id);
                  return m.name() == condition.name() ||
                         (of.analyzer == condition.analyzer() && of.type == analyzers::MetricInfo::Type::count);
                });
    }
    if (any && !counted)
      list.push_back(fmt::format("'{}' is counted only with --analyzers {}", condition.name(), condition.analyzer()));
  }
  return list;
}

std::vector<std::string> messages(std::span<const MetCondition> met) {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < met.size(); ++i) {
    const auto same = [&](const MetCondition& m) {
      return m.kernel == met[i].kernel && m.condition == met[i].condition;
    };
    if (std::any_of(met.begin(), met.begin() + static_cast<std::ptrdiff_t>(i), same)) continue;
    const auto launches = std::count_if(met.begin(), met.end(), same);
    list.push_back(met[i].text() + (launches > 1 ? fmt::format(" (the first of {} launches)", launches) : ""));
  }
  return list;
}

} // namespace warplens::api
