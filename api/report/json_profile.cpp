// SPDX-License-Identifier: Apache-2.0
// Reads the parts of a JSON report (json_report.cpp) that the models need.
#include "api/predict/collector.hpp"
#include "api/report/json_fold.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace warplens::api {
namespace {

using Json = nlohmann::ordered_json;

std::string text_member(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : "";
}

// Transactions were counted under the rule of the report's device; only devices with the same rule can use them.
Expected<void> check_device(const Json& report, const model::Device& device) {
  const std::string id = text_member(report.value("device", Json::object()), "id");
  if (id == device.id) return {};
  const Expected<model::Device> counted_for = model::find_device(id);
  if (!counted_for)
    return failure(fmt::format("the report is for device '{}', which is not built in, so its counts may not apply to "
                               "'{}'",
                               id, device.id));
  if (!counted_for->coalescing_rule.says_the_same(device.coalescing_rule))
    return failure(fmt::format("the report was counted for '{}' under rule {}, but '{}' has rule {}", id,
                               counted_for->coalescing_rule.name, device.id, device.coalescing_rule.name),
                   fmt::format("create a new report with warplens run … --device {} --json", device.id));
  return {};
}

Expected<CollectedLaunch> launch_of(const Json& json, const model::Device& device, bool same_device) {
  CollectedLaunch launch;
  launch.kernel = text_member(json, "kernel");
  const Json fields = json.is_object() ? json.value("statistics", Json()) : Json();
  if (!fields.is_object() || fields.empty())
    return failure(fmt::format("launch of '{}' has no statistics", launch.kernel),
                   "reports of older versions and of kernels that trapped have no statistics");
  for (const auto& item : fields.items()) {
    const std::string& name = item.key();
    const Json& value = item.value();
    const auto& known = model::statistic_fields();
    const auto field = std::find_if(known.begin(), known.end(), [&](const auto& f) { return f.name == name; });
    if (field == known.end() || !value.is_number())
      return failure(fmt::format("launch of '{}': '{}' is unknown or not a number", launch.kernel, name));
    field->get(launch.statistics) = value.get<double>();
  }
  if (!same_device) {
    launch.statistics.resident_blocks.reset(); // computed anew
    launch.remarks.push_back(
        fmt::format("bank conflicts were counted for the report's device, not for '{}'", device.name));
  }
  return launch;
}

} // namespace

Expected<std::vector<CollectedLaunch>> collect_report(std::string_view text, std::string_view name,
                                                      const model::Device& device) {
  const Json report = Json::parse(text, nullptr, false);
  const auto fail = [&](Diagnostics errors) {
    errors.in_file(name);
    return failure(std::move(errors));
  };
  if (report.is_discarded()) return failure(fmt::format("'{}' is not valid JSON, or is truncated", name));
  if (!report.is_object() || !report.contains("launches") || !report["launches"].is_array() ||
      report["launches"].empty() || !report.value("device", Json()).is_object())
    return failure(fmt::format("'{}' is not a report of warplens run --json, or has no launches", name));
  if (const Expected<void> fits = check_device(report, device); !fits) return fail(fits.error());
  const bool same_device = text_member(report["device"], "id") == device.id;
  const Expected<std::vector<std::size_t>> whole = whole_launches(report["launches"]);
  if (!whole) return fail(whole.error());
  std::vector<CollectedLaunch> launches;
  for (const std::size_t index : *whole) {
    Expected<CollectedLaunch> launch = launch_of(report["launches"][index], device, same_device);
    if (!launch) return fail(launch.error());
    launches.push_back(std::move(*launch));
  }
  return launches;
}

} // namespace warplens::api
