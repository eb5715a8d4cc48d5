// SPDX-License-Identifier: Apache-2.0
// Writes JSON reports. Only the files json_*, sarif.cpp and sweep_json.cpp of api/ include nlohmann-json.
#include "api/report/json_report.hpp"

#include "analyzers/finding_kinds.hpp"
#include "api/predict/predict.hpp"
#include "api/report/device_costs.hpp"
#include "api/report/json_fold.hpp"
#include "api/report/json_layout.hpp"
#include "api/report/json_page.hpp"
#include "api/report/launch_groups.hpp"
#include "api/report/source_texts.hpp"
#include "api/session/kernel_name.hpp"
#include "model/trust.hpp"

#include <array>

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
          {"bank_rule", d.bank_rule.name},
          {"global_unit", analyzers::cost_unit(d.coalescing_rule)}};
}

std::array<std::uint64_t, 3> position_of(std::uint64_t cta, const Extent& grid) {
  return {cta % grid[0], cta / grid[0] % grid[1], cta / grid[0] / grid[1]};
}

Json access_of(const analyzers::RecordedAccess& a, const LaunchReport& report) {
  using Role = analyzers::RecordedAccess::Role;
  Json addresses = Json::array();
  for (std::size_t lane = 0; lane < a.addresses.size(); ++lane)
    addresses.push_back((a.mask >> lane & 1) != 0 ? Json(a.addresses[lane]) : Json());
  const bool shared = a.space == isa::Space::shared;
  return {{"block", position_of(a.cta, report.grid)},
          {"warp", a.warp},
          {"visit", a.visit},
          {"space", shared ? "shared" : "global"},
          {"kind", analyzers::kOperationNames[static_cast<std::size_t>(a.kind)]},
          {"lane_bytes", a.lane_bytes},
          {"addresses", std::move(addresses)},
          {"cost", a.cost},
          {"unit", shared ? "passes" : analyzers::cost_unit(report.device.coalescing_rule)},
          {"role", a.role == Role::worst     ? Json("worst")
                   : a.role == Role::typical ? Json("typical")
                                             : Json()}};
}

Json instruction_of(const analyzers::InstructionRow& row, const LaunchReport& report) {
  Json object = {{"line", row.line}, {"ptx", row.ptx}, {"source", position(row.source_file, row.source_line)}};
  if (!row.pattern.empty()) {
    object["pattern"] = row.pattern;
    object["lane_bytes"] = row.lane_bytes;
  }
  if (!row.inlined.empty()) {
    Json chain = Json::array();
    for (const analyzers::SourceFrame& frame : row.inlined) chain.push_back(position(frame.file, frame.line));
    object["inlined"] = std::move(chain);
  }
  if (!row.recorded.empty()) {
    Json accesses = Json::array();
    for (const analyzers::RecordedAccess& a : row.recorded) accesses.push_back(access_of(a, report));
    object["accesses"] = std::move(accesses);
  }
  for (const analyzers::Metric& m : row.metrics.list()) add(object, m);
  for (const CountOfDevice& count : counts_of_device(row.metrics, row.counts, report.device))
    object[std::string(count.what->name)] = count.value;
  return object;
}

