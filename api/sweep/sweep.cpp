// SPDX-License-Identifier: Apache-2.0
#include "api/sweep/sweep.hpp"

#include "api/files/input_file.hpp"
#include "api/plan/launch_file.hpp"
#include "api/report/ranking.hpp"
#include "emulator/base/checked.hpp"
#include "emulator/exec/grid/workers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>

namespace warplens::api {

namespace {

using Overrides = std::vector<Override>;

constexpr std::string_view kOfTarget[] = {"device", "rule", "l1", "registers"};
constexpr std::string_view kOfEachLaunch[] = {"launch", "index", "kernel", "block", "grid", "total", "shared"};

template <class List> bool contains(const List& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

Expected<std::uint64_t> natural(std::string_view name, std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && !text.empty()) return value;
  return failure(fmt::format("{} '{}': expected a whole number", name, text));
}

/// Throws Diagnostics, because every setting may be wrong. The callers convert them back to values.
template <class T> T value_or_throw(Expected<T> expected) {
  if (!expected) throw std::move(expected.error());
  return std::move(*expected);
}

[[noreturn]] void refuse(std::string message) {
  Diagnostics errors;
  errors.error({}, std::move(message));
  throw errors;
}

void apply(const Settings& settings, LaunchPlan& launch) {
  const Extent file_grid = launch.grid;
  Extent total = launch.total.value_or(Extent{});
  if (!launch.total)
    for (std::size_t i = 0; i < 3; ++i) total[i] = (Checked(launch.grid[i]) * launch.block[i]).saturated();
  if (const auto* kernel = setting(settings, "kernel")) launch.kernel = *kernel;
  if (const auto* shared = setting(settings, "shared")) launch.shared = value_or_throw(natural("shared", *shared));
  if (const auto* given = setting(settings, "total")) total = value_or_throw(parse_shape(*given));
  const auto* block = setting(settings, "block");
  if (block != nullptr) launch.block = value_or_throw(parse_shape(*block));
  const auto* grid = setting(settings, "grid");
  if (grid != nullptr)
    launch.grid = *grid == "fixed" ? file_grid : value_or_throw(parse_shape(*grid));
  else if (block != nullptr || setting(settings, "total") != nullptr)
    launch.grid = blocks_for(total, launch.block);
}

/// The GPU of a configuration, with the rule that replaces one of the device's rules.
TargetDevice target_of(const Settings& settings, const model::Device& device_of_plan) {
  TargetDevice target{device_of_plan, FirstLevel::device, {}};
  if (const auto* device = setting(settings, "device")) target.device = value_or_throw(load_device(*device));
  if (const auto* l1 = setting(settings, "l1")) target.first_level = value_or_throw(parse_first_level(*l1));
  if (const auto* registers = setting(settings, "registers"))
    target.registers = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(value_or_throw(natural("registers", *registers)), 0xffff'ffff));
  if (const auto* rule = setting(settings, "rule")) {
    rules::RuleSet loaded = value_or_throw(load_rules({rule, 1}));
    for (rules::CoalescingRule& own : loaded.coalescing) target.device.coalescing_rule = std::move(own);
    for (rules::BankRule& own : loaded.banks) target.device.bank_rule = std::move(own);
  }
  return target;
}

/// On one line, because each row is a line.
std::string one_line(const std::string& text) {
  std::string line;
  for (const char c : text) {
    const char shown = c == '\n' ? ' ' : c;
    if (shown != ' ' || !line.ends_with(' ')) line += shown;
  }
  return line;
}

std::string message_of(const Diagnostics& errors) {
  std::string text;
  for (const Diagnostic& d : errors.list()) {
    if (d.severity != Severity::error) continue;
    if (!text.empty()) text += "; ";
    if (!d.file.empty() && d.where.line != 0) text += fmt::format("{}:{}: ", d.file, d.where.line);
    text += d.message;
  }
  return one_line(text);
}

/// Fills in a row from the report of its launch.
void fill(SweepRow& row, const LaunchReport& report, std::string_view model) {
  row.kernel = report.kernel;
  row.device = report.device.name;
  row.device_id = report.device.id;
  row.grid = report.grid;
  row.block = report.block;
  if (report.trap) {
    row.failure = one_line(report.trap->message);
    return;
  }
  using analyzers::MetricId;
  const model::KernelStatistics& s = report.statistics;
  row.statistics = s;
  const double warps = std::max(1.0, static_cast<double>(report.profile.integer(MetricId::warps_launched)));
  const auto add = [&](const analyzers::MetricKey& key, double value) {
    row.metrics.push_back({std::string(key.name()), value});
  };
  if (const model::Prediction* p = ranking_prediction(report.predictions, model)) {
    row.model = p->model;
    row.bound = p->bound;
    row.mwp_bound = p->mwp_bound;
    add(MetricId::milliseconds, p->milliseconds);
    add(MetricId::cycles, p->cycles);
  } else if (!model.empty()) {
    row.failure = fmt::format("no prediction by {} for {}", model, report.device.name);
  }
  if (report.occupancy) {
    std::vector<std::string_view> bounds;
    for (const model::OccupancyLimiter l : report.occupancy->bound_by) bounds.push_back(to_string(l));
    row.occupancy_bound = fmt::format("{}", fmt::join(bounds, ", "));
    add(MetricId::resident_warps, report.occupancy->warps);
    add(MetricId::resident_blocks, report.occupancy->blocks);
  }
  const double transactions = *s.transactions_32 + *s.transactions_64 + *s.transactions_128;
  add(MetricId::transactions, transactions * warps);
  if (*s.global_requests > 0) add(MetricId::transactions_per_request, transactions / *s.global_requests);
  add(MetricId::bank_conflict_passes, *s.bank_conflict_passes * warps);
  for (const model::Prediction& p : report.predictions) add({MetricId::model_milliseconds, p.model}, p.milliseconds);
  for (const analyzers::Metric& m : report.profile.metrics.list())
    row.metrics.push_back({std::string(m.name()), m.value});
}

void run(std::span<const Settings> configurations, const SweepOptions& options, std::vector<SweepRow>& rows) {
  SweepPlan sweep = value_or_throw(sweep_plan(configurations.front()));
  if (const auto* device = setting(configurations.front(), "device")) sweep.plan.device = *device;
  PlanOptions o;
  o.only = sweep.launch;
  o.launch = options.launch;
  const model::Device device = value_or_throw(device_or_default(sweep.plan.device));
  if (options.read_module)
    o.read_module = [&](const std::filesystem::path& file) { return options.read_module(file, device.capability); };
  std::vector<std::size_t> of_target; // row of each target
  o.targets = [&](const model::Device& device_of_plan) {
    std::vector<TargetDevice> targets;
    for (std::size_t i = 0; i < configurations.size(); ++i) {
      try {
        targets.push_back(target_of(configurations[i], device_of_plan));
        of_target.push_back(i);
      } catch (const Diagnostics& errors) {
        rows[i].failure = message_of(errors);
      }
    }
    return targets;
  };
  const PlanReport report = value_or_throw(run_plan(sweep.plan, o));
  if (report.trapped())
    refuse(fmt::format("an earlier launch stopped: {}: {}", report.launches.back().kernel,
                       report.launches.back().trap->message));
  for (std::size_t i = 0; i < report.targets.size(); ++i) {
    SweepRow& row = rows[of_target[i]];
    if (report.targets[i])
      fill(row, *report.targets[i], options.model);
    else
      row.failure = message_of(report.targets[i].error());
  }
}

} // namespace

const std::string* setting(const Settings& settings, std::string_view name) {
  for (const auto& [key, value] : settings)
    if (key == name) return &value;
  return nullptr;
}

std::string text_of(const Settings& settings) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : settings) parts.push_back(fmt::format("{} {}", key, value));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::optional<double> SweepRow::number(std::string_view name) const {
  for (const analyzers::NamedValue& m : metrics)
    if (m.name == name) return m.number();
  return std::nullopt;
}

Expected<Extent> parse_shape(std::string_view text) {
  Extent e{1, 1, 1};
  std::string_view rest = text;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t x = std::min(rest.find('x'), rest.size());
    const Expected<std::uint64_t> one = natural("", rest.substr(0, x));
    if (!one) break;
    e[i] = *one;
    if (x == rest.size()) return e;
    rest.remove_prefix(x + 1);
  }
  return failure(fmt::format("'{}' is not a shape: expected up to three extents, such as 64 or 16x16", text));
}

