// SPDX-License-Identifier: Apache-2.0
// Reads reports of warplens run and sweep for comparisons, and writes comparisons.
#include "api/sweep/json_compare.hpp"

#include "analyzers/counted_rules.hpp"
#include "analyzers/recorded_accesses.hpp"
#include "api/report/json_fold.hpp"
#include "api/report/json_report.hpp"
#include "api/report/ranking.hpp"
#include "api/session/kernel_name.hpp"
#include "api/sweep/json_number.hpp"
#include "api/sweep/sweep_table.hpp"
#include "model/models.hpp"
#include "model/trust.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace warplens::api {

namespace {

using Json = nlohmann::ordered_json;

std::vector<analyzers::NamedValue> metrics_of(const Json& object) {
  std::vector<analyzers::NamedValue> list;
  for (const auto& [name, value] : object.items())
    if (value.is_number_unsigned())
      list.push_back({name, value.get<std::uint64_t>()});
    else if (value.is_number())
      list.push_back({name, value.get<double>()});
  return list;
}

model::KernelStatistics statistics_of(const Json& object) {
  model::KernelStatistics s;
  for (const model::StatisticField& field : model::statistic_fields())
    if (const auto value = object.find(field.name); value != object.end() && value->is_number())
      field.get(s) = value->get<double>();
  return s;
}

std::string place_of(const Json& source, std::uint64_t line) {
  return source.is_string() ? source.get<std::string>() : fmt::format("line {}", line);
}

/// "ld.global.f32" of "@%p1 ld.global.f32 %f1, [%rd8];"
std::string opcode_in(std::string_view ptx) {
  if (ptx.starts_with('@')) ptx.remove_prefix(std::min(ptx.size(), ptx.find(' ') + 1));
  return std::string(ptx.substr(0, ptx.find_first_of(" ;")));
}

bool accesses_memory(std::string_view ptx) {
  const std::string opcode = opcode_in(ptx) + ".";
  return opcode.find(".global.") != opcode.npos || opcode.find(".shared.") != opcode.npos ||
         opcode.find(".local.") != opcode.npos;
}

/// Adds up the counts of the instructions of one place; ratios cannot be added.
void add_line(std::vector<ReportedLaunch::Line>& lines, const Json& instruction) {
  const std::string where = place_of(instruction.at("source"), whole_number(instruction.at("line")));
  const std::string text = instruction.at("ptx").get<std::string>();
  auto line = std::find_if(lines.begin(), lines.end(), [&](const auto& l) { return l.where == where; });
  if (line == lines.end()) line = lines.insert(lines.end(), {where, text, {}, {}});
  if (accesses_memory(text) && !accesses_memory(line->text)) line->text = text; // says more than computing an address
  line->opcodes += opcode_in(text) + "\n";
  for (const auto& [name, value] : instruction.items()) {
    if (!value.is_number_unsigned() || name == "line" || name == "lane_bytes") continue;
    const auto known = std::find_if(line->metrics.begin(), line->metrics.end(),
                                    [&, &key = name](const analyzers::NamedValue& m) { return m.name == key; });
    if (known == line->metrics.end())
      line->metrics.push_back({name, value.get<std::uint64_t>()});
    else
      known->value = std::get<std::uint64_t>(known->value) + value.get<std::uint64_t>();
  }
}

/// Devices of files count as their reports say.
void set_units(ReportedLaunch& launch, const Json& device) {
  if (const Expected<model::Device> known = model::find_device(launch.device_id)) {
    launch.global_unit = analyzers::cost_unit(known->coalescing_rule);
    launch.usual_banks = analyzers::are_usual_banks(known->bank_rule);
  } else if (device.is_object()) {
    for (const std::string_view unit : {"bytes", "transactions"})
      if (device.value("global_unit", "") == unit) launch.global_unit = unit;
    launch.usual_banks = !launch.number("bank_passes");
  }
}

ReportedLaunch launch_of(const Json& json, const Json& device) {
  ReportedLaunch launch;
  launch.kernel = json.at("kernel").get<std::string>();
  launch.device_name = device.at("name").get<std::string>();
  launch.device_id = device.at("id").get<std::string>();
  launch.metrics = metrics_of(json.at("metrics"));
  if (json.contains("device_costs"))
    for (analyzers::NamedValue& count : metrics_of(json["device_costs"])) launch.metrics.push_back(std::move(count));
  set_units(launch, device);
  launch.statistics = statistics_of(json.at("statistics"));
  std::vector<model::Prediction> predictions;
  for (const Json& p : json.at("predictions")) {
    model::Prediction& one = predictions.emplace_back();
    one.model = p.at("model").get<std::string>();
    one.milliseconds = p.at("milliseconds").get<double>();
    one.bound = p.at("bound").get<std::string>();
  }
  model::mark_trusted(predictions);
  if (const model::Prediction* p = ranking_prediction(predictions, {})) {
    launch.model = p->model;
    launch.bound = p->bound;
    launch.milliseconds = p->milliseconds;
  }
  for (const Json& instruction : json.at("instructions")) add_line(launch.lines, instruction);
  for (const Json& f : json.at("findings")) {
    const Json& lines = f.at("lines");
    launch.findings.push_back({f.at("rule").get<std::string>(),
                               place_of(f.at("source"), lines.empty() ? 0 : whole_number(lines[0])),
                               f.at("message").get<std::string>()});
  }
  return launch;
}

ReportedLaunch sweep_row_of(const Json& json) {
  ReportedLaunch launch;
  launch.kernel = json.at("kernel").get<std::string>();
  for (const auto& [name, value] : json.at("settings").items())
    launch.settings.emplace_back(name, value.get<std::string>());
  launch.device_name = json.at("device").get<std::string>();
  launch.device_id = json.at("device_id").get<std::string>();
  set_units(launch, nullptr);
  launch.model = json.at("model").get<std::string>();
  launch.bound = json.at("bound").get<std::string>();
  launch.metrics = metrics_of(json.at("metrics"));
  launch.milliseconds = launch.number("milliseconds");
  launch.statistics = statistics_of(json.at("statistics"));
  return launch;
}

/// The rows of a table that have a result.
Expected<ReportFile> report_of_table(std::string_view text, std::string_view name) {
  SweepTableReader reader;
  for (std::size_t end = 0; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1))
    reader.add(text.substr(0, end));
  SweepTable table = reader.finish();
  ReportFile file{std::string(name), {}, table.note()};
  for (SweepRow& row : table.rows) {
    if (!row.failure.empty()) continue;
    ReportedLaunch& launch = file.launches.emplace_back();
    launch.kernel = std::move(row.kernel);
    launch.settings = std::move(row.settings);
    launch.device_name = std::move(row.device);
    launch.device_id = std::move(row.device_id);
    set_units(launch, nullptr);
    launch.model = std::move(row.model);
    launch.bound = std::move(row.bound);
    launch.milliseconds = row.number("milliseconds");
    launch.metrics = std::move(row.metrics);
    launch.statistics = row.statistics;
  }
  if (file.launches.empty()) return failure(fmt::format("no run in '{}' has a result", name));
  return file;
}

Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json json_of(const std::vector<Change>& changes, const LaunchComparison& of) {
  Json list = Json::array();
  for (const Change& c : changes) {
    Json& one = list.emplace_back(Json{{"name", c.name},
                                       {"before", number_or_null(c.before)},
                                       {"after", number_or_null(c.after)},
                                       {"ratio", number_or_null(c.ratio())}});
    if (const std::string_view label = label_of(of, c.name); !label.empty()) one["label"] = label;
  }
  return list;
}

