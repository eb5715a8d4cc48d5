// SPDX-License-Identifier: Apache-2.0
#include "model/models.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace warplens::model {
namespace hong_kim_test {

Expected<Prediction> hong_kim(const KernelStatistics& statistics, const Device& device,
                              const ModelOptions& options = {}) {
  return find_model(kHongKim)->predict(statistics, device, options);
}

// The GPU and the kernel of the paper's worked example (tiled matrix multiplication).
Device example_device() {
  Device d;
  d.name = "example";
  d.multiprocessors = 16;
  d.clock_ghz = 1;
  d.bandwidth_gb_s = 80;
  d.issue_cycles = IssueCycles{4, {}, {}};
  d.hong_kim = HongKimParameters{420, 10, 4, 32};
  return d;
}
KernelStatistics example_kernel() {
  KernelStatistics s;
  s.threads_per_block = 128;
  s.blocks = 80;
  s.resident_blocks = 5;
  s.instructions = 33;
  s.uncoalesced_requests = 6;
  s.coalesced_requests = 0;
  s.bytes_per_request = 128;
  s.synchronizations = 6;
  return s;
}

TEST(HongKim, WorkedExampleExactly) {
  const auto p = hong_kim(example_kernel(), example_device());
  ASSERT_TRUE(p);
  const std::pair<const char*, double> expected[] = {{"Mem_L", 730},
                                                     {"Departure_delay", 320},
                                                     {"MWP_Without_BW_full", 2.28125},
                                                     {"BW_per_warp", 128.0 / 730},
                                                     {"MWP_peak_BW", 28.515625},
                                                     {"MWP", 2.28125},
                                                     {"Comp_cycles", 132},
                                                     {"Mem_cycles", 4380},
                                                     {"CWP_full", 4512.0 / 132},
                                                     {"CWP", 20},
                                                     {"N", 20},
                                                     {"Rep", 1},
                                                     {"Exec_cycles_app", 4380 * 20 / 2.28125 + 22 * 1.28125},
                                                     {"Synch_cost", 320 * 1.28125 * 6 * 5}};
  for (const auto& [name, value] : expected) {
    ASSERT_TRUE(p->term(name)) << name;
    EXPECT_NEAR(*p->term(name), value, 1e-9 * value) << name;
  }
  EXPECT_NEAR(p->cycles, 50728.19, 0.005);
  EXPECT_NEAR(p->cycles, 50738, 50738 * 0.0005);
  EXPECT_NEAR(p->milliseconds, 0.05072819, 1e-8);
  EXPECT_NEAR(*p->term("CPI"), p->term("Exec_cycles_app").value() / (33 * 4 * 5), 1e-9);
  EXPECT_EQ(p->bound, "memory");
  EXPECT_EQ(p->mwp_bound, "departure");
}

TEST(HongKim, WorkedExampleAsPrinted) {
  ModelOptions options;
  options.mwp_rounding = ModelOptions::Rounding::two_digits;
  const auto p = hong_kim(example_kernel(), example_device(), options);
  ASSERT_TRUE(p);
  EXPECT_DOUBLE_EQ(p->mwp, 2.28);
  EXPECT_DOUBLE_EQ(p->cwp, 20);
  EXPECT_NEAR(*p->term("Exec_cycles_app"), 38449.21, 0.005);
  EXPECT_NEAR(*p->term("Synch_cost"), 12288, 1e-6);
  EXPECT_NEAR(p->cycles, 50738, 1);
}

TEST(HongKim, BarrierOfABlockWaitsForItsOwnWarpsOnly) {
  ModelOptions options;
  options.synchronization = ModelOptions::Synchronization::block;
  KernelStatistics s = example_kernel();
  s.threads_per_block = 64; // 2 warps < MWP
  s.resident_blocks = 10;
  s.blocks = 160;
  const auto p = hong_kim(s, example_device(), options);
  ASSERT_TRUE(p);
  EXPECT_NEAR(*p->term("Synch_cost"), 320 * (2 - 1) * 6 * 10, 1e-9);
}

TEST(HongKim, RoundsOfBlocks) {
  KernelStatistics s = example_kernel();
  s.blocks = 100; // 6.25 per multiprocessor, 5 at a time
  ModelOptions whole;
  whole.repetitions = ModelOptions::Repetitions::whole;
  EXPECT_DOUBLE_EQ(*hong_kim(s, example_device())->term("Rep"), 1.25);
  EXPECT_DOUBLE_EQ(*hong_kim(s, example_device(), whole)->term("Rep"), 2);
}

// Once memory bound, N * Rep is the work per multiprocessor: occupancy does not matter, only MWP does.
TEST(HongKim, MemoryBoundTimeDoesNotDependOnOccupancy) {
  KernelStatistics s = example_kernel();
  s.synchronizations = 0;
  s.blocks = 1600;
  const double five = *hong_kim(s, example_device())->term("Exec_cycles_app");
  s.resident_blocks = 2;
  const auto two = hong_kim(s, example_device());
  EXPECT_EQ(two->bound, "memory");
  const double computation = 22 * 1.28125; // paid once a round
  EXPECT_NEAR(*two->term("Exec_cycles_app") - computation * 50, five - computation * 20, 1e-6);
}

TEST(HongKim, TheThreeCases) {
  // Too few warps: one warp alone pays its own memory and computation, equation (22).
  KernelStatistics s = example_kernel();
  s.threads_per_block = 32;
  s.blocks = 16;
  s.synchronizations = 0;
  auto p = hong_kim(s, example_device());
  ASSERT_TRUE(p);
  EXPECT_EQ(p->bound, "latency");
  EXPECT_NEAR(p->cycles, 4380 + 132, 1e-9);

  // Coalesced and compute heavy, yet less than memory: equation (24).
  s = example_kernel();
  s.uncoalesced_requests = 0;
  s.coalesced_requests = 6;
  s.instructions = 300;
  s.synchronizations = 0;
  p = hong_kim(s, example_device());
  ASSERT_TRUE(p);
  EXPECT_EQ(p->bound, "compute");
  EXPECT_EQ(*p->term("CWP_full"), (420.0 * 6 + 1200) / 1200);
  EXPECT_NEAR(p->cycles, 420 + 1200 * 20, 1e-9);

  // Comp_cycles > Mem_cycles: equation (23) as the paper prints it, and a remark that it falls short.
  s.instructions = 3000;
  p = hong_kim(s, example_device());
  ASSERT_TRUE(p);
  EXPECT_EQ(p->bound, "compute");
  EXPECT_NEAR(p->cycles, 420.0 * 6 * 20 / p->mwp + 2000 * (p->mwp - 1), 1e-6);
  ASSERT_EQ(p->remarks.size(), 1u);
  EXPECT_NE(p->remarks[0].find("underestimates"), std::string::npos);
}

TEST(HongKim, NoMemoryRequests) {
  KernelStatistics s = example_kernel();
  s.uncoalesced_requests = 0;
  s.instructions = 27;
  const auto p = hong_kim(s, example_device());
  ASSERT_TRUE(p);
  EXPECT_DOUBLE_EQ(p->mwp, 20);
  EXPECT_DOUBLE_EQ(p->cwp, 0);
  EXPECT_DOUBLE_EQ(p->cycles, 4 * 27 * 20);
  EXPECT_EQ(p->bound, "compute");
}

// Where only every tenth warp loads, the computation between two loads is still no more than a warp's whole
// computation.
TEST(HongKim, FewerRequestsThanWarps) {
  KernelStatistics s = example_kernel();
  s.uncoalesced_requests = 0;
  s.coalesced_requests = 0.1;
  s.instructions = 250;
  s.synchronizations = 0;
  const auto p = hong_kim(s, example_device());
  ASSERT_TRUE(p);
  EXPECT_LE(p->cycles, (42 + 1000) * 20);
}

// 40 blocks on 16 multiprocessors that could hold 5 each: 2.5 run on each, in one round.
TEST(HongKim, SmallGridsRunInOneRound) {
  KernelStatistics s = example_kernel();
  s.blocks = 40;
  auto p = hong_kim(s, example_device());
  ASSERT_TRUE(p);
  EXPECT_DOUBLE_EQ(*p->term("Rep"), 1);
  EXPECT_DOUBLE_EQ(*p->term("N"), 10);
  s.blocks = 1;
  p = hong_kim(s, example_device());
  ASSERT_TRUE(p);
  EXPECT_DOUBLE_EQ(*p->term("Active_SMs"), 1);
  EXPECT_DOUBLE_EQ(*p->term("N"), 4);
  EXPECT_GE(p->cycles, 4380 + 132);
}

TEST(HongKim, BandwidthBinds) {
  Device d = example_device();
  d.bandwidth_gb_s = 2;
  const auto p = hong_kim(example_kernel(), d);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->mwp_bound, "bandwidth");
  EXPECT_NEAR(p->mwp, 2 / (128.0 / 730 * 16), 1e-12);
  EXPECT_NEAR(*p->term("Exec_cycles_app"), 4380 * 20 / p->mwp, 1e-6); // MWP < 1: no other warp waits
}

TEST(HongKim, DevicesThatCannotBeAreErrors) {
  for (const double bandwidth : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    Device d = example_device();
    d.bandwidth_gb_s = bandwidth;
    EXPECT_FALSE(hong_kim(example_kernel(), d)) << bandwidth;
  }
  Device d = example_device();
  d.clock_ghz = 0;
  EXPECT_FALSE(hong_kim(example_kernel(), d));
  d = example_device();
  d.multiprocessors = 0;
  EXPECT_FALSE(hong_kim(example_kernel(), d));
}

TEST(HongKim, RunsOnEveryDeviceThatHasItsParameters) {
  int able = 0;
  for (const Device& d : built_in_devices()) {
    const auto p = predict(kHongKim, example_kernel(), d);
    EXPECT_EQ(p.has_value(), d.hong_kim.has_value()) << d.name;
    able += p.has_value();
  }
  EXPECT_GE(able, 5);
}

} // namespace hong_kim_test
} // namespace warplens::model