Expected<SweepPlan> sweep_plan(const Settings& settings) {
  const auto* file = setting(settings, "launch");
  if (file == nullptr) return failure("no launch file");
  Overrides overrides;
  for (const auto& [key, value] : settings)
    if (!contains(kOfTarget, key) && !contains(kOfEachLaunch, key)) overrides.push_back({key, value});
  Expected<Plan> plan = read_launch_file(*file, overrides);
  if (!plan) return failure(plan.error());
  SweepPlan result{std::move(*plan), 0};
  const std::size_t count = result.plan.launches.size();
  if (count == 0) return failure(fmt::format("'{}' launches nothing", *file));
  result.launch = count - 1;
  try {
    if (const auto* index = setting(settings, "index")) result.launch = value_or_throw(natural("index", *index));
    if (result.launch >= count)
      return failure(
          fmt::format("'{}' has {} launches, counted from 0: launch {} does not exist", *file, count, result.launch));
    apply(settings, result.plan.launches[result.launch]);
  } catch (Diagnostics& errors) {
    return failure(std::move(errors));
  }
  return result;
}

bool is_of_target(std::string_view name) { return contains(kOfTarget, name); }

bool device_matters(const Plan& plan) {
  const auto reads_device = [](const std::filesystem::path& module) {
    if (module.extension() != ".ptx") return true;
    const std::string text = read_file(module).value_or(std::string()); // the run reports read errors
    return text.find("%smid") != text.npos || text.find("%nsmid") != text.npos || text.find("%nwarpid") != text.npos;
  };
  return std::any_of(plan.launches.begin(), plan.launches.end(), [&](const LaunchPlan& l) {
    return reads_device(l.module) || std::any_of(l.libraries.begin(), l.libraries.end(), reads_device);
  });
}

