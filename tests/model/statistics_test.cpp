// SPDX-License-Identifier: Apache-2.0
#include "model/models.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace warplens::model {
namespace statistics_test {

KernelStatistics complete() {
  KernelStatistics s;
  s.threads_per_block = 64;
  s.blocks = 100;
  s.resident_blocks = 4;
  s.instructions = 1000;
  s.global_requests = 20;
  s.coalesced_requests = 15;
  s.uncoalesced_requests = 5;
  s.bytes_per_request = 128;
  s.transactions_32 = 10;
  s.transactions_64 = 20;
  s.transactions_128 = 30;
  s.load_transactions = 40;
  s.store_transactions = 20;
  s.l1_wavefronts = 60;
  s.path_l2 = 3000;
  s.path_memory = 5000;
  s.adjusting_weight = 3;
  return s;
}

// A device with the parameters of every model.
Device able() {
  Device device = *find_device("c1060");
  device.sim = SimParameters{8, 2, 37, 64};
  device.throughput_latency = find_device("h200")->throughput_latency;
  device.critical_path = find_device("h200")->critical_path;
  device.latency.arithmetic = 24;
  device.latency.memory = 450;
  return device;
}

std::string first_error(const Expected<Prediction>& p) { return p ? "no error" : p.error().list().front().message; }

TEST(Statistics, EveryFieldIsListedOnce) {
  std::set<std::string_view> names;
  std::set<const void*> places;
  KernelStatistics s;
  for (const StatisticField& field : statistic_fields()) {
    names.insert(field.name);
    places.insert(&field.get(s));
  }
  EXPECT_EQ(names.size(), statistic_fields().size());
  EXPECT_EQ(places.size(), statistic_fields().size());
  EXPECT_EQ(places.size() * sizeof(KernelStatistics::Field), sizeof(KernelStatistics)); // none is missing
}

TEST(Statistics, ClassFieldsCarryTheNameOfTheirClass) {
  KernelStatistics s;
  for (const StatisticField& field : statistic_fields())
    for (std::size_t i = 0; i < kIssueClasses; ++i)
      if (&field.get(s) == &s.by_class[i]) {
        EXPECT_EQ(field.name, to_string(static_cast<IssueClass>(i)));
      }
}

TEST(Statistics, CompleteOnesSatisfyEveryModel) {
  const Device device = able();
  for (const Model& model : models()) EXPECT_EQ(first_error(predict(model.id, complete(), device)), "no error");
}

TEST(Statistics, EachNeededFieldIsMissed) {
  const Device device = able();
  int needed = 0;
  for (const Model& model : models()) {
    for (const StatisticField& field : statistic_fields()) {
      KernelStatistics s = complete();
      field.get(s).reset();
      const bool needs = model.requires_field(field.name);
      EXPECT_EQ(!predict(model.id, s, device), needs) << model.id << " " << field.name;
      needed += needs;
    }
  }
  EXPECT_GE(needed, 7 + 8 + 8 + 5 + 6 + 7 + 8 + 6 + 11 + 13);
}

TEST(Statistics, TheHintNamesTheModelsThatDoWithout) {
  KernelStatistics s = complete();
  s.uncoalesced_requests.reset();
  const auto p = predict(kHongKim, s, *find_device("c1060"));
  ASSERT_FALSE(p);
  EXPECT_EQ(p.error().list().front().message,
            "missing 'uncoalesced_requests' (uncoalesced requests, per warp), which model hong-kim needs");
  EXPECT_TRUE(p.error().list().front().hint.starts_with(
      "models that do not need it: dasgupta, sim, amaris, karan-kumar, bounds, volkov, roofline, "
      "throughput-latency, critical-path"))
      << p.error().list().front().hint;
  s = complete();
  s.blocks.reset();
  EXPECT_EQ(predict(kHongKim, s, *find_device("c1060")).error().list().front().hint, "every model needs it");
}

TEST(Statistics, NumbersThatCannotBeAreErrors) {
  const Device device = able();
  for (const Model& model : models())
    for (const StatisticField& field : statistic_fields())
      for (const double bad : {-1.0, std::nan(""), HUGE_VAL, -HUGE_VAL, 1e300}) {
        KernelStatistics s = complete();
        field.get(s) = bad;
        EXPECT_FALSE(predict(model.id, s, device)) << model.id << " " << field.name << " " << bad;
      }
}

// Whatever is accepted gives finite numbers: every field at its extremes.
TEST(Statistics, AcceptedNumbersGiveFinitePredictions) {
  const Device device = able();
  int accepted = 0;
  for (const Model& model : models())
    for (const StatisticField& field : statistic_fields())
      for (const double value : {0.0, 1e-12, 0.5, 1.0, 7.0, 1e6, 1e15}) {
        KernelStatistics s = complete();
        field.get(s) = value;
        const auto p = predict(model.id, s, device);
        if (!p) continue;
        ++accepted;
        EXPECT_TRUE(std::isfinite(p->cycles) && p->cycles > 0) << model.id << " " << field.name << " " << value;
        EXPECT_TRUE(std::isfinite(p->milliseconds) && p->milliseconds > 0);
        for (const Term& term : p->terms) EXPECT_TRUE(std::isfinite(term.value)) << term.name;
      }
  EXPECT_GT(accepted, 100);
}

TEST(Statistics, PartsAreNotLargerThanTheirWhole) {
  const Device device = able();
  KernelStatistics s = complete();
  s.vector_transactions_64 = 21;
  EXPECT_EQ(first_error(predict(kDasgupta, s, device)),
            "'vector_transactions_64' is 21, more than 'transactions_64' (20)");
  s = complete();
  s.global_requests = 1001;
  EXPECT_EQ(first_error(predict(kDasgupta, s, device)), "'global_requests' is 1001, more than 'instructions' (1000)");
  s = complete();
  s.by_class[0] = 600;
  s.by_class[1] = 600;
  EXPECT_FALSE(predict(kDasgupta, s, device));
  s = complete();
  s.global_requests = 0;
  EXPECT_EQ(first_error(predict(kDasgupta, s, device)),
            "0 requests per warp make 60 transactions: expected both or neither to be 0");
  s = complete();
  s.threads_per_block = 64.5;
  EXPECT_EQ(first_error(predict(kDasgupta, s, device)), "'threads_per_block' is 64.5: expected a whole number");
}

TEST(Statistics, RatiosBelowOneAreErrors) {
  const Device device = able();
  for (const auto field : {&KernelStatistics::duplicate_loads, &KernelStatistics::independent_loads,
                           &KernelStatistics::uncoalesced_transactions}) {
    KernelStatistics s = complete();
    s.*field = 1;
    EXPECT_TRUE(predict(kDasgupta, s, device));
    s.*field = 0.5;
    EXPECT_FALSE(predict(kDasgupta, s, device));
  }
  KernelStatistics s = complete();
  s.synchronizations = 1001;
  EXPECT_EQ(first_error(predict(kHongKim, s, device)), "'synchronizations' is 1001, more than 'instructions' (1000)");
  s = complete();
  s.bytes_per_request = 0;
  EXPECT_EQ(first_error(predict(kHongKim, s, device)), "'bytes_per_request' is 0, but there are requests");
}

TEST(Models, UnknownOnesAreErrors) {
  const Device device = able();
  const auto near = predict("hong_kim", complete(), device);
  ASSERT_FALSE(near);
  EXPECT_EQ(near.error().list().front().message, "unknown model 'hong_kim'");
  EXPECT_EQ(near.error().list().front().hint, "did you mean 'hong-kim'?");
  EXPECT_TRUE(predict("zzzzzzzzzzzz", complete(), device)
                  .error()
                  .list()
                  .front()
                  .hint.starts_with("models: hong-kim, dasgupta, sim, amaris, karan-kumar, bounds, volkov, roofline, "
                                    "throughput-latency, critical-path"));
}

TEST(Models, DevicesWithoutParametersAreErrors) {
  const auto p = predict(kDasgupta, complete(), *find_device("H200"));
  ASSERT_FALSE(p);
  EXPECT_EQ(p.error().list().front().message, "device 'NVIDIA H200' has no parameters for model dasgupta");
  EXPECT_EQ(p.error().list().front().hint, "devices with these parameters: c1060, c2050, gtx480");
}

} // namespace statistics_test
} // namespace warplens::model
