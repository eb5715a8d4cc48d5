// SPDX-License-Identifier: Apache-2.0
// Analyzers of whole kernels: independent loads, imbalance at barriers, arithmetic; and that the results of all
// analyzers do not depend on which worker runs which block.
#include "analyzers/analyzers.hpp"
#include "analyzers/issue_chain.hpp"
#include "analyzers/loops.hpp"
#include "tests/analyzers/warp_streams.hpp"
#include "tests/exec/kernel_test.hpp"

namespace warplens::analyzers {
namespace paths_test {

using testing::number;
using tests::kernel_of;

struct How {
  std::uint32_t blocks = 1, threads = 32;
  unsigned workers = 1;
  AnalysisOptions options{};
};

Profile profile_of(const std::string& body, const How& how = {}) {
  tests::Emulated machine(kernel_of(body), "k.ptx");
  const ir::Function& kernel = *machine.module().find("k");
  exec::LaunchShape shape{.grid = {how.blocks, 1, 1}, .block = {how.threads, 1, 1}};
  Analysis analysis(machine.module(), kernel, shape, how.options);
  tests::How run;
  run.blocks = how.blocks;
  run.threads = how.threads;
  run.words = 4096;
  run.workers = how.workers;
  run.watcher = &analysis;
  EXPECT_EQ(tests::run_on(machine, run).trap, "");
  return analysis.profile();
}

double independent(const std::string& body, const How& how = {}) {
  return number(profile_of(body, how).metrics, "independent_loads");
}
double waits(const std::string& body, const How& how = {}) {
  return number(profile_of(body, how).metrics, "load_waits_per_warp");
}

TEST(IndependentLoads, InOneBlock) {
  EXPECT_DOUBLE_EQ(independent("ld.global.u32 %r10, [%rd1]; ld.global.u32 %r11, [%rd1+4];"
                               "add.u32 %r12, %r10, %r11; st.global.u32 [%rd2], %r12; ret;"),
                   2);
  EXPECT_DOUBLE_EQ(independent("ld.global.u32 %r10, [%rd1]; add.u32 %r12, %r10, 1;"
                               "st.global.u32 [%rd2], %r12;"
                               "ld.global.u32 %r11, [%rd1+4]; add.u32 %r12, %r12, %r11;"
                               "st.global.u32 [%rd2], %r12; ret;"),
                   1);
  // A chain: the address of the second is what the first loads.
  EXPECT_DOUBLE_EQ(independent("ld.global.u64 %rd10, [%rd1]; add.u64 %rd11, %rd1, %rd10; ld.global.u64 %rd12, [%rd11];"
                               "st.global.u64 [%rd2], %rd12; ret;",
                               {.threads = 1}),
                   1);
  // A vector is one request; a store of something else waits for nothing; shared memory is near.
  EXPECT_DOUBLE_EQ(independent("ld.global.v2.u32 {%r10, %r11}, [%rd1]; ld.global.u32 %r12, [%rd1+8];"
                               "st.global.u32 [%rd2], %r1; ld.global.u32 %r13, [%rd1+12];"
                               "add.u32 %r14, %r11, 1; ret;"),
                   3);
  // Nobody uses them: in flight at the end. The same register again: the first must be there before.
  EXPECT_DOUBLE_EQ(independent("ld.global.u32 %r10, [%rd1]; ld.global.u32 %r11, [%rd1+4]; ret;"), 2);
  EXPECT_DOUBLE_EQ(independent("ld.global.u32 %r10, [%rd1]; ld.global.u32 %r10, [%rd1+4]; ret;"), 1);
  EXPECT_EQ(independent("st.global.u32 [%rd2], %r1; ret;"), -1); // no loads, nothing to say
}

// Unrolled by n: n loads, then n uses (Dasgupta's figure 7).
TEST(IndependentLoads, InLoops) {
  for (const int unrolled : {1, 2, 4}) {
    std::string body = "mov.u32 %r10, 0; mov.u32 %r20, 0;\nLOOP:\n";
    for (int i = 0; i < unrolled; ++i)
      body += "ld.global.u32 %r3" + std::to_string(i) + ", [%rd1+" + std::to_string(4 * i) + "];\n";
    for (int i = 0; i < unrolled; ++i) body += "add.u32 %r20, %r20, %r3" + std::to_string(i) + ";\n";
    body += "add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 10; @%p1 bra LOOP; st.global.u32 [%rd2], %r20; ret;";
    EXPECT_DOUBLE_EQ(independent(body), unrolled);
    EXPECT_DOUBLE_EQ(waits(body), 10);
  }
}

// The next iteration's load is issued before this one's is used: it is in flight across the back edge, and the first
// iteration waits with one load in flight while the others have loaded two.
TEST(IndependentLoads, PrefetchAcrossTheBackEdge) {
  const std::string body = "mov.u32 %r10, 0; mov.u32 %r20, 0; ld.global.u32 %r30, [%rd1];\n"
                           "LOOP: mov.u32 %r31, %r30; ld.global.u32 %r30, [%rd1+4];\n"
                           "ld.global.u32 %r32, [%rd1+8]; add.u32 %r20, %r20, %r31;\n"
                           "add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 10; @%p1 bra LOOP;\n"
                           "st.global.u32 [%rd2], %r20; ret;";
  // Waits: for the first load alone; nine times for two; at the end for the last two. 1 + 10 * 2 loads.
  EXPECT_DOUBLE_EQ(waits(body), 11);
  EXPECT_DOUBLE_EQ(independent(body), 21.0 / 11);
}

// Odd blocks load two, even ones one; both meet before the use. Each block is a warp.
TEST(IndependentLoads, PathsAreWeighedByHowOftenTheyRan) {
  const std::string body = "and.b32 %r10, %r3, 1; setp.eq.u32 %p1, %r10, 0; ld.global.u32 %r30, [%rd1];\n"
                           "mov.u32 %r31, 0; @%p1 bra MEET; ld.global.u32 %r31, [%rd1+4];\n"
                           "MEET: add.u32 %r32, %r30, %r31; st.global.u32 [%rd2], %r32; ret;";
  EXPECT_DOUBLE_EQ(independent(body, {.blocks = 4}), (2 * 1 + 2 * 2) / 4.0);
  EXPECT_DOUBLE_EQ(independent(body, {.blocks = 5, .workers = 3}), (3 * 1 + 2 * 2) / 5.0);
}

TEST(IndependentLoads, InstructionsBetweenALoadAndItsUse) {
  const auto distance = [](const std::string& body) { return number(profile_of(body).metrics, "load_use_distance"); };
  EXPECT_DOUBLE_EQ(distance("ld.global.u32 %r10, [%rd1]; add.u32 %r12, %r10, 1; ret;"), 0);
  EXPECT_DOUBLE_EQ(distance("ld.global.u32 %r10, [%rd1]; ld.global.u32 %r11, [%rd1+4]; mov.u32 %r12, 1;"
                            "add.u32 %r12, %r10, 1; ret;"),
                   1.5); // two, and one
  // Loaded before a loop of four instructions, used after its five turns.
  EXPECT_NEAR(distance("mov.u32 %r11, 0; ld.global.u32 %r10, [%rd1];\n"
                       "LOOP: mov.u32 %r12, %r11; add.u32 %r11, %r11, 1; setp.lt.u32 %p1, %r11, 5; @%p1 bra LOOP;\n"
                       "add.u32 %r12, %r10, 1; ret;"),
              20, 1e-6);
  // A turn ahead: issued in one turn of the loop, used at the begin of the next. The first and the last are not.
  EXPECT_DOUBLE_EQ(distance("mov.u32 %r11, 0; ld.global.u32 %r10, [%rd1]; \n"
                            "LOOP: add.u32 %r12, %r10, 1; ld.global.u32 %r10, [%rd1+4]; add.u32 %r11, %r11, 1;\n"
                            "setp.lt.u32 %p1, %r11, 5; @%p1 bra LOOP; ret;"),
                   (0 + 4 * 3 + 3) / 6.0);
}

// Text in front of a use may be long: a chain of blocks, each of which may be jumped over.
TEST(IndependentLoads, ManyBlocks) {
  std::string body = "ld.global.u32 %r10, [%rd1]; setp.eq.u32 %p1, %r1, 99;\n";
  for (int i = 0; i < 500; ++i)
    body += "@%p1 bra L" + std::to_string(i) + "; mov.u32 %r11, 1;\nL" + std::to_string(i) + ":\n";
  body += "add.u32 %r12, %r10, 1; ret;";
  EXPECT_DOUBLE_EQ(independent(body), 1);
  EXPECT_DOUBLE_EQ(waits(body), 1);
}

// A use right after each load: a compiler loads all four first. It does not load across a barrier, nor what depends on
// a load (the last of the chain), nor what this block does not use.
TEST(IndependentLoads, LoadsAreMovedUp) {
  std::string body = "mov.u32 %r20, 0;";
  for (const char* offset : {"0", "4", "8", "12"})
    body += "ld.global.u32 %r10, [%rd1+" + std::string(offset) + "]; add.u32 %r20, %r20, %r10;\n";
  EXPECT_DOUBLE_EQ(independent(body + "st.global.u32 [%rd2], %r20; ret;"), 4);
  EXPECT_DOUBLE_EQ(waits(body + "st.global.u32 [%rd2], %r20; ret;"), 1);
  std::string fenced = body;
  fenced.insert(fenced.find("ld.global.u32 %r10, [%rd1+8]"), "bar.sync 0; ");
  EXPECT_DOUBLE_EQ(independent(fenced + "st.global.u32 [%rd2], %r20; ret;"), 2);
  EXPECT_DOUBLE_EQ(independent("ld.global.u64 %rd10, [%rd1]; add.u64 %rd11, %rd1, %rd10; ld.global.u64 %rd12, [%rd11];"
                               "add.u64 %rd13, %rd12, 1; ld.global.u64 %rd14, [%rd1+8]; add.u64 %rd13, %rd13, %rd14;"
                               "st.global.u64 [%rd2], %rd13; ret;",
                               {.threads = 1}),
                   1.5); // the first and the last together, then the one in between
  EXPECT_DOUBLE_EQ(independent("ld.global.u32 %r10, [%rd1]; add.u32 %r12, %r10, 1; ld.global.u32 %r11, [%rd1+4]; ret;"),
                   1);
}

TEST(IndependentLoads, WhereAWarpWaits) {
  const Profile profile = profile_of("ld.global.u32 %r10, [%rd1]; ld.global.u32 %r11, [%rd1+4];"
                                     "add.u32 %r12, %r10, 1; st.global.u32 [%rd2], %r12; ret;");
  for (const InstructionRow& row : profile.instructions)
    EXPECT_EQ(number(row.metrics, "independent_loads"), row.ptx.starts_with("add.u32 %r12") ? 2 : -1) << row.ptx;
}

// The loop of the FMM's U-list (Dasgupta 2011, chapter 4): all threads of a block go through the source points of their
// box, four scalar loads a point. His "first degree" of duplicate loads is the number of warps of a block.
TEST(DuplicateLoads, TheUListOfTheFmm) {
  const std::string body = "mul.wide.u32 %rd10, %r3, 512; add.u64 %rd10, %rd1, %rd10; mov.u32 %r10, 0;\n"
                           "mov.f32 %f9, 0f00000000;\n"
                           "LOOP: ld.global.f32 %f1, [%rd10]; ld.global.f32 %f2, [%rd10+4];\n"
                           "ld.global.f32 %f3, [%rd10+8]; ld.global.f32 %f4, [%rd10+12];\n"
                           "add.f32 %f5, %f1, %f2; add.f32 %f5, %f5, %f3; fma.rn.f32 %f9, %f5, %f4, %f9;\n"
                           "add.u64 %rd10, %rd10, 16; add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 32;\n"
                           "@%p1 bra LOOP; st.global.f32 [%rd2], %f9; ret;";
  for (const std::uint32_t warps : {2u, 4u, 6u, 8u}) {
    How how{.blocks = 8, .threads = 32 * warps, .workers = 2, .options = {}};
    how.options.named = {"duplicate_loads"};
    how.options.board = {.multiprocessors = 2, .resident_ctas = 3};
    const Metrics m = profile_of(body, how).metrics;
    EXPECT_DOUBLE_EQ(number(m, "duplicate_loads_in_block"), warps);
    EXPECT_DOUBLE_EQ(number(m, "duplicate_loads"), warps); // each block has a box of its own
    EXPECT_DOUBLE_EQ(number(m, "independent_loads"), 4);
    EXPECT_EQ(number(m, "duplicate_accesses_looked_at.pct"), 100);
  }
}

// Without being asked for: of the blocks on one multiprocessor, here 1, 3 and 5 of the first wave and 7 of the second.
TEST(DuplicateLoads, ASampleInEveryLaunch) {
  const std::string body = "and.b32 %r10, %r3, 1; mul.wide.u32 %rd10, %r10, 128; add.u64 %rd10, %rd1, %rd10;\n"
                           "ld.global.u32 %r11, [%rd10]; st.global.u32 [%rd2], %r11; ret;";
  How how{.blocks = 8, .threads = 64, .workers = 2, .options = {}};
  how.options.board = {.multiprocessors = 2, .resident_ctas = 3};
  const Metrics sample = profile_of(body, how).metrics;
  EXPECT_EQ(number(sample, "duplicate_loads_in_block"), 2);
  EXPECT_EQ(number(sample, "duplicate_loads"), (3 * 2 + 2) / 2.0);
  EXPECT_EQ(number(sample, "duplicate_accesses_looked_at.pct"), 100 * 4.0 / 8);
  EXPECT_EQ(sample.integer("load_sectors_requested"), 4u * 2);
  how.options.named = {"duplicate_loads"};
  const Metrics all = profile_of(body, how).metrics;
  EXPECT_EQ(number(all, "duplicate_accesses_looked_at.pct"), 100);
  EXPECT_EQ(number(all, "duplicate_loads"), (3 * 2 * 2 + 2 + 2) / 4.0); // the second wave has one block on each
}

// One a cycle; 4 cycles after what it reads, 64 after a root; what follows a block begins anew. Nothing where the
// device has no latencies.
TEST(IssueChain, OneACycleWhenWhatIsReadIsReady) {
  How how{.blocks = 1, .threads = 64, .options = {}};
  EXPECT_EQ(profile_of("ret;", how).metrics.find("issue_chain_cycles_per_warp"), nullptr);
  auto& latency = how.options.board.result_latency.emplace();
  latency.fill(4);
  latency[static_cast<std::size_t>(isa::InstructionClass::square_root)] = 64;
  const auto cycles = [&](const std::string& block) {
    const std::string body = "bra BLOCK; BLOCK: " + block + " bra END; END: ret;";
    return number(profile_of(body, how).metrics, "issue_chain_cycles_per_warp");
  };
  const double others = cycles("") - 1; // without the branch
  EXPECT_EQ(cycles("mov.u32 %r10, 1; mov.u32 %r11, 2;"), others + 3);
  EXPECT_EQ(cycles("mov.u32 %r10, 1; add.u32 %r11, %r10, 2;"), others + 5);
  EXPECT_EQ(cycles("mov.u32 %r10, 1; add.u32 %r11, %r10, 2; mov.u32 %r12, 3; mov.u32 %r13, 3;"), others + 5);
  EXPECT_EQ(cycles("mov.u32 %r10, 1; bra NEXT; NEXT: add.u32 %r11, %r10, 2;"), others + 4);
  EXPECT_EQ(cycles("mov.f32 %f1, 0f3f800000; sqrt.rn.f32 %f2, %f1; add.f32 %f3, %f2, %f2;"), others + 4 + 64 + 1);
}

// What uses the result waits 30 cycles, and so does the end of the block; other loads count as arithmetic.
TEST(IssueChain, LoadsMayComeFromSharedMemory) {
  const tests::Emulated machine(
      kernel_of("ld.global.u32 %r10, [%rd1]; add.u32 %r11, %r10, 1; ld.global.u32 %r12, [%rd1]; ret;"), "k.ptx");
  const ir::Function& kernel = *machine.module().find("k");
  const auto first = static_cast<std::uint32_t>(kernel.instructions.size()) - 4;
  ResultLatencies latencies{};
  latencies.fill(4);
  latencies[static_cast<std::size_t>(isa::InstructionClass::shared)] = 30;
  const std::vector<exec::InstructionCount> counts(kernel.instructions.size(), {.warps = 2, .lanes = 0, .lanes_on = 0});
  const auto cycles = [&](const std::set<std::uint32_t>& from_shared) {
    return issue_cycles(machine.module(), kernel, counts, latencies, from_shared) / 2;
  };
  ASSERT_EQ(kernel.instructions[first].head(), "ld");
  const double start = cycles({first}) - 30 - 1; // when the address is known
  EXPECT_GT(cycles({first}), cycles({}));
  EXPECT_EQ(cycles({first + 2}), start + 30);
  EXPECT_EQ(cycles({first, first + 2}), start + 30 + 1);
}

// The inner of two loops, and what enters it; a block without a loop.
TEST(Loops, TheInnermostIsFound) {
  const tests::Emulated machine(kernel_of("OUTER: mov.u32 %r11, 0;\n"
                                          "INNER: add.u32 %r11, %r11, 1; setp.lt.u32 %p1, %r11, 9; @%p1 bra INNER;\n"
                                          "setp.lt.u32 %p1, %r11, %r1; @%p1 bra OUTER; ret;"),
                                "k.ptx");
  const ir::Function& kernel = *machine.module().find("k");
  const ir::ControlFlow flow = ir::control_flow(kernel);
  const auto count = static_cast<std::uint32_t>(flow.blocks.size()); // …, OUTER, INNER, the branch, ret
  const std::uint32_t outer = count - 4, inner = count - 3;
  const std::optional<Loop> loop = innermost_loop(flow, inner);
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->header, inner);
  EXPECT_EQ(loop->before, std::vector<std::uint32_t>{outer});
  ASSERT_TRUE(innermost_loop(flow, outer));
  EXPECT_EQ(innermost_loop(flow, outer)->header, outer);
  EXPECT_EQ(innermost_loop(flow, outer)->before, std::vector<std::uint32_t>{outer - 1});
  EXPECT_FALSE(innermost_loop(flow, count - 1));
}

// Warp w runs its loop w + 1 times: 3 warps, loops of 3 instructions.
TEST(BarrierWaits, TheBusiestWarpIsWaitedFor) {
  const std::string body = "shr.u32 %r10, %r1, 5; mov.u32 %r11, 0;\n"
                           "LOOP: add.u32 %r11, %r11, 1; setp.le.u32 %p1, %r11, %r10; @%p1 bra LOOP;\n"
                           "bar.sync 0; st.global.u32 [%rd2], %r1; bar.sync 0; ret;";
  const Metrics m = profile_of(body, {.blocks = 5, .threads = 96, .workers = 2}).metrics;
  EXPECT_EQ(m.integer("barrier_arrivals"), 5u * 6);
  EXPECT_EQ(m.integer("barrier_meetings"), 5u * 2);
  EXPECT_EQ(m.integer("barrier_waited_instructions"), 5u * (3 + 6)); // the second time they are even
  EXPECT_GT(number(m, "barrier_imbalance.pct"), 0);
}

TEST(BarrierWaits, NamedBarriersAreApart) {
  // Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2; warps 1 and 3 have run a loop before.
  const std::string body = "shr.u32 %r10, %r1, 5; shr.u32 %r12, %r10, 1; add.u32 %r12, %r12, 1; and.b32 %r13, %r10, 1;"
                           "mov.u32 %r11, 0; setp.eq.u32 %p1, %r13, 0; @%p1 bra MEET;\n"
                           "LOOP: add.u32 %r11, %r11, 1; setp.lt.u32 %p2, %r11, 4; @%p2 bra LOOP;\n"
                           "MEET: bar.sync %r12, 64; ret;";
  const Metrics m = profile_of(body, {.threads = 128}).metrics;
  EXPECT_EQ(m.integer("barrier_meetings"), 2u);
  EXPECT_EQ(m.integer("barrier_waited_instructions"), 2u * 12);
}

TEST(BarrierWaits, NoBarriers) {
  const Metrics m = profile_of("ret;").metrics;
  EXPECT_EQ(m.integer("barrier_meetings"), 0u);
  EXPECT_EQ(m.find("barrier_imbalance.pct"), nullptr);
}

TEST(Arithmetic, IntensityOfASum) {
  const Metrics m = profile_of("ld.global.f32 %f1, [%rd2]; fma.rn.f32 %f2, %f1, %f1, %f1; mul.f32 %f3, %f2, %f1;"
                               "add.f32 %f4, %f3, %f1; sqrt.rn.f32 %f5, %f4; st.global.f32 [%rd2], %f5; ret;",
                               {.threads = 64})
                        .metrics;
  EXPECT_EQ(m.integer("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"), 64u);
  EXPECT_EQ(m.integer("flop_count"), 64u * 5);
  EXPECT_EQ(m.integer("flop_count_sp_special"), 64u);
  EXPECT_EQ(m.integer("high_latency_instructions"), 2u);
  EXPECT_DOUBLE_EQ(number(m, "arithmetic_intensity"), 64.0 * 5 / (2 * 64 * 4));
}

std::string text(const Profile& profile) {
  std::string result;
  const auto add = [&](const Metrics& metrics) {
    for (const Metric& m : metrics.list()) result += std::string(m.name()) + "=" + std::to_string(m.number()) + "\n";
  };
  add(profile.metrics);
  for (const InstructionRow& row : profile.instructions) {
    result += row.ptx + " " + row.pattern + "\n";
    add(row.metrics);
  }
  return result;
}

constexpr CacheGeometry kL1 = {4096, 128, 128, 4, CacheGeometry::Store::evict};
constexpr CacheGeometry kL2 = {65536, 128, 32, 8, CacheGeometry::Store::back};

TEST(AllAnalyzers, SayTheSameWithAnyNumberOfWorkers) {
  // Rows, scattered words, what all blocks share, stores, atomics, a loop whose length differs, barriers.
  const std::string body = "mov.u32 %r11, 0; and.b32 %r12, %r2, 7; mul.lo.u32 %r13, %r2, %r2;\n"
                           "LOOP: add.u32 %r13, %r13, %r11; and.b32 %r14, %r13, 4095; mul.wide.u32 %rd10, %r14, 4;\n"
                           "add.u64 %rd10, %rd1, %rd10; ld.global.u32 %r15, [%rd10]; ld.global.u32 %r16, [%rd1];\n"
                           "add.u32 %r11, %r11, 1; setp.le.u32 %p1, %r11, %r12; @%p1 bra LOOP;\n"
                           "bar.sync 0; ld.global.u32 %r18, [%rd2]; red.global.add.u32 [%rd1+64], 1;"
                           "bar.sync 0; ret;";
  How how{.blocks = 24, .threads = 96, .workers = 1, .options = {}};
  how.options.named = {"all"};
  how.options.board = {
      .multiprocessors = 3, .resident_ctas = 2, .partitions = Partitions{8, 256}, .l1 = kL1, .l2 = kL2};
  const std::string one = text(profile_of(body, how));
  for (const char* metric :
       {"duplicate_loads=", "partition_camping.ratio=", "l1_lines_evicted=", "reuse_distance_mean="})
    EXPECT_NE(one.find(metric), std::string::npos) << metric;
  for (const unsigned workers : {2u, 7u}) {
    how.workers = workers;
    EXPECT_EQ(text(profile_of(body, how)), one) << workers;
  }
}

TEST(AllAnalyzers, AreChosenByName) {
  How how;
  how.options.named = {"reuse_distance"};
  const Metrics m = profile_of("ld.global.u32 %r10, [%rd1]; ret;", how).metrics;
  EXPECT_NE(m.find("reuse_first_uses"), nullptr);
  EXPECT_EQ(m.find("dram__sectors_read.sum"), nullptr);
  EXPECT_FALSE(check_names({"all", "caches", "divergence"}).has_errors());
  const Diagnostics errors = check_names({"cachse", "reuse-distance"});
  ASSERT_EQ(errors.error_count(), 2u);
  EXPECT_EQ(errors.list()[0].hint, "did you mean 'caches'?");
}

} // namespace paths_test
} // namespace warplens::analyzers