std::vector<std::vector<std::size_t>> share_emulations(std::span<const Settings> all) {
  if (all.size() == 1) return {{0}};
  std::map<std::vector<std::filesystem::path>, bool> known; // by modules
  const auto any_reads_device = [&](const Settings& settings) {
    const Expected<SweepPlan> plan = sweep_plan(settings);
    if (!plan) return false;
    std::vector<std::filesystem::path> modules;
    for (const LaunchPlan& l : plan->plan.launches) {
      modules.push_back(l.module);
      modules.insert(modules.end(), l.libraries.begin(), l.libraries.end());
    }
    const auto [entry, is_new] = known.try_emplace(std::move(modules), true);
    if (is_new) entry->second = device_matters(plan->plan);
    return entry->second;
  };
  std::vector<std::vector<std::size_t>> groups;
  std::map<Settings, std::size_t> group_of;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Settings execution;
    for (const auto& s : all[i])
      if (!is_of_target(s.first)) execution.push_back(s);
    if (const auto* device = setting(all[i], "device"); device != nullptr && any_reads_device(all[i]))
      execution.emplace_back("device", *device);
    const auto [entry, is_new] = group_of.try_emplace(std::move(execution), groups.size());
    if (is_new) groups.emplace_back();
    groups[entry->second].push_back(i);
  }
  return groups;
}

unsigned default_jobs() { return exec::default_workers(); }

std::vector<SweepRow> run_configurations(std::span<const Settings> configurations, const SweepOptions& options) {
  std::vector<SweepRow> rows;
  for (const Settings& settings : configurations) rows.emplace_back().settings = settings;
  if (rows.empty()) return rows;
  try {
    run(configurations, options, rows);
  } catch (const Diagnostics& errors) {
    for (SweepRow& row : rows)
      if (row.failure.empty()) row.failure = message_of(errors);
  }
  return rows;
}

} // namespace warplens::api
