// SPDX-License-Identifier: Apache-2.0
#include "api/report/json_page.hpp"

#include "analyzers/banks.hpp"
#include "analyzers/coalescing.hpp"
#include "analyzers/counted_rules.hpp"
#include "api/report/device_costs.hpp"
#include "api/report/line_costs.hpp"
#include "api/session/kernel_name.hpp"
#include "model/device_fields.hpp"
#include "model/models.hpp"
#include "model/trust.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace warplens::api {

namespace {

using PageJson = nlohmann::ordered_json;

/// The numbers of a device. Rules and names are in the report already.
class DeviceJson {
public:
  template <class T> void operator()(std::string_view key, const T& value, model::Defaulted = {}) {
    if constexpr (model::Table<T>) {
      DeviceJson table;
      model::visit_fields(value, table);
      if (!table.object_.empty()) object_[std::string(key)] = std::move(table.object_);
    } else if constexpr (std::is_arithmetic_v<T>) {
      object_[std::string(key)] = value;
    }
  }
  template <class T> void operator()(std::string_view key, const std::optional<T>& value) {
    if (value) (*this)(key, *value);
  }
  [[nodiscard]] PageJson take() { return std::move(object_); }

private:
  PageJson object_ = PageJson::object();
};

/// A step function: [[0, 48], [33, 32]] is 48 up to 32, then 32.
class Steps {
public:
  void add(std::int64_t at, std::int64_t value) {
    if (list_.empty() || list_.back()[1] != value) list_.push_back({at, value});
  }
  [[nodiscard]] PageJson take() { return std::move(list_); }

private:
  PageJson list_ = PageJson::array();
};

std::int64_t resident_warps(const model::OccupancyQuery& query) {
  const Expected<model::Occupancy> result = model::occupancy(query);
  return result ? result->warps : 0; // 0: the launch is impossible
}

/// Resident warps of a multiprocessor, while one of the three quantities that decide them varies.
PageJson occupancy_curves(const LaunchReport& report) {
  const model::OccupancyLimits& limits = report.device.limits;
  model::OccupancyQuery query;
  query.capability = limits.capability;
  query.threads = static_cast<std::int64_t>(report.block[0] * report.block[1] * report.block[2]);
  query.registers = std::min<std::int64_t>(report.resources.registers, limits.registers_per_thread);
  query.shared_bytes = static_cast<std::int64_t>(model::value_of(report.statistics.shared_bytes_per_block));
  Steps block, registers, shared;
  for (std::int64_t threads = 1; threads <= limits.threads_per_block; ++threads) {
    model::OccupancyQuery one = query;
    one.threads = threads;
    block.add(threads, resident_warps(one));
  }
  for (std::int64_t count = 1; count <= limits.registers_per_thread; ++count) {
    model::OccupancyQuery one = query;
    one.registers = count;
    registers.add(count, resident_warps(one));
  }
  const std::int64_t unit = std::max(limits.shared_unit, 128);
  for (std::int64_t bytes = 0; bytes <= limits.shared_bytes_per_block; bytes += unit) {
    model::OccupancyQuery one = query;
    one.shared_bytes = bytes;
    shared.add(bytes, resident_warps(one));
  }
  return {{"threads", query.threads},   {"registers", query.registers},     {"shared_bytes", query.shared_bytes},
          {"by_threads", block.take()}, {"by_registers", registers.take()}, {"by_shared_bytes", shared.take()}};
}

PageJson control_flow_of(const std::vector<FlowBlock>& blocks) {
  PageJson list = PageJson::array();
  for (const FlowBlock& block : blocks)
    list.push_back({{"first_line", block.first_line},
                    {"last_line", block.last_line},
                    {"successors", block.successors},
                    {"reconverges_at", block.reconverges_at ? PageJson(*block.reconverges_at) : PageJson()},
                    {"exits", block.exits},
                    {"warps", block.warps},
                    {"threads", block.threads}});
  return list;
}

PageJson served_by(const rules::CoalescingRule& rule, const analyzers::RecordedAccess& access) {
  std::vector<analyzers::Transaction> list;
  analyzers::transactions(rule, access.addresses.data(), access.mask, access.lane_bytes, access.service, &list);
  PageJson made = PageJson::array();
  for (const analyzers::Transaction& t : list) made.push_back({t.base, t.bytes, t.lanes});
  return {{"rule", rule.name}, {"transactions", std::move(made)}};
}

/// The lanes of the access that are served together, and their passes: [[mask, passes], …].
PageJson requests_of(const rules::BankRule& rule, const analyzers::RecordedAccess& access) {
  rules::Requests requests = rule.word(access.lane_bytes, access.service.of()).requests;
  if (rule.merge_equal_pairs && access.service.kind == exec::AccessKind::load && requests.lanes < exec::kWarpSize &&
      analyzers::equal_pairs(access.addresses.data(), access.mask))
    requests.lanes *= 2;
  PageJson list = PageJson::array();
  requests.for_each([&](exec::Mask lanes) {
    const exec::Mask active = access.mask & lanes;
    if (active == 0) return;
    list.push_back(
        {active, analyzers::passes(rule, access.addresses.data(), active, access.lane_bytes, access.service).passes});
  });
  return list;
}

/// The banks of the words that a lane accesses.
PageJson banks_of(const rules::BankRule& rule, std::uint64_t address, std::uint32_t bytes) {
  PageJson banks = PageJson::array();
  for (std::uint64_t word = address / rule.bank_bytes; word <= (address + bytes - 1) / rule.bank_bytes; ++word)
    banks.push_back(rule.bank_of(word));
  return banks;
}

PageJson served_by(const rules::BankRule& rule, const analyzers::RecordedAccess& access) {
  const analyzers::Passes p =
      analyzers::passes(rule, access.addresses.data(), access.mask, access.lane_bytes, access.service);
  const std::uint32_t bytes = std::max<std::uint32_t>(access.lane_bytes, 1);
  PageJson banks = PageJson::array();
  for (std::size_t lane = 0; lane < access.addresses.size(); ++lane)
    banks.push_back((access.mask >> lane & 1) != 0 ? banks_of(rule, access.addresses[lane], bytes) : PageJson());
  return {{"rule", rule.name},
          {"banks", rule.banks},
          {"bank_bytes", rule.bank_bytes},
          {"row_bytes", rule.row_bytes},
          {"one_lane", analyzers::one_lane_a_bank(rule, access.service.kind)},
          {"split_words", rule.split_words},
          {"passes", p.passes},
          {"fewest", p.fewest},
          {"ways", p.ways},
          {"requests", requests_of(rule, access)},
          {"bank", std::move(banks)}};
}

/// The models whose predictions are lower bounds of the time.
PageJson lower_bounds(const LaunchReport& report) {
  PageJson list = PageJson::array();
  for (const model::Prediction& p : report.predictions)
    if (const model::Model* const m = model::find_model(p.model); m != nullptr && m->says == model::kSaysBound)
      list.push_back(p.model);
  return list;
}

/// The most expensive lines, as on the first screen of the text report.
PageJson costly_lines(const LaunchReport& report) {
  constexpr std::size_t kShown = 5;
  const model::Prediction* const prediction = model::trusted(report.predictions);
  const LineCosts costs = line_costs(report, prediction == nullptr ? "" : prediction->bound);
  PageJson lines = PageJson::array();
  for (const LineCost& line : std::span(costs.lines).first(std::min(costs.lines.size(), kShown)))
    lines.push_back({{"file", line.file},
                     {"line", line.line},
                     {"share", line.share},
                     {"ptx_line", line.worst->line},
                     {"cost", access_cost(*line.worst, report.device) > 0 ? access_cost_text(*line.worst, report.device)
                                                                          : std::string()}});
  return {{"of", costs.of}, {"lines", std::move(lines)}};
}

PageJson described(const DeviceCount& count) {
  PageJson object = {{"unit", count.unit}, {"definition", count.definition}};
  if (!count.label.empty()) object["label"] = count.label;
  return object;
}

/// Under the device's rule and those that were asked for.
template <class Rule>
PageJson served_by_all(const Rule& device, const std::vector<Rule>& asked, const analyzers::RecordedAccess& access) {
  PageJson list = PageJson::array({served_by(device, access)});
  for (const Rule& rule : asked)
    if (rule.name != device.name) list.push_back(served_by(rule, access));
  return list;
}

} // namespace

