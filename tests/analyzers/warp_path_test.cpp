// SPDX-License-Identifier: Apache-2.0
// How long a warp takes alone, from the data flow along its path.
#include "analyzers/analyzers.hpp"
#include "analyzers/compiled_loops.hpp"
#include "emulator/ir/parse.hpp"
#include "tests/analyzers/warp_streams.hpp"
#include "tests/exec/kernel_test.hpp"

#include <ctime>

namespace warplens::analyzers {
namespace warp_path_test {

using testing::number;

struct Far {
  double l2 = 0, memory = 0; ///< cycles where the L2 cache, or device memory, has what is loaded
};

PathLatencies latencies() {
  PathLatencies l;
  l.results.fill(4);
  l.results[static_cast<std::size_t>(isa::InstructionClass::shared)] = 30;
  l.results[static_cast<std::size_t>(isa::InstructionClass::f32_divide)] = 64;
  l.results[static_cast<std::size_t>(isa::InstructionClass::f32_fast_divide)] = 64;
  l.predicate = 13;
  l.branch = 10;
  l.reconvergence = 3;
  l.divergence = 20;
  l.l1 = 30;
  l.l2 = 200;
  l.memory = 500;
  l.barrier = 10;
  l.barrier_of_warp = 2;
  return l;
}

/// `multiprocessors`: with first-level caches; 0: without caches.
Metrics metrics_of(const std::string& body, std::uint32_t threads, bool known = true, std::uint32_t blocks = 1,
                   int multiprocessors = 0, const PathLatencies& path_latency = latencies()) {
  tests::Emulated machine(tests::kernel_of(body), "k.ptx");
  const ir::Function& kernel = *machine.module().find("k");
  AnalysisOptions options;
  if (known) options.board.path_latency = path_latency;
  if (multiprocessors != 0) {
    options.board.multiprocessors = static_cast<std::uint32_t>(multiprocessors);
    options.board.l1 = {.bytes = 16384, .line_bytes = 128, .sector_bytes = 32, .ways = 4};
  }
  Analysis analysis(machine.module(), kernel, {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}}, options);
  tests::How run;
  run.blocks = blocks;
  run.threads = threads;
  run.words = 4096;
  run.workers = 2;
  run.watcher = &analysis;
  EXPECT_EQ(tests::run_on(machine, run).trap, "");
  return analysis.profile().metrics;
}

/// Of a block of instructions, without what comes before and after it.
Far cycles(const std::string& block, std::uint32_t threads = 32, const PathLatencies& path_latency = latencies()) {
  const auto of = [&](const std::string& instructions) {
    return metrics_of("bra BLOCK; BLOCK: " + instructions + " bra END; END: ret;", threads, true, 1, 0, path_latency);
  };
  const Metrics with = of(block), without = of("");
  return {number(with, "warp_path_l2_cycles") - number(without, "warp_path_l2_cycles"),
          number(with, "warp_path_memory_cycles") - number(without, "warp_path_memory_cycles")};
}

/// How often it waits for what misses the first cache.
double waits(const std::string& block) {
  const Far far = cycles(block);
  return (far.memory - far.l2) / (latencies().memory - latencies().l2);
}

TEST(WarpPath, NothingWithoutLatencies) {
  EXPECT_EQ(metrics_of("ret;", 32, false).find("warp_path_l2_cycles"), nullptr);
}

TEST(WarpPath, IndependentLoadsAreWaitedForTogether) {
  const std::string load = "ld.global.u32 %r10, [%rd1]; ", use = "add.u32 %r11, %r10, 1; ";
  EXPECT_EQ(waits(load), 0); // nobody uses it
  EXPECT_EQ(waits(load + use), 1);
  EXPECT_EQ(waits(load + use + "ld.global.u32 %r12, [%rd1+4]; add.u32 %r13, %r12, 1;"), 1); // the compiler moves it up
  EXPECT_EQ(waits("ld.global.u64 %rd10, [%rd1]; add.u64 %rd11, %rd1, %rd10; ld.global.u32 %r12, [%rd11];"
                  "add.u32 %r13, %r12, 1;"),
            2);
}

// The jump over the loop is there for warps that do not need it; none takes it.
TEST(WarpPath, ALoadIsNotWaitedForAgainBehindALoop) {
  const std::string load = "ld.global.u32 %r10, [%rd1]; mov.u32 %r11, 8; ",
                    loop = "LOOP: add.u32 %r10, %r10, %r11; mul.lo.u32 %r10, %r10, %r10; sub.u32 %r11, %r11, 1; "
                           "setp.ne.u32 %p2, %r11, 0; @%p2 bra LOOP; ";
  EXPECT_EQ(
      waits(load + "setp.eq.u32 %p1, %r10, %r10; @!%p1 bra BEHIND; " + loop + "BEHIND: st.global.u32 [%rd2], %r10;"),
      1);
  EXPECT_EQ(waits(load + "setp.gt.u32 %p1, %r3, 64; @%p1 bra BEHIND; " + loop + "BEHIND: st.global.u32 [%rd2], %r10;"),
            1);
}

TEST(WarpPath, BothSidesOfABranchWaitForALoadOnce) {
  EXPECT_EQ(
      waits("ld.global.u32 %r10, [%rd1]; setp.gt.u32 %p1, %r3, 16; @%p1 bra ELSE; "
            "div.u32 %r11, %r10, %r3; bra JOIN; ELSE: rem.u32 %r11, %r10, %r3; JOIN: st.global.u32 [%rd2], %r11;"),
      1);
}

TEST(WarpPath, LoadsStayBehindStoresAndBarriers) {
  const std::string before = "ld.global.u32 %r10, [%rd1]; add.u32 %r11, %r10, 1; ";
  const std::string store = "st.global.u32 [%rd2], %r11; ", use = " add.u32 %r13, %r12, 1;";
  EXPECT_EQ(waits(before + store + "ld.global.u32 %r12, [%rd1+4];" + use), 2);
  EXPECT_EQ(waits(before + store + "ld.global.nc.u32 %r12, [%rd1+4];" + use), 1);
  EXPECT_EQ(waits(before + "bar.sync 0; ld.global.nc.u32 %r12, [%rd1+4];" + use), 2);
}

TEST(WarpPath, NothingIsMixedIntoARoundedDivision) {
  const std::string independent = " add.f32 %f3, %f1, %f1;";
  EXPECT_EQ(cycles("div.rn.f32 %f2, %f1, %f1;" + independent).l2 -
                cycles("div.full.f32 %f2, %f1, %f1;" + independent).l2,
            64 + 1 - (3 + 1 + 0.5)); // the others issue in turn: three of the division, the addition, the branch
}

TEST(WarpPath, SpecialOperandsTakeLonger) {
  PathLatencies latency = latencies();
  latency.special_division = 240;
  const auto of = [&](const char* divisor) {
    return cycles(std::string("cvt.rn.f32.u32 %f1, %r3; div.rn.f32 %f2, 0f3f800000, ") + divisor + "; ", 32, latency)
        .l2;
  };
  EXPECT_EQ(of("%f1") - of("0f40000000"), 240); // by 0
}

TEST(WarpPath, ConstantsAtComputedAddressesAreLoaded) {
  PathLatencies latency = latencies();
  latency.constant_load = 34;
  const auto of = [&](const char* address) {
    return cycles(std::string("mov.u64 %rd10, out; ld.param.u64 %rd11, [") + address + "]; add.u64 %rd12, %rd11, 1; ",
                  32, latency)
        .l2;
  };
  EXPECT_EQ(of("%rd10") - of("out"), 34); // with the address
}

/// What no branch over it is replaced by a predicate for.
const std::string kUpdate = "red.global.add.u32 [%rd2], 1; ";

TEST(WarpPath, ABranchWaitsForItsPredicate) {
  const std::string compare = "setp.eq.u32 %p1, %r1, 999; ";
  EXPECT_EQ(cycles(compare + "@%p1 bra END; " + kUpdate).l2 - cycles(compare + kUpdate).l2,
            13 + 1 + 10 + 3 + 1.5 - 4); // without the branch, the update waits for its address
}

TEST(WarpPath, APredicateReplacesAShortBranch) {
  const auto body = [](int additions) {
    std::string text = "setp.eq.u32 %p1, %r1, 999; @%p1 bra END; ";
    for (int i = 0; i < additions; ++i) text += "add.u32 %r" + std::to_string(10 + i) + ", %r1, 1; ";
    return text;
  };
  EXPECT_EQ(cycles(body(8)).l2, cycles(body(7)).l2); // all wait for the predicate
  const double branch = 13 + 1 + 10 + 3, side = 9 + 0.5, ret = 1, predicated = 13 + 1;
  EXPECT_EQ(cycles(body(9)).l2 - cycles(body(8)).l2, branch + side + ret - predicated);
}

TEST(WarpPath, DivergedWarpsTakeBothSides) {
  const auto branch = [](const char* lanes) {
    return cycles(std::string("setp.lt.u32 %p1, %r1, ") + lanes + "; @%p1 bra END; " + kUpdate).l2;
  };
  EXPECT_EQ(branch("16") - branch("0"), 20);
}

// Device memory delivers two sectors at a time: a warp waits for the slowest of what it needs.
TEST(WarpPath, ALoadWaitsForAllItsFetches) {
  PathLatencies latency = latencies();
  latency.memory_doubling = 50;
  latency.line = 2;
  const auto of_words = [&](const std::string& lanes, int apart) {
    return cycles("and.b32 %r10, %r1, " + lanes + "; mul.wide.u32 %rd3, %r10, " + std::to_string(4 * apart) +
                      "; add.u64 %rd3, %rd1, %rd3; ld.global.u32 %r10, [%rd3]; add.u32 %r11, %r10, 1; ",
                  32, latency);
  };
  const Far one = of_words("0", 1);
  EXPECT_NEAR(of_words("15", 1).memory, one.memory, 1e-9); // two sectors, side by side
  EXPECT_NEAR(of_words("31", 1).memory, one.memory + 50, 1e-9);
  EXPECT_NEAR(of_words("31", 1).l2, one.l2, 1e-9);
  EXPECT_NEAR(of_words("31", 32).memory, one.memory + 5 * 50 + 31 * 2, 1e-9); // a sector of each of 32 lines
  EXPECT_NEAR(of_words("31", 32).l2, one.l2 + 31 * 2, 1e-9);
}

TEST(WarpPath, PassesOverTheBanksFollowEachOther) {
  PathLatencies latency = latencies();
  latency.shared_pass = 2;
  const auto apart = [&](const std::string& bytes) {
    return cycles(".shared .align 4 .b32 words[1024]; mov.u32 %r11, words; mad.lo.u32 %r10, %r1, " + bytes +
                      ", %r11; ld.shared.u32 %r12, [%r10]; add.u32 %r13, %r12, 1; ",
                  32, latency)
        .l2;
  };
  EXPECT_NEAR(apart("128") - apart("4"), 31 * 2, 1e-9);
  EXPECT_NEAR(apart("8") - apart("4"), 2, 1e-9);
}

TEST(WarpPath, PartsOfOtherMachineInstructionsTakeNoTime) {
  const std::string end = "mul.lo.u32 %r13, %r12, %r12; mul.lo.u32 %r14, %r13, %r13; ";
  const double one = cycles("xor.b32 %r12, %r1, %r2; " + end).l2;
  EXPECT_EQ(cycles("xor.b32 %r11, %r1, %r2; xor.b32 %r12, %r11, %r3; " + end).l2, one);
  EXPECT_EQ(cycles("xor.b32 %r11, %r1, %r2; xor.b32 %r12, %r11, %r3; and.b32 %r15, %r11, %r3; " + end).l2, one + 4);
}

TEST(WarpPath, RegistersLimitTheLoadsInFlight) {
  const auto body = [](int loads) {
    std::string text, uses;
    for (int i = 0; i < loads; ++i) {
      text += "ld.global.u32 %r" + std::to_string(10 + i) + ", [%rd1+" + std::to_string(4 * i) + "]; ";
      uses += "add.u32 %r40, %r40, %r" + std::to_string(10 + i) + "; ";
    }
    return text + uses;
  };
  EXPECT_EQ(waits(body(20)), 1);
  EXPECT_EQ(waits(body(21)), 2);
}

TEST(WarpPath, LoadsUnderPredicatesAreWaitedForTogether) {
  const auto skipped = [](const std::string& at, const std::string& end) {
    const std::string word = "%r2" + at;
    return "@%p1 bra " + end + "; ld.global.u32 " + word + ", [%rd1+" + at + "]; add.u32 %r11, %r11, " + word + "; " +
           end + ": ";
  };
  const std::string compare = "setp.eq.u32 %p1, %r1, 999; ";
  EXPECT_EQ(waits(compare + skipped("0", "A") + skipped("4", "B")), 1);
  const std::string barred = "bar.sync 0; "; // no load moves above it
  EXPECT_EQ(waits(compare + skipped("0", "A") + barred + skipped("4", "B")), 2);
}

TEST(WarpPath, TurnsOfAnUnrolledLoopAreWaitedForTogether) {
  const auto loop = [](const std::string& pragma) {
    return "mov.u32 %r12, 0; LOOP: " + pragma +
           " ld.global.u32 %r10, [%rd1]; add.u32 %r11, %r11, %r10; add.u32 %r12, %r12, 1; "
           "setp.lt.u32 %p1, %r12, 8; @%p1 bra LOOP;";
  };
  EXPECT_EQ(waits(loop("")), 2);
  EXPECT_EQ(waits(loop(".pragma \"nounroll\";")), 8);
}

// A loop that is too long to be unrolled is found in a time that does not grow with the square of its length.
TEST(WarpPath, LongLoopsAreNotSearched) {
  const auto seconds = [](int stores) {
    std::string body = "L: ";
    for (int i = 0; i < stores; ++i) body += "st.global.u32 [%rd2], %r1;\n";
    body += "add.u64 %rd2, %rd2, 4; add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 2; @%p0 bra L; ret;";
    const auto module = ir::parse(tests::kernel_of(body), "k.ptx");
    const ir::Function& kernel = *module->find("k");
    const std::vector<ir::Effect> effects = ir::effects(*module, kernel);
    CompiledCode code = compiled_code(kernel, ir::control_flow(kernel));
    double least = 1e9;
    for (int attempt = 0; attempt < 5; ++attempt) {
      const std::clock_t begin = std::clock();
      mark_unrolled(code, kernel, effects);
      least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    }
    return least;
  };
  EXPECT_LT(seconds(20000), 30 * seconds(2000)); // with a search for each store: 100
}

TEST(WarpPath, BarriersTakeLongerWithMoreWarps) {
  const std::string barrier = "bar.sync 0; mov.u32 %r10, 1;";
  EXPECT_EQ(cycles(barrier, 128).l2 - cycles(barrier, 64).l2, 2 * 2);
}

TEST(WarpPath, OfTheLongestWarps) {
  // In each block, warp 0 adds 50 times; in the second one, warp 1 waits for four loads and adds more.
  const std::string adds = "add.u32 %r11, %r10, 1; ";
  std::string fifty, loads;
  for (int i = 0; i < 50; ++i) fifty += adds;
  for (int i = 0; i < 4; ++i)
    loads += "ld.global.u64 %rd10, [%rd11]; and.b64 %rd10, %rd10, 0; add.u64 %rd11, %rd1, %rd10; ";
  for (int i = 0; i < 5; ++i) loads += fifty; // the longest of the launch
  const std::string body = "mov.u64 %rd11, %rd1; setp.lt.u32 %p3, %r1, 32;"
                           "@%p3 bra ADD; setp.ge.u32 %p5, %r3, 1; @%p5 bra LOAD; bra END;"
                           "ADD: " +
                           fifty + "bra END; LOAD: " + loads + "END: ret;";
  const Metrics metrics = metrics_of(body, 64, true, 2);
  const double far = latencies().memory - latencies().l2;
  EXPECT_DOUBLE_EQ(number(metrics, "warp_path_longest_memory_cycles") - number(metrics, "warp_path_longest_l2_cycles"),
                   4 * far);
  EXPECT_DOUBLE_EQ(number(metrics, "warp_path_longest_of_blocks_memory_cycles") -
                       number(metrics, "warp_path_longest_of_blocks_l2_cycles"),
                   4 * far / 2); // one of the two blocks
  EXPECT_DOUBLE_EQ(number(metrics, "warp_path_memory_cycles") - number(metrics, "warp_path_l2_cycles"), 4 * far / 4);
  EXPECT_GT(number(metrics, "warp_path_longest_of_blocks_l2_cycles"), number(metrics, "warp_path_l2_cycles"));
  EXPECT_GT(number(metrics, "warp_path_longest_l2_cycles"), number(metrics, "warp_path_longest_of_blocks_l2_cycles"));
}

TEST(WarpPath, LoadsOfBlocksThatAreNotSimulatedHitAsOftenAsTheOthers) {
  // The caches are those of the second multiprocessor; only the other block loads after its branch.
  const std::string load = "ld.global.u32 %r10, [%rd1]; add.u32 %r11, %r10, 1; bar.sync 0; ";
  const auto body = [](const std::string& before, const std::string& after) {
    return before + "setp.ne.u32 %p1, %r3, 0; @%p1 bra END; " + after + kUpdate + "END: ret;";
  };
  const auto longest = [&](const std::string& before, const std::string& after) {
    return number(metrics_of(body(before, after), 32, true, 2, 2), "warp_path_longest_memory_cycles");
  };
  const std::string four = load + load + load + load; // one of four misses
  const double of_load = longest(four, load) - longest(four, "bar.sync 0; ");
  const PathLatencies l = latencies();
  EXPECT_NEAR(of_load, 0.75 * l.l1 + 0.25 * l.memory, 1e-9);
}

TEST(WarpPath, WarpsThatLoadTheSameSideBySideWaitAsLong) {
  const auto path = [](std::uint32_t threads) {
    return number(metrics_of("ld.global.u32 %r10, [%rd1]; add.u32 %r11, %r10, 1; ret;", threads, true, 1, 1),
                  "warp_path_l2_cycles");
  };
  EXPECT_DOUBLE_EQ(path(128), path(32)); // three of four warps hit a line that is on its way
}

// Each block loads the same word. Of four waves on a multiprocessor, two are simulated: the second one stands for
// three.
TEST(WarpPath, LaterWavesFindWhatTheFirstOneHasBrought) {
  const Metrics metrics = metrics_of("ld.global.u32 %r10, [%rd1]; add.u32 %r11, %r10, 1; ret;", 32, true, 8, 2);
  EXPECT_DOUBLE_EQ(number(metrics, "l1tex__t_sector_hit_rate.pct"), 75);
  EXPECT_DOUBLE_EQ(number(metrics, "first_wave_from_memory.pct"), 100);
}

TEST(WarpPath, WarpsThatAllDoTheSame) {
  const Metrics metrics = metrics_of("ld.global.u32 %r10, [%rd1]; add.u32 %r11, %r10, 1; ret;", 128, true, 5);
  for (const char* far : {"l2", "memory"}) {
    const std::string end = std::string(far) + "_cycles";
    const double average = number(metrics, "warp_path_" + end);
    EXPECT_GT(average, 100);
    EXPECT_DOUBLE_EQ(number(metrics, "warp_path_longest_" + end), average);
    EXPECT_DOUBLE_EQ(number(metrics, "warp_path_longest_of_blocks_" + end), average);
  }
}

} // namespace warp_path_test
} // namespace warplens::analyzers