Json device_costs_of(const LaunchReport& report) {
  Json object = Json::object();
  for (const CountOfDevice& count : counts_of_device(report.profile.metrics, report.profile.counts, report.device))
    object[std::string(count.what->name)] = count.value;
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

/// Null for predictions that are not marked, and where no evaluation gives an error.
Json expected_error_of(const model::Prediction& prediction) {
  const std::optional<model::ExpectedError> expected = model::expected_error(prediction);
  if (!expected) return nullptr;
  Json error = {{"median_percent", nullptr}, {"mean_percent", nullptr}, {"evaluation", expected->evaluation}};
  if (expected->median_percent) error["median_percent"] = *expected->median_percent;
  if (expected->mean_percent) error["mean_percent"] = *expected->mean_percent;
  error["page"] = prediction.trust->page;
  return error;
}

Json prediction_of(const model::Prediction& p) {
  Json terms = Json::array();
  for (const model::Term& t : p.terms) terms.push_back({{"name", t.name}, {"value", t.value}, {"unit", t.unit}});
  Json benefits = Json::array();
  for (const model::Benefit& b : p.benefits) benefits.push_back({{"of", b.of}, {"milliseconds", b.milliseconds}});
  return {{"model", p.model},
          {"device", p.device},
          {"cycles", p.cycles},
          {"milliseconds", p.milliseconds},
          {"mwp", p.mwp},
          {"cwp", p.cwp},
          {"bound", p.bound},
          {"mwp_bound", p.mwp_bound},
          {"terms", terms},
          {"benefits", benefits},
          {"remarks", p.remarks},
          {"trusted", p.trust != nullptr},
          {"expected_error", expected_error_of(p)}};
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
          {"values", metrics_of(f.values)},
          {"remedy", f.remedy},
          {"speedup", f.speedup ? Json(*f.speedup) : Json()},
          {"page", f.page}};
}

/// A kernel that trapped only reports the reason.
Json finding_of(const Diagnostic& trap) {
  return {{"rule", analyzers::kTrapFinding},
          {"severity", word(trap.severity)},
          {"message", trap.message},
          {"advice", trap.hint},
          {"lines", trap.where.line == 0 ? Json::array() : Json::array({trap.where.line})},
          {"source", nullptr},
          {"excess", 0.0},
          {"unit", ""},
          {"values", Json::object()},
          {"remedy", trap.hint},
          {"speedup", nullptr},
          {"page", ""}};
}

/// The counters of each block that are not 0.
Json blocks_of(const analyzers::BlockTable& table, const Extent& grid) {
  Json list = Json::array();
  for (const analyzers::BlockTable::Row& row : table.rows) {
    Json block = {{"block", position_of(row.cta, grid)}};
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      if (row.at(i) != 0) block[std::string(table.columns[i].name())] = row.at(i);
    list.push_back(std::move(block));
  }
  return list;
}

Json sample_of(const analyzers::SampleReport& sample) {
  Json errors = Json::object();
  for (const analyzers::MetricError& error : sample.errors) errors[std::string(error.key.name())] = error.relative;
  return {{"blocks", sample.blocks},
          {"watched_blocks", sample.watched},
          {"classes", sample.classes},
          {"watched_classes", sample.seen_classes},
          {"blocks_of_other_classes", sample.unseen_blocks},
          {"missing_accesses", sample.uncovered},
          {"main_standard_error", sample.largest},
          {"standard_errors", std::move(errors)}};
}

Json launch_of(const LaunchReport& report) {
  Json instructions = Json::array(), predictions = Json::array(), findings = Json::array();
  for (const auto& row : report.profile.instructions) instructions.push_back(instruction_of(row, report));
  for (const auto& p : report.predictions) predictions.push_back(prediction_of(p));
  if (report.trap) findings.push_back(finding_of(*report.trap));
  for (const auto& f : report.findings) findings.push_back(finding_of(f));
  const model::Prediction* const changes = model::trusted_for_changes(report.predictions);
  Json object = {{"kernel", report.kernel},
                 {"grid", report.grid},
                 {"block", report.block},
                 {"printed", report.printed},
                 {"cluster", report.cluster},
                 {"launched_by", report.launched_by.empty() ? Json() : Json(report.launched_by)},
                 {"metrics", metrics_of(report.profile.metrics.list())},
                 {"device_costs", device_costs_of(report)},
                 {"instructions", std::move(instructions)},
                 {"blocks", blocks_of(report.profile.blocks, report.grid)},
                 {"occupancy", occupancy_of(report)},
                 {"statistics", statistics_of(report.statistics)},
                 {"predictions", std::move(predictions)},
                 {"speedup_model", changes == nullptr ? Json() : Json(changes->model)},
                 {"findings", std::move(findings)}};
  if (report.profile.sample) object["sampling"] = sample_of(*report.profile.sample);
  if (!report.order_of_results.empty()) object["order_of_results"] = report.order_of_results;
  return object;
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
                          {"bank_conflicts", p->bank_conflicts ? Json(*p->bank_conflicts) : Json()},
                          {"partitioning", p->partitioning},
                          {"barriers", p->barriers}};
  return object;
}

