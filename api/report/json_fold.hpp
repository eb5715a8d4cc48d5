// SPDX-License-Identifier: Apache-2.0
// Launches whose report equals that of an earlier launch, in JSON: programs launch the same kernel many times.
//
//   { "kernel": "relax", "grid": [4, 4, 1], …, "same_as": 3 }      // all else is as launch 3 of the report says
//
//   LaunchFolder folder;
//   for (…) list.push_back(folder.folded(launch));               // on writing
//   Expected<std::vector<std::size_t>> whole = whole_launches(report["launches"]);  // on reading
#pragma once

#include "emulator/base/expected.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <unordered_map>
#include <vector>

namespace warplens::api {

/// Takes the launches of a report in their order.
class LaunchFolder {
public:
  /// The launch itself, or what a launch has of its own if everything but what it printed equals an earlier launch.
  nlohmann::ordered_json folded(nlohmann::ordered_json launch);

private:
  std::unordered_map<std::string, std::size_t> first_; ///< all but what it printed, as text: its index
  std::size_t next_ = 0;
};

/// For each launch of a report, the index of the launch that has its metrics, instructions, predictions, …: its own
/// unless it is folded. Error: a reference to no such launch, or to one that is folded itself.
Expected<std::vector<std::size_t>> whole_launches(const nlohmann::ordered_json& launches);

} // namespace warplens::api
