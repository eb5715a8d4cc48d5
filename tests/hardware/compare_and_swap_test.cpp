// SPDX-License-Identifier: Apache-2.0
// Atomics that repeat a compare-and-swap in shared memory, on an H100: tests/data/hardware/compare_and_swap.jsonl, from
// ask/compare_and_swap.cu. The model critical-path has `shared_swap` from there.
#include "model/device.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace warplens::model {
namespace compare_and_swap_test {

using Json = nlohmann::json;

/// Of one block, in shared memory.
std::vector<Json> answers() {
  std::ifstream in(WARPLENS_SOURCE_DIR "/tests/data/hardware/compare_and_swap.jsonl");
  std::vector<Json> list;
  for (std::string line; std::getline(in, line);)
    if (Json one = Json::parse(line); one["space"] == "shared" && one["blocks"] == 1) list.push_back(std::move(one));
  return list;
}

/// From one update of a word to the next.
double cycles_of(const Json& answer) {
  const double updates =
      answer["updates"].get<double>() * answer["lanes"].get<double>() * answer["warps"].get<double>();
  return answer["cycles"].get<double>() / updates;
}

TEST(CompareAndSwap, TheDevicesHaveWhatWasMeasured) {
  int seen = 0;
  for (const Json& answer : answers())
    if (answer["operation"] == "add.f32" && answer["lanes"] == 32 && answer["warps"] == 1) {
      for (const char* device : {"h100", "h200"})
        EXPECT_NEAR(*find_device(device)->critical_path->shared_swap, cycles_of(answer), 0.05) << device;
      ++seen;
    }
  EXPECT_EQ(seen, 1);
}

// One number serves for all: lanes and warps wait for each other alike.
TEST(CompareAndSwap, UpdatesOfAWordFollowEachOther) {
  const std::set<std::string> repeated = {"add.f32", "add.f64", "add.u64", "xor.b64"};
  int seen = 0;
  for (const Json& answer : answers())
    if (repeated.contains(answer["operation"]) && answer["warps"] <= 4) {
      EXPECT_GT(cycles_of(answer), 80) << answer;
      EXPECT_LT(cycles_of(answer), 115) << answer;
      ++seen;
    } else if (answer["operation"] == "add.u32") {
      EXPECT_LT(answer["cycles"].get<double>() / answer["updates"].get<double>(), 32) << answer;
    }
  EXPECT_EQ(seen, 4 * 3 * 6);
}

} // namespace compare_and_swap_test
} // namespace warplens::model
