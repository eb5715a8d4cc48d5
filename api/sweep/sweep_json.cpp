// SPDX-License-Identifier: Apache-2.0
// Writes and reads rows of a sweep as JSON: lines of its table, and its result.
#include "api/sweep/sweep_json.hpp"

#include "api/sweep/json_number.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace warplens::api {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Settings& settings) {
  Json object = Json::object();
  for (const auto& [key, value] : settings) object[key] = value;
  return object;
}

Json json_of(const SweepRow& row) {
  Json metrics = Json::object();
  for (const analyzers::NamedValue& m : row.metrics) std::visit([&](auto value) { metrics[m.name] = value; }, m.value);
  Json statistics = Json::object();
  model::KernelStatistics s = row.statistics;
  for (const model::StatisticField& field : model::statistic_fields())
    if (const std::optional<double>& value = field.get(s)) statistics[std::string(field.name)] = *value;
  Json failure = nullptr;
  if (!row.failure.empty()) failure = row.failure;
  Json kernels = Json::array();
  for (const SweepKernel& k : row.kernels)
    kernels.push_back(
        {{"kernel", k.name}, {"launches", k.launches}, {"milliseconds", k.milliseconds}, {"bound", k.bound}});
  return {{"settings", json_of(row.settings)},
          {"failure", std::move(failure)},
          {"kernel", row.kernel},
          {"device", row.device},
          {"device_id", row.device_id},
          {"grid", row.grid},
          {"block", row.block},
          {"model", row.model},
          {"bound", row.bound},
          {"mwp_bound", row.mwp_bound},
          {"occupancy_bound", row.occupancy_bound},
          {"metrics", std::move(metrics)},
          {"statistics", std::move(statistics)},
          {"kernels", std::move(kernels)}};
}

Json document_of(std::span<const SweepRow> rows, const Settings& recommended) {
  Json list = Json::array();
  for (const SweepRow& row : rows) list.push_back(json_of(row));
  return {{"warplens", version()}, {"sweep", std::move(list)}, {"recommended", json_of(recommended)}};
}

// PTX may contain bytes that are not UTF-8; JSON may not.
std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

Extent extent_of(const Json& json) {
  return {whole_number(json.at(0)), whole_number(json.at(1)), whole_number(json.at(2))};
}

// Throws nlohmann's exceptions if something is missing or has another type.
SweepRow row_of(const Json& json) {
  SweepRow row{};
  for (const auto& [key, value] : json.at("settings").items()) row.settings.emplace_back(key, value.get<std::string>());
  if (const Json& failure = json.at("failure"); !failure.is_null()) row.failure = failure.get<std::string>();
  row.kernel = json.at("kernel").get<std::string>();
  row.device = json.at("device").get<std::string>();
  row.device_id = json.at("device_id").get<std::string>();
  row.grid = extent_of(json.at("grid"));
  row.block = extent_of(json.at("block"));
  row.model = json.at("model").get<std::string>();
  row.bound = json.at("bound").get<std::string>();
  row.mwp_bound = json.at("mwp_bound").get<std::string>();
  row.occupancy_bound = json.at("occupancy_bound").get<std::string>();
  for (const auto& [name, value] : json.at("metrics").items()) {
    if (value.is_number_unsigned())
      row.metrics.push_back({name, value.get<std::uint64_t>()});
    else
      row.metrics.push_back({name, value.get<double>()});
  }
  for (const model::StatisticField& field : model::statistic_fields())
    if (const auto value = json.at("statistics").find(field.name); value != json.at("statistics").end())
      field.get(row.statistics) = value->get<double>();
  if (const auto kernels = json.find("kernels"); kernels != json.end())
    for (const Json& k : *kernels)
      row.kernels.push_back({k.at("kernel").get<std::string>(), whole_number(k.at("launches")),
                             k.at("milliseconds").get<double>(), k.at("bound").get<std::string>()});
  return row;
}

} // namespace

std::string sweep_line(const SweepRow& row) { return dump(json_of(row), -1); }

Expected<SweepRow> parse_sweep_line(std::string_view line) {
  try {
    return row_of(Json::parse(line));
  } catch (const Json::exception& e) {
    return failure(fmt::format("not a sweep row: {}", e.what()));
  }
}

std::string json_sweep(std::span<const SweepRow> rows, const Settings& recommended) {
  return dump(document_of(rows, recommended), 2);
}

std::string json_sweep_page(std::span<const SweepRow> rows, const Settings& recommended,
                            std::span<const SweepNote> notes) {
  Json document = document_of(rows, recommended);
  document["notes"] = Json::array();
  for (const SweepNote& note : notes) document["notes"].push_back({{"text", note.text}, {"caution", note.caution}});
  return dump(document, 2);
}

} // namespace warplens::api
