// SPDX-License-Identifier: Apache-2.0
// The parts of racecheck: clocks, records of lanes, the shadow, and launches of small kernels.
#include "emulator/exec/checks/race_check.hpp"
#include "emulator/exec/memory/heap.hpp"
#include "emulator/exec/state/schedule.hpp"
#include "tests/exec/kernel_test.hpp"

#include <set>

namespace warplens::tests {
namespace races_test {

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

// What is known of all lanes of a warp, one by one, is known of the warp; what differs is kept for each lane.
TEST(RaceClock, LanesAddUpToTheirWarp) {
  Clock a, b;
  for (int lane = 0; lane < 16; ++lane) a.learn({who_thread(4, lane), {3, 3}});
  for (int lane = 16; lane < 32; ++lane) b.learn({who_thread(4, lane), {5, 4}});
  EXPECT_EQ(a.of(who_warp(4)), Moment{});
  Clock sum = a;
  sum.learn(b);
  EXPECT_EQ(sum.of(who_warp(4)), (Moment{3, 3}));
  EXPECT_EQ(sum.of_thread({0, 4, 15}), (Moment{3, 3}));
  EXPECT_EQ(sum.of_thread({0, 4, 16}), (Moment{5, 4}));
  EXPECT_EQ(a.of_thread({0, 4, 16}), Moment{}) << "clocks share arrays";
  EXPECT_EQ(b.of_thread({0, 4, 15}), Moment{});
}

TEST(RaceClock, AnOlderOrSmallerClockTeachesNothing) {
  Clock large, small;
  for (std::uint32_t warp = 0; warp < 100; ++warp) large.learn({who_warp(warp), {9, 9}});
  small.learn({who_thread(50, 3), {8, 8}});
  const Clock before = large;
  large.learn(small);
  EXPECT_TRUE(large.same(before));
  small.learn({who_thread(50, 3), {10, 8}});
  large.learn(small);
  EXPECT_EQ(large.of_thread({0, 50, 3}), (Moment{10, 9}));
  EXPECT_EQ(large.of_thread({0, 50, 4}), (Moment{9, 9}));
  EXPECT_EQ(before.of_thread({0, 50, 3}), (Moment{9, 9}));
}

TEST(RaceClock, LanesThatKnowTheSameShareWhatTheyLearn) {
  Clock known, news;
  known.learn({who_warp(1), {1, 1}});
  news.learn({who_warp(2), {2, 2}});
  Clock lanes[3] = {known, known, {}};
  Lesson lesson;
  for (Clock& lane : lanes) lesson.teach(lane, news);
  EXPECT_TRUE(lanes[0].same(lanes[1]));
  EXPECT_EQ(lanes[0].of(who_warp(1)), (Moment{1, 1}));
  EXPECT_EQ(lanes[0].of(who_warp(2)), (Moment{2, 2}));
  EXPECT_EQ(lanes[2].of(who_warp(1)), Moment{});
  EXPECT_EQ(lanes[2].of(who_warp(2)), (Moment{2, 2}));
  EXPECT_EQ(known.of(who_warp(2)), Moment{});
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

TEST(RaceShadow, ALineTakesAtMostSixteenBytesForEachOfItsBytes) {
  const auto records = [](Records::Limits most) { return (most.reads + most.writes) * sizeof(Record); };
  constexpr std::size_t line = sizeof(Line) + sizeof(History);
  EXPECT_LE(line + records(Records::kOfWords) + 2 * 32 * sizeof(Cell), 16 * kLineBytes);
  EXPECT_LE(sizeof(Line) + 4 * (line + records(Records::kOfBytes)), 16 * kLineBytes);
}

TEST(RaceShadow, CellsKeepTheLanes) {
  for (const exec::Mask lanes : {1u, 1u << 31, ~0u, 0xffffu, 0xffff0000u}) {
    Record record;
    record.time = 7;
    record.warp = 9;
    record.granules = 4;
    record.lanes = lanes;
    record.what = Record::describe(1234, exec::AccessKind::atomic, Scope::gpu, 2);
    const std::optional<Cell> cell = Cell::of(record);
    ASSERT_TRUE(cell);
    const Record again = cell->record(4);
    EXPECT_EQ(again.lanes, lanes);
    EXPECT_EQ(again.what, record.what);
    EXPECT_EQ(again.warp, 9u);
    EXPECT_EQ(again.time, 7u);
  }
  Record record;
  record.lanes = 3; // neither one lane nor all of a half
  EXPECT_FALSE(Cell::of(record));
  record.lanes = 1;
  record.what = Record::kAsynchronous;
  EXPECT_FALSE(Cell::of(record));
}

TEST(RaceShadow, BothHalvesOfAWarpMayAccessTheSame) {
  Record record;
  record.what |= Record::kSequence | Record::kMirrored;
  record.lanes = Record::pack(0, 4);
  EXPECT_EQ(record.lanes_at(12), 1u << 3 | 1u << 19);
  EXPECT_FALSE(record.same_lanes(record));
}

// What is forgotten is a part of a line: the rest of it remains.
TEST(RaceShadow, ForgetsNoMoreThanTheBytes) {
  for (const bool fine : {false, true}) {
    Shadow shadow;
    Line& line = shadow.line(256);
    Record all;
    all.time = 1;
    all.granules = ~0u;
    all.lanes = 2;
    History& history = line.remember_all(false, Records::kOfWords, shadow.pool());
    history.writes.add(all, 4, shadow.pool());
    history.writes.set_cell(9, Cell{}, shadow.pool());
    if (fine) line.refine(shadow.pool());
    shadow.forget(256 + 32, 64);
    const auto covers = [&](std::uint32_t word) {
      return fine ? (*line.fine)[word / 8].history->writes.covers(0xfu << word % 8 * 4)
                  : line.history->writes.covers(1u << word);
    };
    for (std::uint32_t word = 0; word < 32; ++word) EXPECT_EQ(covers(word), word < 8 || word >= 24) << word;
  }
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
  std::size_t shadow_bytes = 0;
};

Checked check(const std::string& body, std::uint32_t blocks, std::uint32_t threads, int sm = 90, unsigned workers = 1,
              bool same_values = true) {
  Emulated machine(kernel_of(body,
                             ".shared .align 16 .b8 s[4096];\n"
                             ".extern .func (.param .b64 p) malloc(.param .b64 n);\n"
                             ".extern .func free(.param .b64 p);\n",
                             sm),
                   "race.ptx");
  exec::RaceCheck races({same_values});
  Emulated::Request request;
  request.kernel = "k";
  request.shape.grid[0] = blocks;
  request.shape.block[0] = threads;
  request.workers = workers;
  request.tools.racecheck = true;
  request.checkers = {&races};
  request.arguments = {{machine.buffer(std::vector<std::uint32_t>(4096, 0)), 8}};
  exec::Heap heap(machine.buffer(std::vector<std::uint32_t>(4096, 0)), 16384);
  request.heap = &heap;
  Checked checked;
  checked.trap = machine.run(request);
  checked.findings = machine.findings();
  checked.shadow_bytes = races.shadow_bytes();
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

// Few reads and more than are kept until a write follows; after the barrier, they are forgotten.
TEST(Races, AStoreAfterReadsOfSharedMemory) {
  for (const std::string times : {"2", "300"}) {
    const std::string reads = kMirror +
                              "mov.u32 %r13, 0;\nagain: ld.shared.u32 %r14, [%r11]; add.u32 %r13, %r13, 1;\n" +
                              "setp.lt.u32 %p2, %r13, " + times + "; @%p2 bra again;\n",
                      half = "setp.lt.u32 %p1, %r1, 512; @%p1 ret;", store = "st.shared.u32 [%r10], %r1;",
                      barrier = "bar.sync 0;";
    const Checked racy = check(reads + half + store, 2, 1024);
    ASSERT_EQ(racy.findings.size(), 1u);
    const ToolFinding& f = racy.findings[0].first;
    EXPECT_EQ(f.kind, ToolFinding::Kind::war);
    EXPECT_EQ(f.at.thread + f.other->thread, 1023u);
    EXPECT_EQ(racy.findings[0].count, 1024u) << "half of the threads of each block";
    EXPECT_TRUE(check(reads + barrier + half + store, 2, 1024).findings.empty());
    EXPECT_TRUE(check(reads + barrier + store + barrier + "ld.shared.u32 %r14, [%r11];", 2, 1024).findings.empty());
  }
}

TEST(Races, WithinAWarpOnlyWhereThreadsAreIndependent) {
  const std::string body = kMirror + "st.shared.u32 [%r10], %r1; ld.shared.u32 %r13, [%r11];";
  EXPECT_EQ(check(body, 1, 32, 70).findings.size(), 1u);
  EXPECT_TRUE(check(body, 1, 32, 60).findings.empty());
}

// Each warp starts its copies after those of the warp before it.
TEST(Races, ABarrierKnowsTheCopiesThatEachWarpHasWaitedFor) {
  const std::string group = "cp.async.ca.shared.global [%r10], [%rd2], 4; cp.async.commit_group;\n",
                    next = "cp.async.ca.shared.global [%r10+512], [%rd2+512], 4; cp.async.commit_group;\n",
                    wait = "cp.async.wait_group 1; bar.sync 0;\n";
  EXPECT_TRUE(check(kMirror + group + next + wait + "ld.shared.u32 %r13, [%r11];", 1, 128).findings.empty());
  EXPECT_FALSE(check(kMirror + group + next + wait + "ld.shared.u32 %r13, [%r11+512];", 1, 128).findings.empty());
  EXPECT_TRUE(check(kMirror + "setp.gt.u32 %p3, %r1, 70; @%p3 bra B;\n" + group + "B: " + next + wait +
                        "ld.shared.u32 %r13, [%r12+280];",
                    1, 128)
                  .findings.empty());
}

// Blocks use the same shared memory one after the other.
TEST(Races, CopiesOfEarlierBlocksAreForgotten) {
  const std::string copy = "cp.async.ca.shared.global [%r10], [%rd2], 4; cp.async.wait_all; ";
  EXPECT_TRUE(check(kMirror + copy + "st.shared.u8 [%r10], 1;", 8, 32).findings.empty());
  EXPECT_FALSE(check(kMirror + copy + "st.shared.u8 [%r11], 1;", 8, 32).findings.empty());
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

// Scattered loads of 4096 words by 16 384 threads, 16 loads each: %r12 is a pseudo-random word.
const std::string kScatteredLoads =
    "mul.lo.u32 %r12, %r2, 747796405; mov.u32 %r13, 0;\n"
    "again: mad.lo.u32 %r12, %r12, 1664525, 1013904223; shr.u32 %r14, %r12, 20;\n"
    "mul.wide.u32 %rd3, %r14, 4; add.u64 %rd3, %rd1, %rd3; ld.global.u32 %r15, [%rd3];\n"
    "add.u32 %r13, %r13, 1; setp.lt.u32 %p2, %r13, 16; @%p2 bra again;\n";

TEST(Races, ManyScatteredReadersTakeBoundedMemory) {
  const Checked quiet = check(kScatteredLoads, 64, 256);
  EXPECT_TRUE(quiet.findings.empty());
  EXPECT_GT(quiet.shadow_bytes, 0u);
  // The pool of the shadow takes memory in large pieces: up to twice of what is used.
  EXPECT_LE(quiet.shadow_bytes, 2 * 16 * 4096u * 4u);
  // The last block writes what the others read.
  const Checked racy =
      check(kScatteredLoads + "setp.ne.u32 %p1, %r3, 63; @%p1 ret; st.global.u32 [%rd3], %r2;", 64, 256);
  ASSERT_FALSE(racy.findings.empty());
  EXPECT_EQ(racy.findings[0].first.kind, ToolFinding::Kind::war);
}

TEST(Races, ScatteredAtomicsAreNoRacesAndAPlainReadOfThemIs) {
  const std::string atomics = "mul.lo.u32 %r12, %r2, 747796405; shr.u32 %r14, %r12, 24; shl.b32 %r14, %r14, 2;\n"
                              "mov.u32 %r15, s; add.u32 %r15, %r15, %r14; mov.u32 %r13, 0;\n"
                              "again: atom.shared.add.u32 %r16, [%r15], 1; add.u32 %r13, %r13, 1;\n"
                              "setp.lt.u32 %p2, %r13, 8; @%p2 bra again;\n";
  const std::string mine = "shl.b32 %r10, %r1, 2; mov.u32 %r12, s; add.u32 %r10, %r10, %r12; ";
  const std::string read = mine + "ld.shared.u32 %r13, [%r10];";
  EXPECT_TRUE(check(atomics, 4, 256).findings.empty());
  EXPECT_TRUE(check(atomics + "bar.sync 0;" + read, 4, 256).findings.empty());
  const Checked racy = check(atomics + read, 4, 256);
  ASSERT_EQ(racy.findings.size(), 1u);
  EXPECT_EQ(racy.findings[0].first.kind, ToolFinding::Kind::raw);
  const std::string clear = mine + "st.shared.u32 [%r10], 0; bar.sync 0;";
  EXPECT_TRUE(check(clear + atomics, 4, 256).findings.empty()) << "each block has shared memory of its own";
}

// Each half of a warp reads the same row; then the upper half overwrites what the lower half reads.
TEST(Races, HalvesOfAWarpReadTheSameRow) {
  const std::string row = "and.b32 %r10, %r1, 15; shl.b32 %r10, %r10, 2; mov.u32 %r12, s; add.u32 %r10, %r10, %r12;"
                          "ld.shared.u32 %r13, [%r10];";
  const std::string write = "setp.lt.u32 %p1, %r1, 16; @%p1 ret; st.shared.u32 [%r10], %r1;";
  EXPECT_TRUE(check(row, 1, 32).findings.empty());
  const Checked racy = check(row + write, 1, 32);
  ASSERT_EQ(racy.findings.size(), 1u);
  EXPECT_EQ(racy.findings[0].first.kind, ToolFinding::Kind::war);
  EXPECT_TRUE(check(row + "bar.warp.sync -1;" + write, 1, 32).findings.empty());
}

const std::string kMalloc = "{ .param .b64 n; .param .b64 p; st.param.b64 [n], 64; call.uni (p), malloc, (n);"
                            "ld.param.b64 %rd4, [p]; }\n",
                  kFree = "{ .param .b64 p; st.param.b64 [p], %rd4; call.uni free, (p); }\n";

TEST(Races, BlocksOfTheHeapAreGlobalMemory) {
  const std::string allocate = "setp.ne.u32 %p1, %r1, 0; @%p1 bra wait;" + kMalloc +
                               "st.global.u64 [%rd1], %rd4;\n"
                               "wait: bar.sync 0; ld.global.u64 %rd4, [%rd1];";
  const Checked racy = check(allocate + "st.global.u32 [%rd4], %r1;", 1, 8);
  ASSERT_EQ(racy.findings.size(), 1u) << racy.trap;
  EXPECT_EQ(racy.findings[0].first.kind, ToolFinding::Kind::waw);
  const Checked apart =
      check(allocate + "mul.wide.u32 %rd5, %r1, 4; add.u64 %rd4, %rd4, %rd5; st.global.u32 [%rd4], %r1;", 1, 8);
  EXPECT_TRUE(apart.findings.empty());
  EXPECT_EQ(apart.trap, "");
}

TEST(Races, AFreedBlockOfTheHeapHasNoPast) {
  const Checked reused = check(kMalloc + "st.global.u32 [%rd4], %r1;" + kFree, 40, 1);
  EXPECT_TRUE(reused.findings.empty());
  EXPECT_EQ(reused.trap, "");
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

// PTX ISA, Observation Order and Causality Order: who takes a ticket comes after those who took one before.
const std::string kTicket = "atom.global.add.u32 %r12, [%rd1], 1;\n";

TEST(RaceObservation, WhoTakesTheLastTicketMayAccessTheCounterPlainly) {
  const std::string last = "setp.ne.u32 %p1, %r12, 39; @%p1 ret;";
  const std::string store = "st.global.u32 [%rd1], 0;", load = "ld.global.u32 %r13, [%rd1];";
  for (const std::uint32_t threads : {1u, 4u, 40u}) { // tickets of other blocks, and of lanes of the same warp
    EXPECT_TRUE(check(kTicket + last + store, 40 / threads, threads).findings.empty()) << threads;
    EXPECT_TRUE(check(kTicket + last + load + store, 40 / threads, threads).findings.empty()) << threads;
  }
  // A thread of the last block that waits for the one with the ticket.
  const std::string through_barrier = "setp.ne.u32 %p1, %r1, 0; mov.u32 %r12, s; @%p1 bra wait;\n"
                                      "atom.global.add.u32 %r13, [%rd1], 1; st.shared.u32 [%r12], %r13;\n"
                                      "wait: bar.sync 0; ld.shared.u32 %r13, [%r12];\n"
                                      "setp.ne.u32 %p1, %r13, 9; @%p1 ret; setp.ne.u32 %p1, %r1, 40; @%p1 ret;";
  EXPECT_TRUE(check(through_barrier + load + store, 10, 64).findings.empty());
}

TEST(RaceObservation, WhoseTicketIsNotTheLastRacesWithLaterOnes) {
  const std::string first = "setp.ne.u32 %p1, %r12, 0; @%p1 ret; st.global.u32 [%rd1], 0;";
  EXPECT_EQ(check(kTicket + first, 1, 32).findings.size(), 1u); // lanes of one instruction
  EXPECT_FALSE(check(kTicket + first, 2, 1).findings.empty());
}

TEST(RaceObservation, WhoTakesNoTicketRaces) {
  const std::string odd = "setp.eq.u32 %p1, %r3, 9; @%p1 bra other;" + kTicket + "ret;\nother: ";
  EXPECT_EQ(check(odd + "ld.global.u32 %r13, [%rd1];", 10, 1).findings.size(), 1u);
  EXPECT_EQ(check(odd + "st.global.u32 [%rd1], 0;", 10, 1).findings.size(), 1u);
  // A reduction reads nothing.
  EXPECT_EQ(check(odd + "red.global.add.u32 [%rd1], 1; ld.global.u32 %r13, [%rd1];", 10, 1).findings.size(), 1u);
  // A ticket of another counter, or of a part of it.
  EXPECT_EQ(check(odd + "atom.global.add.u32 %r12, [%rd1+4], 1; ld.global.u32 %r13, [%rd1];", 10, 1).findings.size(),
            1u);
  // Tickets of a scope that does not include the others: both accesses of the last block race.
  EXPECT_EQ(check(odd + "atom.cta.global.add.u32 %r12, [%rd1], 1; ld.global.u32 %r13, [%rd1];", 10, 1).findings.size(),
            2u);
}

TEST(RaceObservation, AStrongLoadObservesTheStoreOfItsValue) {
  const std::string flag = "setp.ne.u32 %p1, %r3, 0; @%p1 bra reader; setp.ne.u32 %p1, %r1, 0; @%p1 ret; "
                           "st.relaxed.gpu.global.u32 [%rd1], 1; ret;\n"
                           "reader: ";
  EXPECT_TRUE(
      check(flag + "ld.relaxed.gpu.global.u32 %r12, [%rd1]; ld.global.u32 %r13, [%rd1];", 2, 1).findings.empty());
  EXPECT_EQ(check(flag + "ld.global.u32 %r13, [%rd1]; ld.relaxed.gpu.global.u32 %r12, [%rd1];", 2, 1).findings.size(),
            1u);
  // Plain loads by all threads of the block, behind the strong one of the first; each keeps the order of the others.
  const std::string all = "setp.ne.u32 %p1, %r1, 0; @%p1 bra wait; ld.relaxed.gpu.global.u32 %r12, [%rd1];\n"
                          "wait: bar.sync 0; setp.ne.u32 %p1, %r1, 0; @%p1 bra others;\n"
                          "ld.global.u32 %r13, [%rd1]; others: bar.sync 0; ld.global.u32 %r13, [%rd1];";
  EXPECT_TRUE(check(flag + all, 2, 64).findings.empty());
}

// Block 0 takes a ticket; block 1 overwrites it, so that its own ticket tells nothing of that of block 0.
TEST(RaceObservation, AStoreInBetweenEndsTheChain) {
  const std::string first = "setp.ne.u32 %p1, %r3, 0; @%p1 bra other;" + kTicket + "ret;\nother: ";
  const std::string last = kTicket + "st.global.u32 [%rd1], 0;";
  EXPECT_TRUE(check(first + last, 2, 1).findings.empty());
  EXPECT_EQ(check(first + "st.relaxed.gpu.global.u32 [%rd1], 7;" + last, 2, 1).findings.size(), 1u);
  EXPECT_TRUE(check(first + "atom.global.exch.b32 %r13, [%rd1], 7;" + last, 2, 1).findings.empty());
  // Reductions and strong stores of the thread itself do not hide what it has observed.
  EXPECT_TRUE(check(first + kTicket + "bar.sync 0; red.global.add.u32 [%rd1], 1; st.global.u32 [%rd1], 0;", 2, 1)
                  .findings.empty());
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

} // namespace races_test
} // namespace warplens::tests
