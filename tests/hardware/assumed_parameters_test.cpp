// SPDX-License-Identifier: Apache-2.0
// Parameters of critical-path that no publication has are assumed from those of the H100, by the rules of
// docs/critical-path.md. Here are the rules, and what they cost where all parameters were measured.
#include "model/device.hpp"
#include "model/device_fields.hpp"
#include "model/models.hpp"
#include "tests/hardware/public_programs.hpp"
#include "tests/tools/folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

namespace warplens::tests {
namespace assumed_parameters_test {

using model::Device;

std::map<std::string, double> parameters(const Device& device) {
  std::map<std::string, double> result;
  model::CriticalPathParameters copy = *device.critical_path;
  model::visit_fields(copy, [&](std::string_view key, const auto& value) {
    if (const std::optional<double> known = value; known) result[std::string(key)] = *known;
  });
  return result;
}

bool assumed(const Device& device, const std::string& key) {
  return device.sources.at("critical_path." + key).rfind("assumed: ", 0) == 0;
}

/// What the rules assume of `device` for this key, from another GPU.
double by_rule(const std::string& key, const Device& device, const Device& other) {
  std::map<std::string, double> own = parameters(device), measured = parameters(other);
  const auto share_of = [&](const std::string& rate) { return own[rate] * measured[key] / measured[rate]; };
  if (key == "overhead" || key == "first_access") return share_of("clock_ghz"); // the same time
  if (key == "latency_double_division" || key == "latency_double_root" || key == "latency_double_reciprocal")
    return share_of("latency_double_precision");
  if (key == "latency_division" || key == "latency_integer_division" || key == "latency_wide_division" ||
      key == "latency_wide_multiplication" || key == "latency_reciprocal" || key == "latency_root")
    return measured[key] * own["latency_arithmetic"] / std::round(measured["latency_arithmetic"]); // a whole number
  if (key == "latency_atomic") return own["latency_l2"] + measured[key] - measured["latency_l2"];
  if (key == "l2_read_scattered" || key == "l2_write" || key == "l2_write_scattered") return share_of("l2_read");
  if (key == "memory_scattered") return share_of("memory_read");
  if (key == "kept_bytes") return measured[key] * device.l2->bytes / other.l2->bytes;
  return measured[key];
}

Device with_assumed(Device device, const std::set<std::string>& keys, const Device& other) {
  const Device given = device;
  model::visit_fields(*device.critical_path, [&](std::string_view key, auto& value) {
    if (keys.count(std::string(key)) != 0) value = by_rule(std::string(key), given, other);
  });
  return device;
}

std::set<std::string> assumed_keys(const Device& device) {
  std::set<std::string> keys;
  for (const auto& [key, value] : parameters(device))
    if (assumed(device, key)) keys.insert(key);
  return keys;
}

TEST(AssumedParameters, FollowTheRules) {
  const Device h100 = *model::find_device("h100");
  std::string row = "| parameters, published / assumed |";
  for (const std::string id : {"a100", "v100", "t4", "p100", "gtx980"}) {
    const Device device = *model::find_device(id);
    const std::set<std::string> keys = assumed_keys(device);
    row += fmt::format(" {} / {} |", parameters(device).size() - keys.size(), keys.size());
    for (const std::string& key : keys) {
      if (id == "v100" && key == "latency_predicate") continue; // as on Turing
      const double expected = by_rule(key, device, h100);
      EXPECT_NEAR(parameters(device)[key], expected, 0.007 * expected) << id << ", " << key;
    }
  }
  EXPECT_NE(testing::read_text(WARPLENS_SOURCE_DIR "/docs/critical-path.md").find(row + "\n"), std::string::npos)
      << row;
}

// On a GPU whose parameters were all measured, if those that are assumed of the A100 were assumed there, too.
TEST(AssumedParameters, WhatTheyCostBetweenTheH100AndTheH200) {
  const Device h100 = *model::find_device("h100"), h200 = *model::find_device("h200");
  const std::set<std::string> keys = assumed_keys(*model::find_device("a100"));
  const auto expect = [](const Errors& e, double mean, double median, double spearman) {
    EXPECT_NEAR(e.mean, mean, 0.06);
    EXPECT_NEAR(e.median, median, 0.06);
    EXPECT_NEAR(e.spearman, spearman, 0.0006);
  };
  expect(errors(model::kCriticalPath, public_programs(), kH200, with_assumed(h200, keys, h100)), 17.68, 15.17, 0.9865);
  expect(errors(model::kCriticalPath, public_programs(), kH100, with_assumed(h100, keys, h200)), 16.32, 14.68, 0.9782);
  // The model that would be trusted without these parameters.
  expect(errors(model::kVolkov, public_programs(), kH200), 77.0, 78.1, 0.742);
}

} // namespace assumed_parameters_test
} // namespace warplens::tests