PageJson served_for_page(const analyzers::RecordedAccess& access, const LaunchReport& report) {
  if (access.space == isa::Space::shared) return served_by_all(report.device.bank_rule, report.rules.banks, access);
  return served_by_all(report.device.coalescing_rule, report.rules.coalescing, access);
}

PageJson device_for_page(const model::Device& device) {
  DeviceJson parameters;
  model::visit_fields(device, parameters);
  PageJson object = parameters.take();
  const model::OccupancyLimits& limits = device.limits;
  object["bank_pass_bytes"] = device.bank_rule.banks * device.bank_rule.bank_bytes;
  object["limits"] = {{"warps", limits.warps},
                      {"threads", limits.threads},
                      {"blocks", limits.blocks},
                      {"registers", limits.registers},
                      {"registers_per_thread", limits.registers_per_thread},
                      {"shared_bytes", limits.shared_bytes},
                      {"shared_bytes_per_block", limits.shared_bytes_per_block},
                      {"threads_per_block", limits.threads_per_block}};
  return object;
}

PageJson launch_for_page(const LaunchReport& report) {
  std::vector<std::string> remarks = report.partial;
  remarks.insert(remarks.end(), report.remarks.begin(), report.remarks.end());
  if (!report.order_of_results.empty())
    remarks.push_back("results may differ between runs: " + report.order_of_results);
  PageJson object = {{"name", source_name(report.kernel)},
                     {"module", report.file},
                     {"stream", report.stream},
                     {"remarks", std::move(remarks)}};
  object["lower_bounds"] = lower_bounds(report);
  object["savings_known"] = model::knows_what_takes_time(report.predictions);
  object["costly_lines"] = costly_lines(report);
  object["control_flow"] = control_flow_of(report.control_flow);
  object["occupancy_curves"] = report.occupancy ? occupancy_curves(report) : PageJson();
  return object;
}

