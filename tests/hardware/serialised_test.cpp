// SPDX-License-Identifier: Apache-2.0
// Constants at different addresses, and atomics of shared memory, on an H200: tests/data/hardware/serialised.jsonl,
// from ask/serialised.cu. The devices have `constant_passes` from there.
#include "model/device.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <string>
#include <vector>

namespace warplens::model {
namespace serialised_test {

using Json = nlohmann::json;

std::vector<Json> answers(std::string_view operation) {
  std::ifstream in(WARPLENS_SOURCE_DIR "/tests/data/hardware/serialised.jsonl");
  std::vector<Json> list;
  for (std::string line; std::getline(in, line);)
    if (Json one = Json::parse(line); one.value("operation", "") == operation) list.push_back(std::move(one));
  return list;
}

double each(const Json& answer) { return answer["cycles"].get<double>() / answer["repeats"].get<double>(); }

TEST(Serialised, AFullMultiprocessorServesAnAddressEveryTwoCycles) {
  int seen = 0;
  for (const Json& answer : answers("constant")) {
    const double passes = answer["warps"].get<double>() * answer["distinct"].get<double>();
    if (answer["warps"] < 8 || passes < 128) continue; // the latency of a warp is longer
    for (const char* device : {"h100", "h200", "gh200"})
      EXPECT_NEAR(each(answer), passes / *find_device(device)->throughput.constant_passes, 0.15 * each(answer))
          << answer;
    ++seen;
  }
  EXPECT_EQ(seen, 18);
}

TEST(Serialised, AWarpWaitsElevenCyclesForEachAddress) {
  for (const Json& answer : answers("constant")) {
    if (answer["warps"] != 1) continue;
    EXPECT_NEAR(each(answer), 34.4 + 11 * (answer["distinct"].get<double>() - 1), 4) << answer;
  }
}

// As the counters have it: a pass for each lane of the word that most lanes update.
TEST(Serialised, UnitsOfSharedMemoryUpdateAWordForALaneInACycle) {
  int seen = 0;
  for (const char* operation : {"add.u32", "add.u32 used", "max.s32", "xor.b32", "exch.b32"})
    for (const Json& answer : answers(operation)) {
      if (answer["warps"] != 32) continue;
      const double passes = 32 * 32 / answer["distinct"].get<double>();
      EXPECT_NEAR(each(answer), passes, std::max(4.0, 0.05 * passes)) << answer;
      ++seen;
    }
  EXPECT_EQ(seen, 5 * 6);
}

} // namespace serialised_test
} // namespace warplens::model
