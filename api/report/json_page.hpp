// SPDX-License-Identifier: Apache-2.0
// What the HTML page shows besides the JSON report. Members are named in docs/html.md.
//
//   launch_for_page(report)["control_flow"][0]["successors"]
#pragma once

#include "api/launch/launch.hpp"

#include <nlohmann/json.hpp>

#include <span>

namespace warplens::api {

/// "multiprocessors": 30, …, "limits": of a multiprocessor, "hong_kim": { … }, as in device files.
nlohmann::ordered_json device_for_page(const model::Device& device);
/// "name" in the CUDA source, "module", "stream", "remarks", "savings_known", "control_flow", "occupancy_curves".
nlohmann::ordered_json launch_for_page(const LaunchReport& report);
/// How each rule that was counted serves a recorded access, the device's first. Of global memory:
/// { "rule", "transactions": [[address, bytes, mask of lanes], …] }; of shared memory: { "rule", "banks", "bank_bytes",
/// "passes", "fewest", "ways", "bank": [by lane; null: inactive] }.
nlohmann::ordered_json served_for_page(const analyzers::RecordedAccess& access, const LaunchReport& report);
/// Replaces large members that an earlier launch has, too, by { "same_as": its index }: programs launch the same kernel
/// many times.
void share_repeated(nlohmann::ordered_json& launches);
/// Unit and definition of each metric that the launches have, by name.
nlohmann::ordered_json metrics_for_page(std::span<const LaunchReport> launches);

} // namespace warplens::api
