// SPDX-License-Identifier: Apache-2.0
// The models other than those of Hong & Kim and Dasgupta. Expected values are computed by hand from the equations.
#include "model/benefits.hpp"
#include "model/merging.hpp"
#include "model/models.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace warplens::model {
namespace models_test {

// 140 blocks of 8 warps: with 14 multiprocessors, 80 warps each.
KernelStatistics kernel() {
  KernelStatistics s;
  s.threads_per_block = 256;
  s.blocks = 140;
  s.resident_blocks = 6;
  s.instructions = 1000;
  s.global_requests = 50;
  s.transactions_32 = 0;
  s.transactions_64 = 0;
  s.transactions_128 = 50;
  return s;
}

void expect_term(const Prediction& p, std::string_view name, double value) {
  const auto term = p.term(name);
  ASSERT_TRUE(term) << name;
  EXPECT_NEAR(*term, value, 1e-9 * std::max(1.0, std::abs(value))) << name;
}

TEST(Sim, ByHand) {
  const auto p = predict(kSim, kernel(), *find_device("c2050"));
  ASSERT_TRUE(p);
  expect_term(*p, "ITILP_max", 18);
  expect_term(*p, "W_parallel", 1000 * 80);
  expect_term(*p, "avg_DRAM_lat", 440);
  expect_term(*p, "AMAT", 440 + 18 + 130);
  expect_term(*p, "CWP", (50 * 588 + 1000) / 1000.0);
  expect_term(*p, "MWP", 22); // 440 cycles, one request leaves every 20
  expect_term(*p, "MWP_peak_bw", 144 / (1.15 * 128 / 440 * 14));
  expect_term(*p, "ITMLP", 22);
  expect_term(*p, "T_mem", 50 * 80 / 22.0 * 588);
  expect_term(*p, "T_overlap", 80000);
  EXPECT_NEAR(p->cycles, 50 * 80 / 22.0 * 588, 1e-6);
  EXPECT_NEAR(p->milliseconds, p->cycles / 1.15e6, 1e-12);
  EXPECT_EQ(p->bound, "memory");
  EXPECT_EQ(p->mwp_bound, "departure");
}

TEST(Sim, CachesShortenTheAccess) {
  KernelStatistics s = kernel();
  s.l1_hit_ratio = 0.5;
  s.l2_hit_ratio = 0.2;
  const auto p = predict(kSim, s, *find_device("c2050"));
  ASSERT_TRUE(p);
  expect_term(*p, "miss_ratio", 0.4);
  expect_term(*p, "AMAT", 440 * 0.4 + 18 + 0.5 * 130);
}

// Hits are of loads: a quarter of the transactions are stores and atomics, which come to memory as if nothing hit.
TEST(Models, StoresDoNotHitAsLoadsDo) {
  KernelStatistics s = kernel();
  s.l1_hit_ratio = 0.5;
  s.l2_hit_ratio = 0.2;
  s.load_transactions = 37.5;
  s.store_transactions = 10;
  s.atomic_transactions = 2.5;
  s.adjusting_weight = 1;
  const Device c2050 = *find_device("c2050");
  const double first_miss = 0.75 * 0.5 + 0.25, memory = 0.75 * 0.4 + 0.25;
  const auto of_sim = predict(kSim, s, c2050), of_dasgupta = predict(kDasgupta, s, c2050);
  ASSERT_TRUE(of_sim && of_dasgupta);
  for (const Prediction& p : {*of_sim, *of_dasgupta}) {
    expect_term(p, "share_of_loads", 0.75);
    expect_term(p, "miss_ratio", memory);
  }
  expect_term(*of_sim, "hit_lat", 18 + first_miss * 130);
  expect_term(*of_dasgupta, "hit_latency", 18 + first_miss * 130);
  const auto of_amaris = predict(kAmaris, s, c2050), of_volkov = predict(kVolkov, s, c2050);
  ASSERT_TRUE(of_amaris && of_volkov);
  expect_term(*of_amaris, "Comm_GM", 50 * ((1 - first_miss) * 5 + (first_miss - memory) * 250 + memory * 500));
  expect_term(*of_volkov, "mem_lat",
              (1 - first_miss) * 18 + (first_miss - memory) * 130 + memory * *c2050.latency.memory);
  s.load_transactions = 0; // a kernel that only stores: nothing hits
  const auto stores = predict(kSim, s, c2050);
  ASSERT_TRUE(stores);
  expect_term(*stores, "miss_ratio", 1);
}

TEST(Sim, WhatSerialises) {
  KernelStatistics s = kernel();
  s.synchronizations = 2;
  s.bank_conflict_passes = 30;
  s.by_class[static_cast<std::size_t>(IssueClass::sine_cosine)] = 325; // a fifth more than the units take
  const auto p = predict(kSim, s, *find_device("c2050"));
  ASSERT_TRUE(p);
  expect_term(*p, "O_sync", 2 * 80 * 64 * 440 * 0.05);
  expect_term(*p, "O_SFU", 325 * 80 * 8 * (0.325 - 0.125));
  expect_term(*p, "O_bank", 30 * 80);
  expect_term(*p, "B_serial", *p->term("O_sync") + *p->term("O_SFU") + *p->term("O_bank"));
}

TEST(Sim, FewWarpsLeaveInstructionsWaiting) {
  KernelStatistics s = kernel();
  s.threads_per_block = 32;
  s.resident_blocks = 6;
  auto p = predict(kSim, s, *find_device("c2050"));
  ASSERT_TRUE(p);
  expect_term(*p, "ITILP", 6);
  expect_term(*p, "B_itilp", 1000 * 10 * (18 / 6.0 - 1));
  s.instruction_parallelism = 2;
  p = predict(kSim, s, *find_device("c2050"));
  expect_term(*p, "ITILP", 12);
}

TEST(Amaris, ByHand) {
  KernelStatistics s = kernel();
  s.shared_requests = 20;
  s.l1_hit_ratio = 0.2;
  s.l2_hit_ratio = 0.5;
  s.adjusting_weight = 4;
  const Device k40 = *find_device("k40");
  auto p = predict(kAmaris, s, k40);
  ASSERT_TRUE(p);
  expect_term(*p, "Comp", 930);
  expect_term(*p, "Comm_GM", 10 * 5 + 20 * 250 + 20 * 500);
  expect_term(*p, "Comm_SM", 100);
  EXPECT_NEAR(p->milliseconds, 35840.0 * (930 + 15050 + 100) / (0.745e6 * 2880 * 4), 1e-12);
  s.thread_cycles = 24;
  p = predict(kAmaris, s, k40);
  expect_term(*p, "Comp", 24);
}

TEST(KaranKumar, OccupancyAndWeightDivide) {
  KernelStatistics s = kernel();
  s.resident_blocks = 4; // 32 of 64 warps
  s.thread_cycles = 24;
  s.adjusting_weight = 432.8;
  const auto p = predict(kKaranKumar, s, *find_device("titanv"));
  ASSERT_TRUE(p);
  expect_term(*p, "O", 0.5);
  EXPECT_NEAR(p->milliseconds, 35840.0 * (24 + 25000) / (1.455e6 * 0.5 * 432.8), 1e-9);
}

TEST(KaranKumar, WithoutAWeightThereIsNoTime) {
  const auto p = predict(kKaranKumar, kernel(), *find_device("titanv"));
  ASSERT_FALSE(p);
  EXPECT_NE(p.error().list().front().message.find("'adjusting_weight'"), std::string::npos);
  EXPECT_NE(p.error().list().front().hint.find("volkov"), std::string::npos);
}

// CME 213: 364 GB/s for bytes if the units worked in every cycle, a quarter of it in truth; words of four bytes are
// bound by memory.
TEST(Bounds, BytesAreBoundByTheUnitsWordsByMemory) {
  Device k80 = *find_device("k80");
  KernelStatistics s = kernel();
  s.blocks = 13 * 1000;
  s.instructions = 10;
  s.global_requests = 2;
  s.transactions_32 = 2; // one byte for each lane
  s.transactions_128 = 0;
  auto p = predict(kBounds, s, k80);
  ASSERT_TRUE(p);
  const double bytes = 2.0 * 256 * 13000;
  EXPECT_NEAR(bytes / p->milliseconds * 1e-6, 91, 1e-9);
  EXPECT_EQ(p->bound, "compute");
  s.transactions_32 = 8;
  p = predict(kBounds, s, k80);
  ASSERT_TRUE(p);
  EXPECT_NEAR(4 * bytes / p->milliseconds * 1e-6, 240.48, 1e-9);
  EXPECT_EQ(p->bound, "memory");
  expect_term(*p, "memory_bound_sustained", 4 * bytes / 156e6);
}

TEST(Bounds, SayWhereAllRequestedBytesCount) {
  const Device h200 = *find_device("h200");
  KernelStatistics s = kernel();
  const auto says = [&] {
    const auto p = predict(kBounds, s, h200);
    EXPECT_TRUE(p);
    return std::any_of(p->remarks.begin(), p->remarks.end(),
                       [](const std::string& one) { return one.find("may be no lower bound") != std::string::npos; });
  };
  EXPECT_TRUE(says());
  s.argument_bytes = 4096;
  EXPECT_FALSE(says());
  expect_term(*predict(kBounds, s, h200), "bytes", 4096);
  s.only_loaded_sectors = 100; // these are the bytes, whatever is requested
  s.written_sectors = 0;
  expect_term(*predict(kBounds, s, h200), "bytes", 3200);
  s.written_sectors = 1000; // fit in the L2 cache
  expect_term(*predict(kBounds, s, h200), "bytes", 3200);
  s.written_sectors = h200.l2->bytes / 32.0 + 10;
  expect_term(*predict(kBounds, s, h200), "bytes", 3520);
  s.argument_bytes.reset();
  EXPECT_FALSE(says());
  s.l2_hit_ratio = 0.5; // simulated: these count
  EXPECT_GT(predict(kBounds, s, h200)->milliseconds, 0);
  EXPECT_FALSE(says());
}

TEST(Volkov, EachOfTheFourRatesCanBind) {
  Device d = *find_device("titanv"); // 302 cycles, 4 cycles, 2 warps of arithmetic and 4 of issue per cycle
  KernelStatistics s = kernel();
  s.blocks = 80 * 8;
  s.resident_blocks = 8;
  auto p = predict(kVolkov, s, d);
  ASSERT_TRUE(p);
  expect_term(*p, "alpha", 19);
  expect_term(*p, "latency_bound", 64 / (302 + 19 * 4.0));
  expect_term(*p, "mem_thru", 652.8 / (1.455 * 80) / 128);
  expect_term(*p, "alu_thru", 2 / 19.0);
  expect_term(*p, "issue_thru", 4 / 20.0);
  EXPECT_EQ(p->bound, "memory");
  EXPECT_NEAR(p->cycles, 50 * 64 / *p->term("mem_thru"), 1e-6);
  s.resident_blocks = 1;
  EXPECT_EQ(predict(kVolkov, s, d)->bound, "latency");
  s.resident_blocks = 8;
  s.instructions = 10000;
  EXPECT_EQ(predict(kVolkov, s, d)->bound, "compute");
  s.global_requests = s.transactions_128 = 0;
  p = predict(kVolkov, s, d);
  ASSERT_TRUE(p);
  EXPECT_NEAR(p->cycles, 10000 * 64 / 2.0, 1e-6);
}

TEST(Roofline, TheRidgeDividesTheBounds) {
  const Device d = *find_device("titanv");
  KernelStatistics s = kernel();
  s.flops = 50 * 128; // one for each byte
  auto p = predict(kRoofline, s, d);
  ASSERT_TRUE(p);
  expect_term(*p, "intensity", 1);
  expect_term(*p, "peak", 2 * 5120 * 1.455);
  expect_term(*p, "attainable", 652.8);
  EXPECT_EQ(p->bound, "memory");
  EXPECT_NEAR(p->milliseconds, 1120.0 * 6400 / 652.8e6, 1e-12);
  s.flops = 50 * 128 * 100;
  p = predict(kRoofline, s, d);
  EXPECT_EQ(p->bound, "compute");
  expect_term(*p, "attainable", 2 * 5120 * 1.455);
}

// The matrix units of an H200: 4096 operations on f16 and 8192 on fp8 in a cycle of each multiprocessor.
TEST(Roofline, MatricesHaveARoofOfTheirOwn) {
  const Device d = *find_device("h200");
  const double cycle = d.multiprocessors * d.clock_ghz * 1e6; // of all multiprocessors, in a millisecond
  KernelStatistics s = kernel();
  s.flops = 1;
  s.matrix_half = 1e6;
  s.matrix_fp8 = 2e6;
  auto p = predict(kRoofline, s, d);
  ASSERT_TRUE(p);
  const double warps = 1120, time = warps * (1e6 / 4096 + 2e6 / 8192) / cycle;
  expect_term(*p, "matrix_work", warps * 3e6);
  expect_term(*p, "matrix_intensity", 3e6 / 6400);
  expect_term(*p, "matrix_bound", time);
  expect_term(*p, "matrix_peak", 6144 * cycle * 1e-6); // the mix of both rates
  expect_term(*p, "matrix_utilisation", 100);
  EXPECT_NEAR(p->milliseconds, time, 1e-9 * time);
  EXPECT_EQ(p->bound, "compute");
  s.matrix_half = 1e3; // far from the ridge, memory is slower
  s.matrix_fp8.reset();
  p = predict(kRoofline, s, d);
  EXPECT_EQ(p->bound, "memory");
  expect_term(*p, "matrix_attainable", 1e3 / 6400 * d.bandwidth_gb_s);
  EXPECT_NEAR(*p->term("matrix_utilisation"), 100 * (warps * 1e3 / 4096 / cycle) / p->milliseconds, 1e-9);
}

TEST(Roofline, NamesTypesOfMatricesWithoutARate) {
  KernelStatistics s = kernel();
  s.matrix_binary = 1e9;
  const auto p = predict(kRoofline, s, *find_device("h200"));
  ASSERT_TRUE(p);
  EXPECT_FALSE(p->term("matrix_bound"));
  EXPECT_FALSE(p->term("matrix_utilisation"));
  EXPECT_EQ(p->bound, "memory");
  EXPECT_NE(std::find(p->remarks.begin(), p->remarks.end(),
                      "the rate of the matrix units for bits is not known: the model leaves these operations out"),
            p->remarks.end());
}

// Dasgupta, section 5.2.4: the factor falls with occupancy and rises with the warps of a block.
TEST(Merging, FollowsOccupancyAndBlockSize) {
  EXPECT_DOUBLE_EQ(effective_duplicate_loads(1, 16, 11), 1);
  EXPECT_DOUBLE_EQ(effective_duplicate_loads(2, 16, 16), 2 / 1.5); // every second chance is lost
  EXPECT_NEAR(effective_duplicate_loads(8, 1, 1e9), 8, 1e-6);
  // The printed MWP of tables 12 and 13: 16 and 12 warps.
  EXPECT_NEAR(effective_duplicate_loads(2, 16, 33.7), 1.517, 0.005);
  EXPECT_NEAR(effective_duplicate_loads(2, 12, 33.7), 1.580, 0.005);
  for (double warps = 8; warps < 32; warps += 8)
    EXPECT_GT(effective_duplicate_loads(8, warps, 34), effective_duplicate_loads(8, warps + 8, 34)) << warps;
  for (double ideal = 1; ideal < 8; ++ideal)
    EXPECT_LT(effective_duplicate_loads(ideal, 24, 34), effective_duplicate_loads(ideal + 1, 24, 34)) << ideal;
}

TEST(Merging, NeverMoreThanThereAreNorLessThanOne) {
  for (const double ideal : {1.0, 1.5, 2.0, 7.3, 1e6})
    for (const double flight : {1.0, 1.7, 16.0, 1e9})
      for (const double queue : {1.0, 2.5, 33.7, 1e9}) {
        const double d = effective_duplicate_loads(ideal, flight, queue);
        EXPECT_TRUE(d >= 1 && d <= ideal) << ideal << " " << flight << " " << queue << ": " << d;
      }
}

KernelStatistics on_c1060() {
  KernelStatistics s = kernel();
  s.resident_blocks = 2;
  s.blocks = 240;
  return s;
}

TEST(DasguptaFutureWork, MergingFromWhatABlockShares) {
  KernelStatistics s = on_c1060();
  s.transactions_128 = 100; // two for each request
  s.ideal_duplicate_loads = 2;
  const auto shared = predict(kDasgupta, s, *find_device("c1060"));
  s.ideal_duplicate_loads = 1;
  const auto alone = predict(kDasgupta, s, *find_device("c1060"));
  ASSERT_TRUE(shared && alone);
  expect_term(*shared, "duplicate_loads", effective_duplicate_loads(2, 16, 33.7));
  EXPECT_LT(shared->milliseconds, alone->milliseconds);
}

TEST(DasguptaFutureWork, SpecialFunctionsBesideTheOthers) {
  KernelStatistics s = on_c1060();
  s.by_class[static_cast<std::size_t>(IssueClass::sine_cosine)] = 50;
  s.by_class[static_cast<std::size_t>(IssueClass::integer_multiply)] = 10;
  ModelOptions beside;
  beside.special_functions = ModelOptions::SpecialFunctions::beside;
  expect_term(*predict(kDasgupta, s, *find_device("c1060")), "Comp_cycles", 4000 + 50 * 28 + 10 * 12);
  expect_term(*predict(kDasgupta, s, *find_device("c1060"), beside), "Comp_cycles", 4000 + 10 * 12);
  s.by_class[static_cast<std::size_t>(IssueClass::sine_cosine)] = 500; // now they are the bottleneck
  expect_term(*predict(kDasgupta, s, *find_device("c1060"), beside), "Comp_cycles", 500 * 32);
}

TEST(DasguptaFutureWork, IndependentComputationHidesLatency) {
  KernelStatistics s = on_c1060();
  s.resident_blocks = 1;
  s.blocks = 30;
  s.instructions = 200;
  const auto plain = predict(kDasgupta, s, *find_device("c1060"));
  s.independent_instructions = 10;
  const auto prefetched = predict(kDasgupta, s, *find_device("c1060"));
  ASSERT_TRUE(plain && prefetched);
  expect_term(*prefetched, "Mem_cycles", *plain->term("Mem_cycles") - 50 * 40);
  EXPECT_LT(prefetched->milliseconds, plain->milliseconds);
  s.independent_instructions = 1e6; // no more than the bandwidth allows
  const auto all = predict(kDasgupta, s, *find_device("c1060"));
  ASSERT_TRUE(all);
  expect_term(*all, "Mem_cycles", *plain->term("Mem_cycles") * plain->mwp / *plain->term("MWP_peak_bandwidth"));
}

TEST(DasguptaFutureWork, FermiHasCaches) {
  KernelStatistics s = kernel();
  s.l1_hit_ratio = 0.5;
  s.l2_hit_ratio = 0.5;
  auto p = predict(kDasgupta, s, *find_device("c2050"));
  ASSERT_TRUE(p);
  expect_term(*p, "mem_latency_final", 18 + 0.5 * 130 + 0.25 * 440);
  expect_term(*p, "dep_delay_per_request", 0.25 * 20);
  s.l1_hit_ratio = 1;
  p = predict(kDasgupta, s, *find_device("c2050"));
  ASSERT_TRUE(p);
  expect_term(*p, "mem_latency_final", 18);
}

TEST(Benefits, EachIdealIsTheDifferenceItMakes) {
  KernelStatistics s = on_c1060();
  s.bytes_per_request = 128;
  s.transactions_128 = 50 * 16;
  s.bank_conflict_passes = 300;
  s.lanes_per_instruction = 16;
  s.synchronizations = 10;
  const Device d = *find_device("c1060");
  const auto p = predict(kDasgupta, s, d);
  ASSERT_TRUE(p);
  ASSERT_FALSE(p->benefits.empty());
  EXPECT_EQ(p->benefits.front().of, "transactions");
  for (std::size_t i = 1; i < p->benefits.size(); ++i)
    EXPECT_GE(p->benefits[i - 1].milliseconds, p->benefits[i].milliseconds);
  KernelStatistics ideal = s;
  ideal.transactions_64 = 50 * 2; // 128 bytes of a warp in two transactions
  ideal.transactions_128 = 0;
  EXPECT_NEAR(p->benefits.front().milliseconds, p->milliseconds - predict(kDasgupta, ideal, d)->milliseconds, 1e-12);
  EXPECT_LT(p->benefits.front().milliseconds, p->milliseconds);
}

TEST(Benefits, NothingToGainWhereAllIsIdeal) {
  KernelStatistics s = on_c1060();
  s.resident_blocks = 4;
  s.bytes_per_request = 256;
  s.transactions_128 = 100;
  s.lanes_per_instruction = 32;
  const auto p = predict(kDasgupta, s, *find_device("c1060"));
  ASSERT_TRUE(p);
  EXPECT_TRUE(p->benefits.empty());
}

TEST(Launches, ImpossibleOnesAreErrors) {
  const Device d = *find_device("c1060");
  KernelStatistics s = on_c1060();
  s.threads_per_block = 1024;
  s.resident_blocks = 1;
  auto p = predict(kDasgupta, s, d);
  ASSERT_FALSE(p);
  EXPECT_EQ(p.error().list().front().message, "a block of 1024 threads: 'Tesla C1060' allows at most 512");
  s.threads_per_block = 256;
  s.resident_blocks = 5;
  p = predict(kDasgupta, s, d);
  ASSERT_FALSE(p);
  EXPECT_NE(p.error().list().front().message.find("at most 32 warps"), std::string::npos);
  s.threads_per_block = 32;
  s.resident_blocks = 9;
  EXPECT_FALSE(predict(kDasgupta, s, d));
  s.resident_blocks = 0;
  EXPECT_FALSE(predict(kDasgupta, s, d));
}

} // namespace models_test
} // namespace warplens::model
