// SPDX-License-Identifier: Apache-2.0
// Model critical-path: its equations by hand. How well it predicts: tests/hardware/public_programs_test.cpp.
#include "tests/model/launch_on_h200.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace warplens::model {
namespace critical_path_test {

CriticalPathParameters parameters() { return *h200().critical_path; }
Prediction predicted(const KernelStatistics& s) { return predicted_on_h200(kCriticalPath, s); }

TEST(CriticalPath, TermsByHand) {
  const CriticalPathParameters t = parameters();
  KernelStatistics s = launch_on_h200();
  s.l1_hit_ratio = 0.25;
  s.machine_instructions = 140;
  s.double_operations = 40;
  s.wide_conversions = 1;
  s.by_class[static_cast<std::size_t>(IssueClass::exponential)] = 4;
  s.executed_instructions = 50;
  const Prediction p = predicted(s);
  const double warps = 16, all = 264 * 8; // on a multiprocessor, and of the launch
  EXPECT_DOUBLE_EQ(*p.term("issue"), warps * 140 / t.issue);
  EXPECT_DOUBLE_EQ(*p.term("units"), warps * std::max(5 / t.special_functions, 40 / t.double_precision));
  EXPECT_DOUBLE_EQ(*p.term("wavefronts"), warps * 10 / t.wavefronts);
  EXPECT_DOUBLE_EQ(*p.term("port"), warps * 12 / *t.port_read + warps * 8 / *t.port_write);
  EXPECT_DOUBLE_EQ(*p.term("L2"), all * 12 / t.l2_read + all * 8 / t.l2_write);
  EXPECT_DOUBLE_EQ(*p.term("memory_bytes"), all * 12 * 32); // what is stored stays in the second cache
  EXPECT_DOUBLE_EQ(*p.term("memory"), all * 12 * 32 / t.memory_read);
  EXPECT_DOUBLE_EQ(*p.term("launch"), 264 * t.block_cycles + all * t.warp_cycles);
  EXPECT_DOUBLE_EQ(*p.term("latency"), 1600); // all that misses comes from memory
  EXPECT_DOUBLE_EQ(*p.term("barriers"), warps * 3 * path_latency(t, "latency_barrier_of_warp"));
  double busiest = 0, sum = 0;
  for (const char* name : {"issue", "units", "wavefronts", "port", "L2", "memory"})
    busiest = std::max(busiest, *p.term(name));
  EXPECT_DOUBLE_EQ(*p.term("busiest"), busiest);
  for (const char* name : {"busiest", "latency", "barriers"}) sum += std::pow(*p.term(name), t.overlap);
  const double overhead = t.overhead + t.first_access * (1 - 1 / 264.0) + 50 * t.first_execution;
  EXPECT_NEAR(p.cycles, overhead + std::max(std::pow(sum, 1 / t.overlap), *p.term("launch") + 1600), 1e-6 * p.cycles);
  EXPECT_DOUBLE_EQ(p.milliseconds, p.cycles / (t.clock_ghz * 1e6));
}

// Each unit is the busiest one once.
TEST(CriticalPath, UnitsThatExecuteFewerInstructionsThanTheSchedulersIssue) {
  const CriticalPathParameters t = parameters();
  const auto units = [](double alu, double products, double special) {
    KernelStatistics s = launch_on_h200();
    s.instructions = 1000;
    s.alu_operations = alu;
    s.by_class[static_cast<std::size_t>(IssueClass::integer_multiply)] = products;
    s.special_operations = special;
    return *predicted(s).term("units");
  };
  const double warps = 16;
  EXPECT_DOUBLE_EQ(units(500, 400, 10), warps * 500 / *t.alu);
  EXPECT_DOUBLE_EQ(units(400, 500, 10), warps * 500 / *t.integer_multiply);
  EXPECT_DOUBLE_EQ(units(400, 500, 300), warps * 300 / t.special_functions);
}

// Blocks start at their rate while others run; the last one still has to run.
TEST(CriticalPath, ALaunchEndsAfterItsLastBlockHasStarted) {
  const CriticalPathParameters t = parameters();
  KernelStatistics s = launch_on_h200();
  s.path_l2 = s.path_memory = 400;
  s.blocks = 132 * 100;
  s.l1_wavefronts = s.load_transactions = s.store_transactions = s.global_requests = 0;
  s.transactions_32 = s.synchronizations = 0;
  s.instructions = 1;
  const Prediction p = predicted(s);
  EXPECT_EQ(p.bound, "launch of blocks");
  EXPECT_NEAR(p.cycles, t.overhead + *p.term("launch") + 400, 1e-6 * p.cycles);
  s.blocks = 1; // starts within the overhead
  EXPECT_NEAR(predicted(s).cycles, t.overhead + 400, 1);
}

TEST(CriticalPath, TimePassesBetweenTwoBlocks) {
  KernelStatistics s = launch_on_h200();
  s.blocks = 132 * 24; // three rounds
  EXPECT_DOUBLE_EQ(*predicted(s).term("latency"), 3 * 1600 + 2 * *parameters().block_turnover);
}

// The first block of each multiprocessor waits for lines of constants and parameters, before all else.
TEST(CriticalPath, ConstantsAreReadOneLineAfterTheOther) {
  const CriticalPathParameters t = parameters();
  KernelStatistics s = launch_on_h200();
  const double before = predicted(s).cycles;
  s.constant_lines = 40;
  s.constant_segments = 10;
  s.parameter_lines = 5;
  EXPECT_NEAR(predicted(s).cycles - before,
              40 * *t.constant_line + 10 * *t.constant_segment + 5 * *t.constant_line_of_two, 1e-6);
  s.blocks = 66; // every other multiprocessor
  EXPECT_DOUBLE_EQ(*predicted(s).term("first_constants"), 45 * *t.constant_line + 10 * *t.constant_segment);
}

TEST(CriticalPath, MemoryOfTheHostIsSlow) {
  const CriticalPathParameters t = parameters();
  KernelStatistics s = launch_on_h200();
  const double read = 264 * 8 * 16 * 32, written = 264 * 8 * 8 * 32;
  s.argument_bytes = 1e9;
  EXPECT_DOUBLE_EQ(*predicted(s).term("host"), 0);
  s.host_bytes = 1e9;
  const Prediction p = predicted(s);
  EXPECT_DOUBLE_EQ(*p.term("host"), std::hypot(read / *t.host_read, written / *t.host_write));
  EXPECT_EQ(p.bound, "memory of the host");
  EXPECT_DOUBLE_EQ(*p.term("memory_bytes"), 0);
  const double l2 = path_latency(t, "latency_l2"), memory = path_latency(t, "latency_memory");
  EXPECT_DOUBLE_EQ(*p.term("latency"), 1000 + 600 * (*t.latency_host - l2) / (memory - l2));
  s.host_bytes = 0.25e9; // of what the arguments point to
  EXPECT_DOUBLE_EQ(*predicted(s).term("memory_bytes"), 0.75 * read);
  Device unmeasured = h200();
  unmeasured.critical_path->host_read.reset();
  EXPECT_DOUBLE_EQ(*predict(kCriticalPath, s, unmeasured)->term("memory_bytes"), read);
}

TEST(CriticalPath, DeviceMemoryDeliversEachSectorOnce) {
  KernelStatistics s = launch_on_h200();
  s.argument_bytes = 1e9;
  s.only_loaded_sectors = 264 * 8;
  s.written_sectors = 264 * 8 * 3;
  EXPECT_DOUBLE_EQ(*predicted(s).term("memory_bytes"), 264 * 8 * 4 * 32);
  EXPECT_DOUBLE_EQ(*predicted(s).term("cold"), 4 / 16.0);
}

TEST(CriticalPath, ThePathDependsOnWhatTheL2CacheHas) {
  KernelStatistics s = launch_on_h200();
  s.l2_hit_ratio = 1;
  EXPECT_DOUBLE_EQ(*predicted(s).term("latency"), 1000);
  s.l2_hit_ratio = 0.75;
  EXPECT_DOUBLE_EQ(*predicted(s).term("latency"), 1150);
  s.l2_hit_ratio.reset();
  s.argument_bytes = 264 * 8 * 16 * 32 / 2; // each byte is loaded twice
  EXPECT_DOUBLE_EQ(*predicted(s).term("latency"), 1300);
}

TEST(CriticalPath, MultiprocessorsOfTheFirstWaveWaitForMemorySideBySide) {
  KernelStatistics s = launch_on_h200();
  s.argument_bytes = 264 * 8 * 16 * 32 / 8; // each byte is loaded 8 times
  EXPECT_DOUBLE_EQ(*predicted(s).term("cold"), 1 / 8.0);
  s.first_wave_from_memory = 0.75;
  EXPECT_DOUBLE_EQ(*predicted(s).term("cold"), 0.75);
  s.blocks = 132 * 64; // several rounds, of which one is the first
  const double rounds = *predicted(s).term("rounds");
  s.first_wave_from_memory.reset();
  const double of_all = *predicted(s).term("cold");
  s.first_wave_from_memory = 0; // the L2 cache has it, whatever the size of the allocations
  EXPECT_GT(rounds, 1);
  EXPECT_DOUBLE_EQ(*predicted(s).term("cold"), of_all * (1 - 1 / rounds));
}

TEST(CriticalPath, ABlockTakesAsLongAsItsLongestWarp) {
  KernelStatistics s = launch_on_h200();
  s.blocks = 132 * 16; // two rounds
  const double turnover = *parameters().block_turnover;
  EXPECT_DOUBLE_EQ(*predicted(s).term("latency"), 2 * 1600 + turnover);
  s.longest_of_blocks = 150;
  EXPECT_DOUBLE_EQ(*predicted(s).term("latency"), 2 * 1.5 * 1600 + turnover);
  s.longest_warp = 1000; // one that takes longer than all rounds
  EXPECT_DOUBLE_EQ(*predicted(s).term("latency"), 10 * 1600);
}

TEST(CriticalPath, TheLongestWarpsHavePathsOfTheirOwn) {
  KernelStatistics s = launch_on_h200();
  s.blocks = 132 * 16; // two rounds
  const double turnover = *parameters().block_turnover;
  s.longest_of_blocks = 150;
  s.longest_warp = 1000;
  s.longest_of_blocks_path_l2 = 1100;
  s.longest_of_blocks_path_memory = 1700;
  s.longest_warp_path_l2 = 2400;
  s.longest_warp_path_memory = 3000;
  EXPECT_DOUBLE_EQ(*predicted(s).term("latency"), 2 * 1700 + turnover); // their instructions are quick
  s.longest_warp_path_memory = 4000;
  EXPECT_DOUBLE_EQ(*predicted(s).term("latency"), 4000);
  s.l2_hit_ratio = 0.75;
  EXPECT_DOUBLE_EQ(*predicted(s).term("latency"), 0.75 * 2400 + 0.25 * 4000);
  s.longest_warp_path_l2 = s.longest_of_blocks_path_l2 = 1; // some warp takes as long as the average one
  s.longest_warp_path_memory = s.longest_of_blocks_path_memory = 1;
  EXPECT_DOUBLE_EQ(*predicted(s).term("latency"), 2 * 1150 + turnover);
}

TEST(CriticalPath, SwapsOfASharedWordFollowEachOther) {
  KernelStatistics s = launch_on_h200();
  s.shared_word_swaps = 256;
  s.blocks = 132 * 16; // two rounds
  const Prediction p = predicted(s);
  EXPECT_DOUBLE_EQ(*p.term("swaps"), 2 * 256 * *parameters().shared_swap);
  EXPECT_EQ(p.bound, "contended atomics");
}

TEST(CriticalPath, SwapsOfAWordOfOtherWarpsFollowEachOther) {
  KernelStatistics s = launch_on_h200();
  const double alone = *predicted(s).term("latency");
  s.global_swaps = *s.blocks * *s.threads_per_block; // one a thread
  s.swaps_of_other_warps = 1000;
  s.swap_pairs = 1e6;
  const double chain = 1000 * *parameters().global_swap, repeated = 1e6 * *parameters().swap_pair;
  const Prediction p = predicted(s);
  EXPECT_DOUBLE_EQ(*p.term("swap_chain"), chain + repeated);
  EXPECT_DOUBLE_EQ(*p.term("latency"), alone + chain + repeated);
  EXPECT_EQ(p.bound, "contended atomics");
  *s.global_swaps *= 2; // threads make one after the other: half of the updates wait at the same time
  EXPECT_DOUBLE_EQ(*predicted(s).term("swap_chain"), chain + repeated / 2);
}

TEST(CriticalPath, ScatteredAccessesMoveWholePairsOfSectors) {
  const CriticalPathParameters t = parameters();
  KernelStatistics s = launch_on_h200();
  s.uncoalesced_requests = 3;
  s.uncoalesced_transactions = 8; // all 24 sectors
  s.store_transactions = 0;
  s.load_transactions = 24;
  s.argument_bytes = 1e9;
  const Prediction p = predicted(s);
  const double sectors = 264 * 8 * 24;
  EXPECT_DOUBLE_EQ(*p.term("L2"), sectors / t.l2_read_scattered);
  EXPECT_DOUBLE_EQ(*p.term("memory_bytes"), sectors * 64);
  EXPECT_DOUBLE_EQ(*p.term("memory"), sectors * 64 / t.memory_scattered);
}

// Whatever the number of blocks: the L2 cache has more to deliver than one multiprocessor takes.
TEST(CriticalPath, AMultiprocessorHasALimitOfItsOwn) {
  const CriticalPathParameters t = parameters();
  KernelStatistics s = launch_on_h200();
  s.uncoalesced_requests = 3;
  s.uncoalesced_transactions = 8; // all 24 sectors
  s.load_transactions = 10;
  s.store_transactions = 12;
  s.atomic_transactions = 2;
  const auto of_a_warp = 10 / *t.port_read_scattered + 12 / *t.port_write_scattered + 2 / *t.port_update_scattered;
  for (const double blocks : {1.0, 10.0, 132.0}) {
    s.blocks = blocks;
    EXPECT_DOUBLE_EQ(*predicted(s).term("port"), 8 * of_a_warp) << blocks;
  }
  s.blocks = 133;
  EXPECT_DOUBLE_EQ(*predicted(s).term("port"), 2 * 8 * of_a_warp);
  Device unmeasured = h200();
  unmeasured.critical_path->port_write.reset();
  EXPECT_DOUBLE_EQ(*predict(kCriticalPath, s, unmeasured)->term("port"), 0);
}

TEST(CriticalPath, OnlyLoneSectorsAreScattered) {
  const CriticalPathParameters t = parameters();
  KernelStatistics s = launch_on_h200();
  s.uncoalesced_requests = 3;
  s.uncoalesced_transactions = 8; // all 24 sectors
  s.store_transactions = 0;
  s.load_transactions = 24;
  s.argument_bytes = 1e9;
  s.lone_sectors = 6; // members of structures, say
  const Prediction p = predicted(s);
  const double sectors = 264 * 8 * 24;
  EXPECT_DOUBLE_EQ(*p.term("L2"), sectors * (0.25 / t.l2_read_scattered + 0.75 / t.l2_read));
  EXPECT_DOUBLE_EQ(*p.term("memory_bytes"), sectors * 32 * 1.25);
  EXPECT_DOUBLE_EQ(*p.term("memory"), sectors * 32 * 1.25 * (0.25 / t.memory_scattered + 0.75 / t.memory_read));
}

TEST(CriticalPath, AtomicsOnOneAddressFollowEachOther) {
  KernelStatistics s = launch_on_h200();
  s.atomic_transactions = 32;
  s.half_line_updates = 67584;
  const CriticalPathParameters t = parameters();
  const Prediction p = predicted(s);
  EXPECT_DOUBLE_EQ(*p.term("atomics"), 67584 * t.atomic_half_line);
  EXPECT_EQ(p.bound, "contended atomics");
  EXPECT_NE(p.remarks.back().find("atomics"), std::string::npos);
  s.word_float_updates = 67584;
  EXPECT_DOUBLE_EQ(*predicted(s).term("atomics"), 67584 * t.float_atomic_word);
  s.kilobyte_updates = 1e7;
  EXPECT_DOUBLE_EQ(*predicted(s).term("atomics"), 1e7 * t.atomic_kilobyte);
}

TEST(CriticalPath, SaysWhatBinds) {
  EXPECT_EQ(predicted(launch_on_h200()).bound, "overhead of the launch");
  KernelStatistics s = launch_on_h200();
  s.blocks = 1e6;
  EXPECT_EQ(predicted(s).bound, "memory");
  s.instructions = 1e5;
  EXPECT_EQ(predicted(s).bound, "compute");
  s = launch_on_h200();
  s.path_l2 = s.path_memory = 1e6;
  EXPECT_EQ(predicted(s).bound, "latency");
  s = launch_on_h200();
  s.instructions = s.synchronizations = 1e4;
  EXPECT_EQ(predicted(s).bound, "barriers");
}

TEST(CriticalPath, NamesWhatIsMissing) {
  KernelStatistics s = launch_on_h200();
  s.path_l2.reset();
  const auto lacking = predict(kCriticalPath, s, h200());
  ASSERT_FALSE(lacking);
  EXPECT_NE(lacking.error().list().front().message.find("missing 'path_l2'"), std::string::npos);
  const auto elsewhere = predict(kCriticalPath, launch_on_h200(), *find_device("gtx1080"));
  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(elsewhere.error().list().front().hint,
            "devices with these parameters: gtx980, p100, v100, t4, a100, h100, h200");
}

} // namespace critical_path_test
} // namespace warplens::model