/// The table of kernels that begins a text report.
Json summary_of(std::span<const LaunchReport> launches) {
  Json list = Json::array();
  for (const KernelGroup& g : kernel_groups(launches))
    list.push_back({{"kernel", g.kernel},
                    {"name", source_name(g.kernel)},
                    {"launches", g.launches},
                    {"milliseconds", g.milliseconds},
                    {"share", g.share},
                    {"bound", g.limiter.empty() ? Json() : Json(g.limiter)},
                    {"finding", g.finding == nullptr ? Json() : Json(g.finding->rule)},
                    {"identical", g.sets}});
  return list;
}

} // namespace

std::string json_predictions(const model::Device& device, std::span<const PredictedLaunch> launches) {
  Json list = Json::array();
  for (const PredictedLaunch& launch : launches) list.push_back(launch_of(launch));
  return laid_out({{"warplens", version()}, {"device", device_of(device)}, {"launches", std::move(list)}});
}

namespace {

/// Without what takes no time.
Json json_of(const Timeline& timeline) {
  Json list = Json::array();
  for (const TimelineEntry& entry : timeline.entries) {
    if (entry.kind == ProgramOperation::Kind::other && entry.launches.empty()) continue;
    Json one = {{"kind", to_string(entry.kind)},
                {"stream", entry.stream},
                {"start", entry.start},
                {"milliseconds", entry.known ? Json(entry.end - entry.start) : Json()},
                {"launches", entry.launches}};
    if (entry.bytes != 0) one["bytes"] = entry.bytes;
    list.push_back(std::move(one));
  }
  return {{"milliseconds", timeline.milliseconds}, {"sum", timeline.sum}, {"operations", std::move(list)}};
}

Json document_of(Json device, Json launches) {
  return {{"warplens", version()},
          {"schema", kJsonSchema},
          {"device", std::move(device)},
          {"launches", std::move(launches)}};
}

} // namespace

std::string json_report(const model::Device& device, std::span<const LaunchReport> launches,
                        std::span<const ProgramOperation> operations, JsonLaunches form) {
  Json list = Json::array();
  LaunchFolder folder;
  for (const LaunchReport& report : launches)
    list.push_back(form == JsonLaunches::folded ? folder.folded(launch_of(report)) : launch_of(report));
  Json document = document_of(device_of(device), std::move(list));
  document["summary"] = summary_of(launches);
  if (!operations.empty()) document["timeline"] = json_of(timeline_of(device, launches, operations));
  return laid_out(document);
}

std::string json_for_page(const model::Device& device, std::span<const LaunchReport> launches,
                          std::span<const ProgramOperation> operations) {
  Json list = Json::array();
  for (const LaunchReport& report : launches) {
    Json launch = launch_of(report);
    launch.update(launch_for_page(report));
    for (std::size_t i = 0; i < report.profile.instructions.size(); ++i) {
      const std::vector<analyzers::RecordedAccess>& recorded = report.profile.instructions[i].recorded;
      for (std::size_t k = 0; k < recorded.size(); ++k)
        launch["instructions"][i]["accesses"][k]["served"] = served_for_page(recorded[k], report);
    }
    list.push_back(std::move(launch));
  }
  share_repeated(list);
  Json described = device_of(device);
  described.update(device_for_page(device));
  Json document = document_of(std::move(described), std::move(list));
  document["summary"] = summary_of(launches);
  document["timeline"] =
      json_of(operations.empty() ? timeline_of(device, launches) : timeline_of(device, launches, operations));
  document["metrics"] = metrics_for_page(launches);
  document["worthwhile"] = analyzers::kWorthwhile;
  document["sources"] = source_texts(launches);
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace warplens::api
