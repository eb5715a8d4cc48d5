// SPDX-License-Identifier: Apache-2.0
#include "model/models.hpp"

#include <gtest/gtest.h>

namespace warplens::model {
namespace dasgupta_test {

Expected<Prediction> dasgupta(const KernelStatistics& statistics, const Device& device,
                              const ModelOptions& options = {}) {
  return find_model(kDasgupta)->predict(statistics, device, options);
}

Device c1060() { return *find_device("c1060"); }

// The micro-benchmark of the thesis, section 3.2.6: 100 iterations of four loads, 256 threads, 120 blocks, occupancy 1.
KernelStatistics micro_benchmark() {
  KernelStatistics s;
  s.threads_per_block = 256;
  s.blocks = 120;
  s.resident_blocks = 4;
  s.instructions = 7942;
  s.global_requests = 400;
  s.transactions_32 = 0;
  s.transactions_64 = 0;
  s.transactions_128 = 0;
  return s;
}

TEST(Dasgupta, Table6NoMemory) {
  KernelStatistics s = micro_benchmark();
  s.threads_per_block = 512;
  s.resident_blocks = 2;
  s.instructions = 4325; // not printed; the time follows from it by arithmetic alone
  s.global_requests = 0;
  const auto p = dasgupta(s, c1060());
  ASSERT_TRUE(p);
  EXPECT_NEAR(p->milliseconds, 0.844, 0.844 * 0.005);
  EXPECT_DOUBLE_EQ(p->mwp, 32);
  EXPECT_DOUBLE_EQ(p->cwp, 0);
  EXPECT_DOUBLE_EQ(p->cycles, 4.0 * 4325 * 32 * 2);
}

TEST(Dasgupta, Table8Transactions32) {
  KernelStatistics s = micro_benchmark();
  s.transactions_32 = 800;
  const auto p = dasgupta(s, c1060());
  ASSERT_TRUE(p);
  EXPECT_NEAR(p->milliseconds, 0.7222, 0.7222 * 0.005);
  EXPECT_NEAR(p->milliseconds, 0.72229, 0.000005);
  EXPECT_DOUBLE_EQ(*p->term("mem_latency_final"), 487);
  EXPECT_DOUBLE_EQ(*p->term("dep_delay_per_request"), 74);
  EXPECT_NEAR(p->mwp, 487.0 / 74, 1e-12);
  EXPECT_EQ(p->bound, "memory");
}

TEST(Dasgupta, Table9Transactions64) {
  KernelStatistics s = micro_benchmark();
  s.transactions_64 = 800;
  const auto p = dasgupta(s, c1060());
  ASSERT_TRUE(p);
  EXPECT_NEAR(p->milliseconds, 0.7222, 0.7222 * 0.005);
}

TEST(Dasgupta, Table10Transactions128) {
  KernelStatistics s = micro_benchmark();
  s.transactions_128 = 800;
  const auto p = dasgupta(s, c1060());
  ASSERT_TRUE(p);
  EXPECT_NEAR(p->milliseconds, 1.131, 1.131 * 0.005);
  EXPECT_NEAR(p->milliseconds, 1.1319, 0.00005);
  EXPECT_NEAR(p->mwp, 4.379, 0.0005);
  EXPECT_NEAR(*p->term("MWP_peak_bandwidth"), 5.16260, 0.00001);
}

// Table 11 tunes the delay of vector transactions to 57 cycles. What the model makes of it (1112 microseconds) is not
// the measured 1058.8 of table 4: the thesis does not agree with itself here.
TEST(Dasgupta, Table11VectorTransactions) {
  KernelStatistics s = micro_benchmark();
  s.instructions = 7934;
  s.transactions_32 = 800;
  s.vector_transactions_32 = 800;
  const auto p = dasgupta(s, c1060());
  ASSERT_TRUE(p);
  EXPECT_DOUBLE_EQ(*p->term("avg_dep_delay_per_tran"), 57);
  EXPECT_NEAR(p->milliseconds, 1.1124, 0.00005);
}

TEST(Dasgupta, DelayIsTheMeanOverTransactions) {
  KernelStatistics s = micro_benchmark();
  s.transactions_32 = 300;
  s.transactions_64 = 100;
  s.transactions_128 = 400;
  s.vector_transactions_128 = 100;
  const auto p = dasgupta(s, c1060());
  ASSERT_TRUE(p);
  EXPECT_NEAR(*p->term("avg_dep_delay_per_tran"), (400 * 37 + 300 * 58 + 100 * 57) / 800.0, 1e-12);
  EXPECT_NEAR(*p->term("Data_per_request"), (300 * 32 + 100 * 64 + 400 * 128) / 400.0, 1e-12);
  EXPECT_DOUBLE_EQ(*p->term("num_trans_per_request"), 2);
}

// Section 3.2.4.3: duplicate loads divide the transactions and the warps that count for MWP; vector ones do not merge.
TEST(Dasgupta, MergingOfDuplicateLoads) {
  KernelStatistics s = micro_benchmark();
  s.transactions_32 = 800;
  s.duplicate_loads = 1.6;
  auto p = dasgupta(s, c1060());
  ASSERT_TRUE(p);
  EXPECT_DOUBLE_EQ(*p->term("num_trans_per_request"), 1.25);
  EXPECT_DOUBLE_EQ(*p->term("Active_warps_for_MWP"), 20);
  s.vector_transactions_32 = 800;
  p = dasgupta(s, c1060());
  ASSERT_TRUE(p);
  EXPECT_DOUBLE_EQ(*p->term("num_trans_per_request"), 2);
  EXPECT_DOUBLE_EQ(*p->term("Active_warps_for_MWP"), 32);
}

TEST(Dasgupta, StrongMergingLeavesTheBaseLatency) {
  KernelStatistics s = micro_benchmark();
  s.transactions_32 = 800;
  s.duplicate_loads = 8;
  const auto p = dasgupta(s, c1060());
  ASSERT_TRUE(p);
  EXPECT_DOUBLE_EQ(*p->term("mem_latency_final"), 450);
  EXPECT_DOUBLE_EQ(*p->term("dep_delay_per_request"), 37 / 4.0);
}

TEST(Dasgupta, IndependentLoadsLetFewWarpsWaitMore) {
  KernelStatistics s = micro_benchmark();
  s.transactions_32 = 400;
  s.resident_blocks = 1;
  s.threads_per_block = 64; // N = 2
  const auto one = dasgupta(s, c1060());
  s.independent_loads = 2;
  const auto two = dasgupta(s, c1060());
  ASSERT_TRUE(one && two);
  EXPECT_DOUBLE_EQ(one->mwp, 2);
  EXPECT_DOUBLE_EQ(two->mwp, 4);
}

// The FMM kernels of tables 12, 13 and 15 at 64 threads: 585 blocks, occupancy 0.5 (ujam 0.375). The thesis prints
// neither the transactions per request nor its base latency and delay for these tables. The first follows from the
// printed MWP; latency minus delay is one constant, 414, for all rows (documented are 450 and 37, which give 0.24 %
// less time).
struct FmmRow {
  const char* name;
  double instructions, requests, resident, mwp, cwp, milliseconds;
};
const FmmRow kFmm[] = {{"baseline", 235880, 47013, 8, 9.722, 16, 66.33431},
                       {"rsqrt", 224177, 47013, 8, 9.722, 16, 66.33422},
                       {"ujam", 215413, 36426.86, 6, 10.08268, 12, 49.356}};

KernelStatistics fmm(const FmmRow& row, const DasguptaParameters& parameters) {
  KernelStatistics s;
  s.threads_per_block = 64;
  s.blocks = 585;
  s.resident_blocks = row.resident;
  s.instructions = row.instructions;
  s.global_requests = row.requests;
  // (latency - delay) = n * delay * (MWP - 1), solved for n, the transactions per request after merging.
  const double n = (parameters.memory_latency - parameters.delay_32) / (parameters.delay_32 * (row.mwp - 1));
  s.transactions_32 = row.requests * n;
  s.transactions_64 = 0;
  s.transactions_128 = 0;
  return s;
}

TEST(Dasgupta, FmmKernelsWithTheConstantOfTheThesisTables) {
  Device device = c1060();
  device.dasgupta->delay_32 = 36;
  for (const FmmRow& row : kFmm) {
    SCOPED_TRACE(row.name);
    const auto p = dasgupta(fmm(row, *device.dasgupta), device);
    ASSERT_TRUE(p);
    EXPECT_NEAR(p->milliseconds, row.milliseconds, row.milliseconds * 2e-5);
    EXPECT_NEAR(p->mwp, row.mwp, 1e-9);
    EXPECT_DOUBLE_EQ(p->cwp, row.cwp);
    EXPECT_EQ(p->bound, "memory");
  }
}

TEST(Dasgupta, FmmKernelsWithTheDocumentedParameters) {
  const Device device = c1060();
  const double documented[] = {66.1737, 66.1736, 49.237};
  for (std::size_t i = 0; i < std::size(kFmm); ++i) {
    const auto p = dasgupta(fmm(kFmm[i], *device.dasgupta), device);
    ASSERT_TRUE(p);
    EXPECT_NEAR(p->milliseconds, documented[i], 0.001) << kFmm[i].name;
    EXPECT_NEAR(p->milliseconds, kFmm[i].milliseconds, kFmm[i].milliseconds * 0.003) << kFmm[i].name;
  }
}

// Table 12, shared memory: compute bound. The cycles of slow instructions, some 152 400 per warp, follow from the
// vector packing row (the thesis does not say what they are made of; here they are given as bank conflicts); 303
// barriers are an estimate, two for each tile. CWP is the check; the time discriminates the two readings of the barrier
// cost.
TEST(Dasgupta, FmmSharedMemory) {
  Device device = c1060();
  device.dasgupta->delay_32 = 36;
  KernelStatistics s = fmm({"shmem", 262520, 8854, 8, 9.070, 4.425, 35.99694}, *device.dasgupta);
  s.bank_conflict_passes = 152400 / *device.issue_cycles->bank_pass;
  s.synchronizations = 303;
  auto p = dasgupta(s, device);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->bound, "compute");
  EXPECT_NEAR(p->mwp, 9.070, 1e-9);
  EXPECT_NEAR(p->cwp, 4.425, 0.0015);
  EXPECT_NEAR(p->milliseconds, 35.976, 0.0005);
  EXPECT_NEAR(p->milliseconds, 35.99694, 35.99694 * 0.001);

