// SPDX-License-Identifier: Apache-2.0
// Every model returns finite numbers or an error for any profile: random profiles, half of them unrealistic, for every
// model on every device.
#include "model/models.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace warplens::model {
namespace random_statistics_test {

class RandomStatistics {
public:
  KernelStatistics next() {
    KernelStatistics s;
    for (const StatisticField& field : statistic_fields())
      if (chance(0.8)) field.get(s) = number();
    // Mostly valid launches, so that not all fail the first check.
    if (chance(0.9)) {
      s.threads_per_block = std::floor(1 + uniform(512));
      s.blocks = std::floor(1 + std::pow(10, uniform(7)));
      s.resident_blocks = 1;
      s.instructions = std::pow(10, uniform(9));
      const double requests = chance(0.2) ? 0 : *s.instructions * uniform(1);
      s.global_requests = s.coalesced_requests = requests;
      s.uncoalesced_requests = 0;
      s.bytes_per_request = 1 + uniform(512);
      s.transactions_32 = s.transactions_64 = s.transactions_128 = requests * (chance(0.1) ? 1e-9 : uniform(32));
      if (requests > 0 && transactions(s) == 0) s.transactions_32 = requests;
      s.load_transactions = transactions(s) * uniform(0.5);
      s.store_transactions = transactions(s) * uniform(0.5);
      s.l1_wavefronts = requests * uniform(32);
      s.adjusting_weight = std::pow(10, uniform(12) - 6);
      for (const StatisticField& field : statistic_fields())
        if (models_requiring(field.name).empty() && field.unit == "per warp" && field.get(s))
          field.get(s) = chance(0.5) ? 0 : *s.instructions * uniform(0.09);
      for (auto* ratio : {&s.l1_hit_ratio, &s.l2_hit_ratio, &s.first_wave_from_memory})
        if (*ratio) *ratio = chance(0.3) ? 1 : uniform(1);
      for (auto* whole : {&s.vector_transactions_32, &s.vector_transactions_64, &s.vector_transactions_128})
        whole->reset();
      for (auto* factor : {&s.duplicate_loads, &s.ideal_duplicate_loads, &s.independent_loads,
                           &s.instruction_parallelism, &s.uncoalesced_transactions})
        if (*factor) *factor = std::pow(10, uniform(4));
      if (s.lanes_per_instruction) s.lanes_per_instruction = 1 + uniform(31);
    }
    return s;
  }

private:
  double uniform(double most) { return std::uniform_real_distribution<double>(0, most)(engine_); }
  bool chance(double p) { return uniform(1) < p; }
  double number() {
    static constexpr double odd[] = {0, -1, 1, 1e-300, 1e300, 1e15, 0.5, 32};
    if (chance(0.1)) return odd[static_cast<std::size_t>(uniform(std::size(odd) - 0.001))];
    if (chance(0.02)) return std::nan("");
    return std::pow(10, uniform(20) - 4);
  }
  std::mt19937_64 engine_{20100330}; // NOLINT: the same numbers each time
};

TEST(RandomStatistics, AreFiniteOrErrors) {
  RandomStatistics random;
  int predicted = 0, refused = 0;
  for (int i = 0; i < 300; ++i) {
    const KernelStatistics s = random.next();
    for (const Device& device : built_in_devices())
      for (const Model& model : models()) {
        if (!model.knows(device)) continue;
        const auto p = predict(model.id, s, device);
        ++(p ? predicted : refused);
        if (!p) {
          EXPECT_FALSE(p.error().list().front().message.empty());
          EXPECT_EQ(p.error().list().front().message.find("is negative or not finite"), std::string::npos)
              << model.id << " on " << device.id << ": " << p.error().list().front().message;
          continue;
        }
        EXPECT_TRUE(std::isfinite(p->milliseconds) && p->milliseconds > 0) << model.id << " on " << device.id;
        EXPECT_TRUE(std::isfinite(p->mwp) && std::isfinite(p->cwp));
        EXPECT_FALSE(p->bound.empty());
        for (const Term& term : p->terms) EXPECT_TRUE(std::isfinite(term.value)) << model.id << " " << term.name;
        for (const Benefit& benefit : p->benefits) EXPECT_TRUE(std::isfinite(benefit.milliseconds)) << model.id;
      }
  }
  EXPECT_GT(predicted, 6000);
  EXPECT_GT(refused, 300);
}

} // namespace random_statistics_test
} // namespace warplens::model
