// SPDX-License-Identifier: Apache-2.0
// critical-path on a V100, compared with the bandwidths that NVIDIA's Best Practices Guide prints for one
// (tests/data/hardware/best_practices.jsonl): no parameter is from that guide.
#include "model/device.hpp"
#include "model/models.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <string>
#include <vector>

namespace warplens::tests {
namespace best_practices_test {

struct Published {
  std::string product, version;
  double gb_s = 0, words = 0; ///< words: of the result
  model::KernelStatistics counted;
};

std::vector<Published> published(const std::string& product) {
  std::ifstream in(WARPLENS_SOURCE_DIR "/tests/data/hardware/best_practices.jsonl");
  std::vector<Published> list;
  for (std::string line; std::getline(in, line);) {
    const nlohmann::json one = nlohmann::json::parse(line);
    if (one["product"] != product) continue;
    Published& p = list.emplace_back(Published{product, one["version"], one["gb_s"], 1, {}});
    for (int i = 0; i < 3; ++i) p.words *= one["grid"][i].get<double>() * one["block"][i].get<double>();
    for (const model::StatisticField& field : model::statistic_fields())
      if (const auto value = one["statistics"].find(field.name); value != one["statistics"].end())
        field.get(p.counted) = value->get<double>();
  }
  return list;
}

double milliseconds(std::string_view model, const Published& p) {
  return model::predict(model, p.counted, *model::find_device("v100"))->milliseconds;
}

// docs/critical-path.md states these numbers.
TEST(BestPractices, SpeedupsOnTheV100) {
  struct Row {
    const char *product, *version;
    double measured, predicted, volkov;
  };
  for (const Row& row : {Row{"C = AB", "a tile of A in shared memory", 1.20, 1.22, 0.69},
                         Row{"C = AB", "tiles of A and B in shared memory", 1.63, 1.19, 0.68},
                         Row{"C = AAT", "coalesced reads", 10.95, 11.84, 0.44},
                         Row{"C = AAT", "no bank conflicts", 15.58, 17.85, 0.44}}) {
    const std::vector<Published> versions = published(row.product);
    ASSERT_EQ(versions.size(), 3u);
    for (const Published& version : versions) {
      if (version.version != row.version) continue;
      EXPECT_NEAR(version.gb_s / versions[0].gb_s, row.measured, 0.01) << row.version;
      const auto speedup = [&](std::string_view model) {
        return milliseconds(model, versions[0]) / milliseconds(model, version);
      };
      EXPECT_NEAR(speedup(model::kCriticalPath), row.predicted, 0.01) << row.version;
      EXPECT_NEAR(speedup(model::kVolkov), row.volkov, 0.01) << row.version;
    }
  }
}

TEST(BestPractices, TheBandwidthOfACopyOnTheV100) {
  const std::vector<Published> copies = published("copy");
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].gb_s, 790);
  EXPECT_NEAR(2 * 4 * copies[0].words / milliseconds(model::kCriticalPath, copies[0]) * 1e-6, 752, 1);
}

} // namespace best_practices_test
} // namespace warplens::tests