  ModelOptions all_warps;
  all_warps.synchronization = ModelOptions::Synchronization::all_warps;
  p = dasgupta(s, device, all_warps);
  ASSERT_TRUE(p);
  EXPECT_NEAR(p->milliseconds, 37.609, 0.001);

  s.synchronizations.reset();
  p = dasgupta(s, device);
  ASSERT_TRUE(p);
  EXPECT_NEAR(p->milliseconds, 35.745, 0.0005);
  EXPECT_FALSE(p->remarks.empty());
}

// Section 4.2.4: a square root and a division take 32 and 36 cycles where others take 4; a reciprocal square root 16.
// More computation than waiting: what every warp computes is issued, however many of them memory serves at once.
TEST(Dasgupta, LongComputationIsIssuedInFull) {
  KernelStatistics s = micro_benchmark();
  s.transactions_32 = 800;
  s.instructions = 100000;
  const auto p = dasgupta(s, c1060());
  ASSERT_TRUE(p);
  EXPECT_EQ(p->bound, "compute");
  EXPECT_LT(p->cwp, 2); // Comp_cycles > Mem_cycles
  EXPECT_DOUBLE_EQ(p->cycles, *p->term("mem_latency_final") + 4.0 * 100000 * 32);
}

TEST(Dasgupta, SlowInstructions) {
  KernelStatistics s = micro_benchmark();
  s.transactions_32 = 800;
  const double plain = *dasgupta(s, c1060())->term("Comp_cycles");
  s.by_class[static_cast<std::size_t>(IssueClass::square_root)] = 10;
  s.by_class[static_cast<std::size_t>(IssueClass::divide)] = 10;
  EXPECT_DOUBLE_EQ(*dasgupta(s, c1060())->term("Comp_cycles"), plain + 10 * (32 - 4) + 10 * (36 - 4));
}

// J. Cornelis, 2010, chapter 4: a 16-way conflict costs a warp 60 more cycles; it is 15 more passes for each half.
TEST(Dasgupta, BankConflicts) {
  KernelStatistics s = micro_benchmark();
  s.transactions_32 = 800;
  const double plain = *dasgupta(s, c1060())->term("Comp_cycles");
  s.bank_conflict_passes = 30;
  EXPECT_DOUBLE_EQ(*dasgupta(s, c1060())->term("Comp_cycles"), plain + 60);
}

TEST(Dasgupta, WhatTheDeviceCannotDoIsAnError) {
  Device device = c1060();
  device.issue_cycles->bank_pass.reset();
  device.issue_cycles->by_class[static_cast<std::size_t>(IssueClass::double_precision)].reset();
  KernelStatistics s = micro_benchmark();
  s.transactions_32 = 800;
  s.bank_conflict_passes = 1;
  EXPECT_FALSE(dasgupta(s, device));
  s.bank_conflict_passes = 0;
  EXPECT_TRUE(dasgupta(s, device));
  s.by_class[static_cast<std::size_t>(IssueClass::double_precision)] = 1;
  const auto p = dasgupta(s, device);
  ASSERT_FALSE(p);
  EXPECT_NE(p.error().list().front().message.find("'double_precision'"), std::string::npos);
}

} // namespace dasgupta_test
} // namespace warplens::model
