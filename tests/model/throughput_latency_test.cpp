// SPDX-License-Identifier: Apache-2.0
// Model throughput-latency: its equations by hand. How well it predicts: tests/hardware/times_test.cpp.
#include "tests/model/launch_on_h200.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace warplens::model {
namespace throughput_latency_test {

Prediction predicted(const KernelStatistics& s, const Device& d = h200()) {
  return predicted_on_h200(kThroughputLatency, s, d);
}

TEST(ThroughputLatency, TermsByHand) {
  const Device d = h200();
  const ThroughputLatencyParameters& t = *d.throughput_latency;
  KernelStatistics s = launch_on_h200();
  s.l1_hit_ratio = 0.25;
  s.by_class[static_cast<std::size_t>(IssueClass::divide)] = 2;
  s.by_class[static_cast<std::size_t>(IssueClass::exponential)] = 4;
  s.integer_divisions = 1;
  const Prediction p = predicted(s, d);
  const double warps = 16, all = 264 * 8; // on a multiprocessor, and of the launch
  const double machine =
      100 + 2 * t.division_instructions + 4 * t.special_instructions + t.integer_division_instructions;
  EXPECT_DOUBLE_EQ(*p.term("issue"), warps * machine / t.issue);
  EXPECT_DOUBLE_EQ(*p.term("units"), warps * 6 / t.special_functions);
  EXPECT_DOUBLE_EQ(*p.term("wavefronts"), warps * 10 / t.wavefronts);
  EXPECT_DOUBLE_EQ(*p.term("L2"), all * 12 / t.l2_read + all * 8 / t.l2_write);
  EXPECT_DOUBLE_EQ(*p.term("memory_bytes"), all * 12 * 32); // what is stored stays in the second cache
  EXPECT_DOUBLE_EQ(*p.term("launch"), 264 * t.block_cycles + all * t.warp_cycles);
  const double wait = 0.25 * t.l1_latency + 0.75 * t.memory_latency;
  EXPECT_DOUBLE_EQ(*p.term("latency"), 300 * t.issue_chain + 2 * wait + 3 * t.barrier_latency);
  double sum = 0;
  for (const char* name : {"issue", "units", "wavefronts", "L2", "memory", "launch", "latency"})
    sum += std::pow(*p.term(name), t.overlap);
  EXPECT_NEAR(p.cycles, t.overhead + std::pow(sum, 1 / t.overlap), 1e-6 * p.cycles);
  EXPECT_DOUBLE_EQ(p.milliseconds, p.cycles / (t.clock_ghz * 1e6));
}

TEST(ThroughputLatency, MemoryDeliversWhatTheArgumentsHoldOnce) {
  KernelStatistics s = launch_on_h200();
  s.argument_bytes = 4096;
  EXPECT_DOUBLE_EQ(*predicted(s).term("memory_bytes"), 4096);
  s.l2_hit_ratio = 0.5; // simulated: it evicts words that are loaded again
  EXPECT_DOUBLE_EQ(*predicted(s).term("memory_bytes"), 264 * 8 * 16 * 32 * 0.5);
  s.argument_bytes.reset();
  s.l2_hit_ratio = 1;
  const Prediction p = predicted(s);
  EXPECT_DOUBLE_EQ(*p.term("memory_bytes"), 0);
  EXPECT_DOUBLE_EQ(*p.term("load_latency"), h200().throughput_latency->l2_latency);
  s.blocks = 1e6; // more than the second cache keeps is written back
  EXPECT_DOUBLE_EQ(*predicted(s).term("memory_bytes"), 1e6 * 8 * 8 * 32 - h200().throughput_latency->kept_bytes);
}

TEST(ThroughputLatency, ConversionsRunOnTheUnitsOfSpecialFunctions) {
  KernelStatistics s = launch_on_h200();
  s.by_class[static_cast<std::size_t>(IssueClass::double_precision)] = 8;
  s.wide_conversions = 3;
  const ThroughputLatencyParameters t = *h200().throughput_latency;
  EXPECT_DOUBLE_EQ(*predicted(s).term("units"), 16 * 3 / t.special_functions);
  s.by_class[static_cast<std::size_t>(IssueClass::exponential)] = 4;
  EXPECT_DOUBLE_EQ(*predicted(s).term("units"), 16 * 7 / t.special_functions);
  s.wide_conversions = 0;
  s.by_class[static_cast<std::size_t>(IssueClass::exponential)] = 0;
  EXPECT_DOUBLE_EQ(*predicted(s).term("units"), 16 * 8 / t.double_precision);
}

TEST(ThroughputLatency, AtomicsOnOneAddressFollowEachOther) {
  KernelStatistics s = launch_on_h200();
  EXPECT_DOUBLE_EQ(*predicted(s).term("atomics"), 0);
  s.atomic_transactions = 32;
  s.half_line_updates = 67584;
  s.word_float_updates = 0;
  s.kilobyte_updates = 67584;
  const ThroughputLatencyParameters t = *h200().throughput_latency;
  const Prediction p = predicted(s);
  EXPECT_DOUBLE_EQ(*p.term("atomics"), 67584 * *t.atomic_half_line);
  EXPECT_EQ(p.bound, "contended atomics");
  s.word_float_updates = 67584;
  EXPECT_DOUBLE_EQ(*predicted(s).term("atomics"), 67584 * *t.float_atomic_word);
  s.half_line_updates = s.word_float_updates = 10;
  EXPECT_DOUBLE_EQ(*predicted(s).term("atomics"), 67584 * *t.atomic_kilobyte);
  // Without the counts, the prediction says that it knows nothing of contention.
  s.half_line_updates.reset();
  EXPECT_NE(predicted(s).remarks.back().find("assumed to access different addresses"), std::string::npos);
  Device lacks = h200();
  lacks.throughput_latency->atomic_half_line = lacks.throughput_latency->float_atomic_word =
      lacks.throughput_latency->atomic_kilobyte = std::nullopt;
  EXPECT_DOUBLE_EQ(*predicted(s, lacks).term("atomics"), 0);
}

TEST(ThroughputLatency, ConstantsAtDifferentAddressesFollowEachOther) {
  KernelStatistics s = launch_on_h200();
  EXPECT_DOUBLE_EQ(*predicted(s).term("constants"), 0);
  s.constant_passes = 1000;
  const Prediction p = predicted(s);
  EXPECT_DOUBLE_EQ(*p.term("constants"), 16 * 1000 / *h200().throughput.constant_passes);
  EXPECT_EQ(p.bound, "constant memory");
  Device lacks = h200();
  lacks.throughput.constant_passes.reset();
  EXPECT_DOUBLE_EQ(*predicted(s, lacks).term("constants"), 0);
}

TEST(ThroughputLatency, SwapsOfASharedWordFollowEachOther) {
  KernelStatistics s = launch_on_h200();
  EXPECT_DOUBLE_EQ(*predicted(s).term("swaps"), 0);
  s.shared_word_swaps = 2560;
  const Prediction p = predicted(s);
  EXPECT_DOUBLE_EQ(*p.term("swaps"), *p.term("rounds") * 2560 * *h200().throughput_latency->shared_swap);
  EXPECT_EQ(p.bound, "contended atomics");
}

TEST(ThroughputLatency, SaysWhatBinds) {
  EXPECT_EQ(predicted(launch_on_h200()).bound, "overhead of the launch");
  KernelStatistics s = launch_on_h200();
  s.blocks = 1e6;
  EXPECT_EQ(predicted(s).bound, "memory");
  s.instructions = s.issue_chain = 1e5;
  EXPECT_EQ(predicted(s).bound, "compute");
  s = launch_on_h200();
  s.issue_chain = 1e6;
  EXPECT_EQ(predicted(s).bound, "latency");
  s = launch_on_h200();
  s.blocks = 1e6;
  s.global_requests = s.transactions_32 = s.load_transactions = s.store_transactions = s.l1_wavefronts = 0;
  s.load_waits = s.synchronizations = 0;
  s.instructions = s.issue_chain = 1;
  EXPECT_EQ(predicted(s).bound, "launch of blocks");
}

TEST(ThroughputLatency, BetterAddressesGain) {
  KernelStatistics s = launch_on_h200();
  s.blocks = 100000;
  s.bytes_per_request = 64; // 12 sectors would do
  const Prediction p = predicted(s);
  ASSERT_FALSE(p.benefits.empty());
  EXPECT_EQ(p.benefits.front().of, "transactions");
  EXPECT_GT(p.benefits.front().milliseconds, 0.2 * p.milliseconds);
  s.l1_hit_ratio = 0.75; // the 4 sectors that miss would still: half of the loaded 8
  KernelStatistics half = s;
  half.transactions_32 = 12;
  half.load_transactions = 8;
  half.store_transactions = 4;
  half.l1_hit_ratio = 0.5;
  half.l1_wavefronts = 6;
  const Prediction from = predicted(s), to = predicted(half);
  EXPECT_NEAR(from.benefits.front().milliseconds, from.milliseconds - to.milliseconds, 1e-9);
}

TEST(ThroughputLatency, NamesWhatIsMissing) {
  KernelStatistics s = launch_on_h200();
  s.l1_wavefronts.reset();
  const auto lacking = predict(kThroughputLatency, s, h200());
  ASSERT_FALSE(lacking);
  EXPECT_NE(lacking.error().list().front().message.find("missing 'l1_wavefronts'"), std::string::npos);
  EXPECT_NE(lacking.error().list().front().hint.find("roofline"), std::string::npos);
  const auto elsewhere = predict(kThroughputLatency, launch_on_h200(), *find_device("a100"));
  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(elsewhere.error().list().front().hint, "devices with these parameters: h200");
  s = launch_on_h200();
  s.resident_blocks = 9; // 72 warps
  EXPECT_FALSE(predict(kThroughputLatency, s, h200()));
  s = launch_on_h200();
  s.load_transactions = 20; // and 8 stored, of 24
  EXPECT_FALSE(predict(kThroughputLatency, s, h200()));
  s = launch_on_h200();
  s.atomic_transactions = 4;
  const Prediction p = predicted(s);
  EXPECT_NE(p.remarks.back().find("atomics"), std::string::npos);
}

} // namespace throughput_latency_test
} // namespace warplens::model
