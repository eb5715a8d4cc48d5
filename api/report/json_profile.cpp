// Reads back what json_report.cpp wrote, as far as the models need it.
#include "api/predict/collector.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace warplens::api {
namespace {

using Json = nlohmann::json;

std::string text_of(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : "";
}

// Transactions were counted by the rule of the report's device; only a device of the same rule can use them.
Expected<void> check_device(const Json& report, const model::Device& device) {
  const std::string id = text_of(report.value("device", Json::object()), "id");
  if (id == device.id) return {};
  const Expected<model::Device> counted_for = model::find_device(id);
  if (!counted_for)
    return failure(fmt::format("the report is for device '{}', which is not built in: it cannot be told whether its "
                               "counts are those of '{}'",
                               id, device.id));
  if (!counted_for->coalescing_rule.says_the_same(device.coalescing_rule))
    return failure(fmt::format("the report was counted for '{}', by rule {}; '{}' has rule {}", id,
                               counted_for->coalescing_rule.name, device.id, device.coalescing_rule.name),
                   fmt::format("warplens run … --device {} --json counts anew", device.id));
  return {};
}

Expected<CollectedLaunch> launch_of(const Json& json, const model::Device& device, bool same_device) {
  CollectedLaunch launch;
  launch.kernel = text_of(json, "kernel");
  const Json fields = json.is_object() ? json.value("statistics", Json()) : Json();
  if (!fields.is_object() || fields.empty())
    return failure(fmt::format("launch of '{}' has no statistics", launch.kernel),
                   "a kernel that trapped has none; nor have reports of older versions");
  for (const auto& [name, value] : fields.items()) {
    const auto& known = model::statistic_fields();
    const auto field = std::find_if(known.begin(), known.end(), [&](const auto& f) { return f.name == name; });
    if (field == known.end() || !value.is_number())
      return failure(fmt::format("launch of '{}': '{}' is no number of the statistics", launch.kernel, name));
    field->get(launch.statistics) = value.get<double>();
  }
  if (!same_device) {
    launch.statistics.resident_blocks.reset(); // computed anew
    launch.remarks.push_back(
        fmt::format("bank conflicts are those of the report's device, not counted for '{}'", device.name));
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
  if (report.is_discarded()) return failure(fmt::format("'{}' is not JSON, or cut short", name));
  if (!report.is_object() || !report.contains("launches") || !report["launches"].is_array() ||
      report["launches"].empty() || !report.value("device", Json()).is_object())
    return failure(fmt::format("'{}' is not a report of warplens run --json, or has no launches", name));
  if (const Expected<void> fits = check_device(report, device); !fits) return fail(fits.error());
  const bool same_device = text_of(report["device"], "id") == device.id;
  std::vector<CollectedLaunch> launches;
  for (const Json& json : report["launches"]) {
    Expected<CollectedLaunch> launch = launch_of(json, device, same_device);
    if (!launch) return fail(launch.error());
    launches.push_back(std::move(*launch));
  }
  return launches;
}

} // namespace warplens::api
