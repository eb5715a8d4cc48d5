// SPDX-License-Identifier: Apache-2.0
// The parts of racecheck: clocks, records of lanes, the shadow, and launches of small kernels.
#include "emulator/exec/checks/race_check.hpp"
#include "emulator/exec/state/schedule.hpp"
#include "tests/exec/kernel_test.hpp"

#include <set>

namespace warplens::tests {
namespace {

using namespace exec::race;
using exec::ToolFinding;

TEST(RaceClock, KnowsThreadsWarpsAndBlocks) {
  Clock clock;
  clock.learn({who_thread(3, 5), {7, 2}});
  EXPECT_EQ(clock.of_thread({0, 3, 5}), (Moment{7, 2}));
  EXPECT_EQ(clock.of_thread({0, 3, 6}), (Moment{0, 0}));
  clock.learn({who_warp(3), {5, 5}});
  EXPECT_EQ(clock.of_thread({0, 3, 5}), (Moment{7, 5}));
  EXPECT_EQ(clock.of_thread({0, 3, 6}), (Moment{5, 5}));
  clock.learn({who_cta(0), {9, 1}});
  EXPECT_EQ(clock.of_thread({0, 8, 0}), (Moment{9, 1}));
  EXPECT_EQ(clock.of_thread({1, 8, 0}), (Moment{0, 0}));
}

TEST(RaceClock, CopiesAreIndependent) {
  Clock a;
  a.learn({who_warp(1), {1, 1}});
  Clock b = a;
  EXPECT_TRUE(a.same(b));
  b.learn({who_warp(2), {2, 2}});
  EXPECT_EQ(a.of(who_warp(2)), Moment{});
  a.learn({who_warp(3), {3, 3}});
  a.learn(b);
  EXPECT_EQ(a.of(who_warp(2)), (Moment{2, 2}));
  EXPECT_EQ(a.of(who_warp(3)), (Moment{3, 3}));
}

TEST(RaceRecord, SaysWhichLaneAccessedAByte) {
  Record record;
  record.lanes = 0xf0;
  EXPECT_EQ(record.lanes_at(64), 0xf0u);
  record.what |= Record::kSequence;
  record.lanes = Record::pack(-64, 4); // lane 16 is at 0
  EXPECT_EQ(record.lanes_at(0), 1u << 16);
  EXPECT_EQ(record.lanes_at(7), 1u << 17);
  record.lanes = Record::pack(124, -4); // lane 0 is at 124, lane 31 at 0
  EXPECT_EQ(record.lanes_at(127), 1u << 0);
  EXPECT_EQ(record.lanes_at(120), 1u << 1);
  EXPECT_EQ(record.lanes_at(3), 1u << 31);
  record.lanes = Record::pack(0, 8); // 4 bytes of every 8
  EXPECT_EQ(record.lanes_at(24), 1u << 3);
}

TEST(RaceShadow, QuartersKeepTheLanes) {
  Record record;
  record.granules = 0x0000ff00;
  record.what |= Record::kSequence;
  record.lanes = Record::pack(0, 4);
  EXPECT_EQ(quartered(record, 0).granules, 0u);
  const Record second = quartered(record, 1);
  EXPECT_EQ(second.granules, 0xffffffffu);
  EXPECT_EQ(second.lanes_at(5), 1u << 9); // byte 37 of the line
}

TEST(RaceShadow, ALineTakesLessThanSixteenBytesForEachOfItsBytes) {
  constexpr std::size_t kMostRecords = 32 + 64;
  EXPECT_LE(sizeof(Line) + kMostRecords * sizeof(Record), 16 * kLineBytes);
}

TEST(Schedule, EachSeedIsAPermutation) {
  for (const std::uint64_t count : {1, 2, 7, 64, 1000})
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      std::set<std::uint64_t> all;
      for (std::uint64_t i = 0; i < count; ++i) all.insert(exec::scheduled(i, count, seed));
      EXPECT_EQ(all.size(), count);
      EXPECT_EQ(*all.rbegin(), count - 1);
    }
  EXPECT_EQ(exec::scheduled(0, 8, 0), 0u);
  EXPECT_EQ(exec::scheduled(0, 8, 1), 7u);
  EXPECT_NE(exec::scheduled(0, 1000, 2), exec::scheduled(0, 1000, 3));
}

struct Checked {
  std::vector<exec::ToolFindingGroup> findings;
  std::string trap;
};

Checked check(const std::string& body, std::uint32_t blocks, std::uint32_t threads, int sm = 90, unsigned workers = 1,
              bool same_values = true) {
  Emulated machine(kernel_of(body, ".shared .align 16 .b8 s[1024];\n", sm), "race.ptx");
  exec::RaceCheck races({same_values});
  Emulated::Request request;
  request.kernel = "k";
  request.shape.grid[0] = blocks;
  request.shape.block[0] = threads;
  request.workers = workers;
  request.tools.racecheck = true;
  request.checkers = {&races};
  request.arguments = {{machine.buffer(std::vector<std::uint32_t>(4096, 0)), 8}};
  Checked checked;
  checked.trap = machine.run(request);
  checked.findings = machine.findings();
  return checked;
}

// %r10: the place of this thread's word in s; %r11: that of the word of its mirror image in the block
const std::string kMirror =
    "shl.b32 %r10, %r1, 2; sub.u32 %r11, %r4, 1; sub.u32 %r11, %r11, %r1; shl.b32 %r11, %r11, 2;"
    "mov.u32 %r12, s; add.u32 %r10, %r10, %r12; add.u32 %r11, %r11, %r12;\n";

TEST(Races, AStoreAndALoadOfSharedMemory) {
  const Checked racy = check(kMirror + "st.shared.u32 [%r10], %r1; ld.shared.u32 %r13, [%r11];", 1, 64);
  ASSERT_EQ(racy.findings.size(), 1u);
  const ToolFinding& f = racy.findings[0].first;
  EXPECT_EQ(f.kind, ToolFinding::Kind::raw);
  EXPECT_EQ(f.at.bytes, 4u);
  EXPECT_EQ(f.at.cta, 0u);
  EXPECT_NE(f.at.thread / 32, f.other->thread / 32);
  EXPECT_TRUE(
      check(kMirror + "st.shared.u32 [%r10], %r1; bar.sync 0; ld.shared.u32 %r13, [%r11];", 1, 64).findings.empty());
}

TEST(Races, WithinAWarpOnlyWhereThreadsAreIndependent) {
  const std::string body = kMirror + "st.shared.u32 [%r10], %r1; ld.shared.u32 %r13, [%r11];";
  EXPECT_EQ(check(body, 1, 32, 70).findings.size(), 1u);
  EXPECT_TRUE(check(body, 1, 32, 60).findings.empty());
}

TEST(Races, ThreadsThatHaveExitedCountAsArrived) {
  const std::string body = kMirror + "st.shared.u32 [%r10], %r1; setp.ge.u32 %p1, %r1, 32; @%p1 ret;"
                                     "bar.sync 0; ld.shared.u32 %r13, [%r11];";
  EXPECT_TRUE(check(body, 1, 64).findings.empty());
}

TEST(Races, ManyReadersOfOneWord) {
  const std::string read = "ld.global.u32 %r10, [%rd1];", write = "st.global.u32 [%rd1], %r2;";
  EXPECT_TRUE(check(read, 100, 256).findings.empty());
  const Checked racy = check("ld.global.u32 %r10, [%rd1]; setp.ne.u32 %p1, %r2, 0; @%p1 ret;" + write, 100, 256);
  ASSERT_FALSE(racy.findings.empty());
  EXPECT_EQ(racy.findings[0].first.at.bytes, 4u);
}

TEST(Races, StoresOfTheSameValueAreAClass) {
  const std::string same = "st.global.u32 [%rd1], 5;", different = "st.global.u32 [%rd1], %r2;";
  const Checked benign = check(same, 2, 1);
  ASSERT_EQ(benign.findings.size(), 1u);
  EXPECT_NE(benign.findings[0].first.detail.find("the same value"), std::string::npos);
  EXPECT_TRUE(check(same, 2, 1, 90, 1, false).findings.empty());
  EXPECT_EQ(check(different, 2, 1, 90, 1, false).findings.size(), 1u);
  EXPECT_EQ(check(different, 1, 32, 90, 1, false).findings.size(), 1u); // lanes of one instruction
}

TEST(Races, FindingsDoNotDependOnTheNumberOfThreads) {
  const std::string body = "shr.u32 %r10, %r2, 3; mul.wide.u32 %rd3, %r10, 4; add.u64 %rd3, %rd1, %rd3;"
                           "st.global.u32 [%rd3], %r2; ld.global.u32 %r11, [%rd3+4];";
  const auto places = [&](unsigned workers) {
    std::vector<std::tuple<ToolFinding::Kind, std::uint64_t, std::uint32_t, std::uint64_t, std::uint64_t>> list;
    for (const auto& g : check(body, 40, 64, 90, workers).findings)
      list.emplace_back(g.first.kind, g.first.at.cta, g.first.at.thread, g.first.at.address - g.first.other->address,
                        g.count);
    return list;
  };
  EXPECT_FALSE(places(1).empty());
  EXPECT_EQ(places(4), places(1));
}

} // namespace
} // namespace warplens::tests
