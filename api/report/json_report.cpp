// SPDX-License-Identifier: Apache-2.0
// Writes JSON reports. Only this file, json_profile.cpp, json_compare.cpp and sweep_json.cpp of api/ include
// nlohmann-json.
#include "api/report/json_report.hpp"

#include "api/predict/predict.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace warplens::api {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kJsonSchema = 1; ///< see docs/support.md

void add(Json& object, const analyzers::Metric& metric) {
  if (const auto* count = std::get_if<std::uint64_t>(&metric.value))
    object[std::string(metric.name())] = *count;
  else
    object[std::string(metric.name())] = std::get<double>(metric.value);
}

Json metrics_of(const std::vector<analyzers::Metric>& metrics) {
  Json object = Json::object();
  for (const analyzers::Metric& m : metrics) add(object, m);
  return object;
}

/// "saxpy.cu:5", or null.
Json position(const std::string& file, std::uint32_t line) {
  return line == 0 ? Json() : Json(fmt::format("{}:{}", file, line));
}

Json device_of(const model::Device& d) {
  return {{"name", d.name},
          {"id", d.id},
          {"compute_capability", to_string(d.capability)},
          {"coalescing_rule", d.coalescing_rule.name},
          {"bank_rule", d.bank_rule.name}};
}

Json instruction_of(const analyzers::InstructionRow& row) {
  Json object = {{"line", row.line}, {"ptx", row.ptx}, {"source", position(row.source_file, row.source_line)}};
  if (!row.pattern.empty()) {
    object["pattern"] = row.pattern;
    object["lane_bytes"] = row.lane_bytes;
  }
  for (const analyzers::Metric& m : row.metrics.list()) add(object, m);
  return object;
}

Json occupancy_of(const LaunchReport& report) {
  if (!report.occupancy) return nullptr;
  const model::Occupancy& o = *report.occupancy;
  Json bound = Json::array();
  for (const model::OccupancyLimiter l : o.bound_by) bound.push_back(to_string(l));
  const Resources& r = report.resources;
  return {{"blocks", o.blocks},
          {"warps", o.warps},
          {"ratio", o.ratio},
          {"limits",
           {{"warps", o.limit_warps},
            {"blocks", o.limit_blocks},
            {"registers", o.limit_registers},
            {"shared memory", o.limit_shared}}},
          {"bound_by", std::move(bound)},
          {"registers_per_thread", r.registers},
          {"registers_estimated", r.registers_from == Resources::RegisterSource::estimated},
          {"shared_bytes_per_block", r.static_shared_bytes + r.dynamic_shared_bytes}};
}

/// The fields that are known.
Json statistics_of(model::KernelStatistics statistics) {
  Json object = Json::object();
  for (const model::StatisticField& field : model::statistic_fields())
    if (const std::optional<double>& value = field.get(statistics)) object[std::string(field.name)] = *value;
  return object;
}

Json prediction_of(const model::Prediction& p) {
  Json terms = Json::array();
  for (const model::Term& t : p.terms) terms.push_back({{"name", t.name}, {"value", t.value}, {"unit", t.unit}});
  Json benefits = Json::array();
  for (const model::Benefit& b : p.benefits) benefits.push_back({{"of", b.of}, {"milliseconds", b.milliseconds}});
  return {{"model", p.model}, {"device", p.device},   {"cycles", p.cycles},  {"milliseconds", p.milliseconds},
          {"mwp", p.mwp},     {"cwp", p.cwp},         {"bound", p.bound},    {"mwp_bound", p.mwp_bound},
          {"terms", terms},   {"benefits", benefits}, {"remarks", p.remarks}};
}

std::string_view word(Severity severity) {
  return severity == Severity::error ? "error" : severity == Severity::warning ? "warning" : "note";
}

Json finding_of(const analyzers::Finding& f) {
  return {{"rule", f.rule},
          {"severity", word(f.severity)},
          {"message", f.message},
          {"advice", f.advice},
          {"lines", f.lines},
          {"source", position(f.source_file, f.source_line)},
          {"excess", f.excess},
          {"unit", f.unit},
          {"values", metrics_of(f.values)}};
}