void share_repeated(PageJson& launches) {
  for (const char* member : {"metrics", "instructions", "blocks", "statistics", "predictions", "findings",
                             "control_flow", "costly_lines", "occupancy_curves"}) {
    std::unordered_map<std::string, std::size_t> first;
    for (std::size_t i = 0; i < launches.size(); ++i) {
      std::string text = launches[i][member].dump(-1, ' ', false, PageJson::error_handler_t::replace);
      if (text.size() < 40) continue; // a reference is not shorter
      const auto [known, is_new] = first.try_emplace(std::move(text), i);
      if (!is_new) launches[i][member] = {{"same_as", known->second}};
    }
  }
}

PageJson metrics_for_page(std::span<const LaunchReport> launches) {
  PageJson object = PageJson::object();
  std::set<std::string> seen;
  const auto add = [&](const analyzers::Metrics& metrics) {
    for (const analyzers::Metric& metric : metrics.list()) {
      const std::string name(metric.name());
      if (!seen.insert(name).second) continue;
      const analyzers::MetricInfo& info = analyzers::info(metric.key.id);
      object[name] = {{"unit", info.unit}, {"definition", info.definition}};
      if (!info.label.empty()) object[name]["label"] = info.label;
      if (info.ideal) object[name]["ideal"] = *info.ideal;
      if (info.type == analyzers::MetricInfo::Type::ratio) object[name]["ratio"] = true;
    }
  };
  for (const LaunchReport& launch : launches) {
    for (const CountOfDevice& count : counts_of_device(launch.profile.metrics, launch.profile.counts, launch.device))
      object[std::string(count.what->name)] = described(*count.what);
    add(launch.profile.metrics);
    for (const analyzers::InstructionRow& row : launch.profile.instructions) add(row.metrics);
  }
  return object;
}

} // namespace warplens::api