Json json_of(const std::vector<ReportedLaunch::Finding>& findings) {
  Json list = Json::array();
  for (const auto& f : findings) list.push_back({{"rule", f.rule}, {"where", f.where}, {"message", f.message}});
  return list;
}

Json json_of(const ReportedLaunch* launch) {
  if (launch == nullptr) return nullptr;
  Json settings = Json::object();
  for (const auto& [name, value] : launch->settings) settings[name] = value;
  return {{"kernel", launch->kernel},
          {"name", source_name(launch->kernel)},
          {"settings", std::move(settings)},
          {"device", launch->device_id},
          {"model", launch->model},
          {"bound", launch->bound},
          {"milliseconds", number_or_null(launch->milliseconds)}};
}

Json json_of(const LaunchComparison& c) {
  Json factors = Json::array(), lines = Json::array();
  for (const Factor& f : c.factors) factors.push_back({{"what", f.what}, {"milliseconds", f.milliseconds}});
  for (const auto& l : c.lines)
    lines.push_back(
        {{"where", l.where}, {"where_after", l.where_after}, {"ptx", l.text}, {"metrics", json_of(l.metrics, c)}});
  return {{"before", json_of(c.before)},     {"after", json_of(c.after)},      {"metrics", json_of(c.metrics, c)},
          {"factors", std::move(factors)},   {"unexplained", c.unexplained},   {"lines", std::move(lines)},
          {"appeared", json_of(c.appeared)}, {"vanished", json_of(c.vanished)}};
}

} // namespace

Expected<ReportFile> read_report(std::string_view text, std::string_view name) {
  if (is_sweep_table(text)) return report_of_table(text, name);
  ReportFile file{std::string(name), {}};
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return failure(fmt::format("'{}' is not valid JSON, or is truncated", name));
  const auto none = [&](std::string_view why) {
    return failure(fmt::format("'{}' is not a report of warplens run --json or sweep --json: {}", name, why));
  };
  try {
    if (!json.is_object() || (!json.contains("launches") && !json.contains("sweep")))
      return none("it has neither launches nor sweep rows");
    if (json.at("warplens") != version())
      return failure(
          fmt::format("'{}' was written by warplens {}, but this is {}", name, json.at("warplens").dump(), version()),
          "create the report again with this version");
    if (json.contains("sweep")) {
      for (const Json& row : json.at("sweep"))
        if (row.at("failure").is_null()) file.launches.push_back(sweep_row_of(row));
    } else {
      const Json& launches = json.at("launches");
      const Expected<std::vector<std::size_t>> whole = whole_launches(launches);
      if (!whole) return none(whole.error().list().front().message);
      for (std::size_t i = 0; i < whole->size(); ++i)
        if ((*whole)[i] == i)
          file.launches.push_back(launch_of(launches[i], json.at("device")));
        else
          file.launches.push_back(ReportedLaunch(file.launches[(*whole)[i]]));
    }
  } catch (const Json::exception& e) {
    return none(e.what());
  }
  if (file.launches.empty()) return none("no launch or sweep row has a result");
  return file;
}

std::string json_comparison(const ReportFile& before, std::span<const ReportFile> others,
                            std::span<const std::vector<LaunchComparison>> comparisons) {
  Json list = Json::array();
  for (std::size_t i = 0; i < others.size(); ++i) {
    Json launches = Json::array();
    for (const LaunchComparison& c : comparisons[i]) launches.push_back(json_of(c));
    list.push_back({{"before", before.name},
                    {"after", others[i].name},
                    {"total",
                     {{"before", number_or_null(total_milliseconds(before))},
                      {"after", number_or_null(total_milliseconds(others[i]))}}},
                    {"launches", std::move(launches)}});
  }
  const Json all = {{"warplens", version()}, {"comparisons", std::move(list)}};
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace warplens::api