/// A kernel that trapped only reports the reason.
Json finding_of(const Diagnostic& trap) {
  return {{"rule", "Trap"},
          {"severity", word(trap.severity)},
          {"message", trap.message},
          {"advice", trap.hint},
          {"lines", trap.where.line == 0 ? Json::array() : Json::array({trap.where.line})},
          {"source", nullptr},
          {"excess", 0.0},
          {"unit", ""},
          {"values", Json::object()}};
}

/// The counters of each block that are not 0.
Json blocks_of(const analyzers::BlockTable& table, const Extent& grid) {
  Json list = Json::array();
  for (const analyzers::BlockTable::Row& row : table.rows) {
    Json block = {{"block", {row.cta % grid[0], row.cta / grid[0] % grid[1], row.cta / grid[0] / grid[1]}}};
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      if (row.at(i) != 0) block[std::string(table.columns[i].name())] = row.at(i);
    list.push_back(std::move(block));
  }
  return list;
}

Json launch_of(const LaunchReport& report) {
  Json instructions = Json::array(), predictions = Json::array(), findings = Json::array();
  for (const auto& row : report.profile.instructions) instructions.push_back(instruction_of(row));
  for (const auto& p : report.predictions) predictions.push_back(prediction_of(p));
  if (report.trap) findings.push_back(finding_of(*report.trap));
  for (const auto& f : report.findings) findings.push_back(finding_of(f));
  return {{"kernel", report.kernel},
          {"grid", report.grid},
          {"block", report.block},
          {"printed", report.printed},
          {"cluster", report.cluster},
          {"launched_by", report.launched_by.empty() ? Json() : Json(report.launched_by)},
          {"metrics", metrics_of(report.profile.metrics.list())},
          {"instructions", std::move(instructions)},
          {"blocks", blocks_of(report.profile.blocks, report.grid)},
          {"occupancy", occupancy_of(report)},
          {"statistics", statistics_of(report.statistics)},
          {"predictions", std::move(predictions)},
          {"findings", std::move(findings)}};
}

Json launch_of(const PredictedLaunch& predicted) {
  Json predictions = Json::array();
  for (const auto& p : predicted.predictions) predictions.push_back(prediction_of(p));
  Json remarks = predicted.launch.remarks;
  for (const std::string& remark : predicted.remarks) remarks.push_back(remark);
  Json object = {{"kernel", predicted.launch.kernel},
                 {"measured_milliseconds", nullptr},
                 {"statistics", statistics_of(predicted.launch.statistics)},
                 {"predictions", std::move(predictions)},
                 {"patterns", nullptr},
                 {"remarks", std::move(remarks)}};
  if (predicted.launch.milliseconds) object["measured_milliseconds"] = *predicted.launch.milliseconds;
  if (const auto& p = predicted.patterns)
    object["patterns"] = {{"branching", p->branching},
                          {"global_access", p->global_access},
                          {"bank_conflicts", p->bank_conflicts},
                          {"partitioning", p->partitioning},
                          {"barriers", p->barriers}};
  return object;
}

std::string text_of(const Json& report) {
  // PTX may contain bytes that are not valid UTF-8; JSON must not.
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace

std::string json_predictions(const model::Device& device, std::span<const PredictedLaunch> launches) {
  Json list = Json::array();
  for (const PredictedLaunch& launch : launches) list.push_back(launch_of(launch));
  return text_of({{"warplens", version()}, {"device", device_of(device)}, {"launches", std::move(list)}});
}

std::string json_report(const model::Device& device, std::span<const LaunchReport> launches) {
  Json list = Json::array();
  for (const LaunchReport& report : launches) list.push_back(launch_of(report));
  return text_of(
      {{"warplens", version()}, {"schema", kJsonSchema}, {"device", device_of(device)}, {"launches", std::move(list)}});
}

} // namespace warplens::api
