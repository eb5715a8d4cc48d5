// SPDX-License-Identifier: Apache-2.0
// The order of streams, and their memory limit.
#include "analyzers/analyzers.hpp"
#include "analyzers/local_memory.hpp"
#include "analyzers/streams.hpp"
#include "tests/analyzers/warp_streams.hpp"

#include <gtest/gtest.h>

namespace warplens::analyzers {
namespace streams_test {

using testing::WarpAccess;

exec::Access load(const WarpAccess& lanes) { return lanes.event(exec::AccessKind::load, isa::Space::global); }
WarpAccess line(std::uint64_t number) {
  return WarpAccess(~0u, 4, [&](int lane) { return number * 128 + 4 * static_cast<std::uint64_t>(lane); });
}

TEST(Streams, RoundsOverMultiprocessorsBlocksAndWarps) {
  const Board board{.multiprocessors = 2, .resident_ctas = 2};
  Streams streams({.grid = {5, 1, 1}, .block = {64, 1, 1}}, board);
  const auto shard = streams.make_shard();
  // As in the emulator: one warp at a time. The line address encodes block, warp and the number of the access.
  for (std::uint64_t cta = 5; cta-- > 0;) {
    ASSERT_TRUE(shard->begin_cta(cta));
    for (std::uint32_t warp = 0; warp < 2; ++warp)
      for (std::uint64_t i = 0; i < (warp == 0 ? 2u : 1u); ++i)
        shard->each_access({cta, warp}, load(line(cta * 100 + warp * 10 + i)));
  }
  streams.absorb(*shard);
  ASSERT_EQ(streams.waves(), 2u);
  const auto order = [&](std::uint64_t wave) {
    std::vector<std::uint64_t> list;
    streams.each_of_wave(wave, [&](const StreamPlace& place, const StreamAccess& access) {
      EXPECT_EQ(place.multiprocessor, place.cta % 2);
      EXPECT_EQ(access.lines.size(), 1u);
      EXPECT_EQ(access.lines[0].sectors(), 15u);
      list.push_back(access.lines[0].line());
    });
    return list;
  };
  EXPECT_EQ(order(0), (std::vector<std::uint64_t>{0, 10, 200, 210, 100, 110, 300, 310, 1, 201, 101, 301}));
  EXPECT_EQ(order(1), (std::vector<std::uint64_t>{400, 410, 401}));
  EXPECT_EQ(streams.ctas_of(0, 1), (std::vector<std::uint64_t>{1, 3}));
  EXPECT_EQ(streams.recorded().kept, 15u);
}

TEST(Streams, LinesAndSectorsOfAnAccess) {
  Streams streams({}, {});
  const auto shard = streams.make_shard();
  shard->begin_cta(0);
  shard->each_access({0, 0}, load(WarpAccess(~0u, 8, [](int lane) { return 96 + 8 * lane; })));
  shard->each_access({0, 0}, load(WarpAccess(3, 4, [](int lane) { return 1 << 20 >> lane * 20; })));
  shard->each_access(
      {0, 0}, WarpAccess(~0u, 4, [](int) { return 0; }).event(exec::AccessKind::load, isa::Space::shared)); // not ours
  streams.absorb(*shard);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> uses;
  streams.each_of_warp(0, 0, [&](const StreamPlace&, const StreamAccess& access) {
    for (const LineUse& use : access.lines) uses.emplace_back(use.line(), use.sectors());
  });
  EXPECT_EQ(uses, (std::vector<std::pair<std::uint64_t, std::uint32_t>>{{0, 8}, {1, 15}, {2, 7}, {0, 1}, {8192, 1}}));
}

// Line i of a warp's place is word i of its lanes, a sector that of 8 neighbours; places follow each other, behind all
// addresses: multiprocessor by multiprocessor, on each block by block, warp by warp.
TEST(Streams, LocalMemoryIsInterleavedByLanes) {
  const Board board{.multiprocessors = 2, .resident_ctas = 2, .l1 = CacheGeometry{}};
  Streams streams({.grid = {6, 1, 1}, .block = {64, 1, 1}}, board);
  const auto shard = streams.make_shard();
  const auto local = [](const WarpAccess& lanes) { return lanes.event(exec::AccessKind::load, isa::Space::local); };
  const auto use = [&](std::uint64_t cta, std::uint32_t warp, const WarpAccess& lanes) {
    shard->begin_cta(cta);
    shard->access(local(lanes));
    shard->each_access({cta, warp}, local(lanes));
  };
  use(0, 0, WarpAccess(0x80000101u, 4, [](int) { return 8; })); // a variable, of lanes 0, 8 and 31
  use(0, 0, WarpAccess(0x00010003u, 8, [](int lane) { return lane == 16 ? 0 : 4 * lane; })); // elements of an array
  use(3, 1, WarpAccess(1, 2, [](int) { return 6; }));                                        // half of word 1
  use(4, 0, WarpAccess(~0u, 16, [](int) { return 48; })); // words 12 to 15, the last ones
  streams.absorb(*shard);
  EXPECT_EQ(streams.local().kept, 4u);
  EXPECT_EQ(streams.local().all, 4u);
  EXPECT_EQ(streams.recorded().all, 0u);
  using Use = std::pair<std::uint64_t, std::uint32_t>;
  constexpr std::uint64_t kBehind = std::uint64_t{1} << 57; // 2^64 / 128
  std::vector<Use> uses;
  const auto list = [&](const StreamPlace&, const StreamAccess& access) {
    EXPECT_EQ(access.space, isa::Space::local);
    for (const LineUse& one : access.lines) uses.emplace_back(one.line() - kBehind, one.sectors());
  };
  streams.each_of_wave(0, list);
  EXPECT_EQ(uses, (std::vector<Use>{{2, 0b1011}, {7 * 16 + 1, 1}, {0, 0b101}, {1, 0b101}, {2, 1}}));
  uses.clear();
  streams.each_of_wave(1, list); // block 4 in the place of block 0
  EXPECT_EQ(uses, (std::vector<Use>{{12, 15}, {13, 15}, {14, 15}, {15, 15}}));
  uses.clear();
  streams.each_of_cta(0, list);
  streams.each_of_warp(0, 0, list);
  EXPECT_TRUE(uses.empty()); // those are of global memory
}

TEST(Streams, LocalMemoryIsKeptWhereThereAreCaches) {
  for (const bool caches : {false, true}) {
    Streams streams({}, {.l2 = caches ? std::optional(CacheGeometry{}) : std::nullopt});
    const auto shard = streams.make_shard();
    EXPECT_EQ(shard->each_wanted().in(isa::Space::local), caches);
    shard->begin_cta(0);
    const WarpAccess one(~0u, 4, [](int) { return 0; });
    shard->access(one.event(exec::AccessKind::load, isa::Space::local));
    shard->each_access({0, 0}, one.event(exec::AccessKind::load, isa::Space::local));
    streams.absorb(*shard);
    EXPECT_EQ(streams.local().all, caches ? 1u : 0u);
    EXPECT_EQ(streams.local().kept, caches ? 1u : 0u);
  }
}

// Words of 32 lanes that lie in 288 lines: as many sectors as the analyzer of local memory counts.
TEST(Streams, LocalLinesHaveTheSectorsThatAreCounted) {
  for (const int bytes : {1, 4, 8, 16, 32})
    for (const std::uint64_t stride : {0u, 1u, 4u, 6u, 128u}) {
      const WarpAccess lanes(0xfff0ffffu, static_cast<std::uint16_t>(bytes),
                             [&](int lane) { return 2 + stride * static_cast<std::uint64_t>(lane); });
      const exec::Access access = lanes.event(exec::AccessKind::load, isa::Space::local);
      std::vector<LineUse> lines;
      local_lines(access, lines);
      std::uint64_t sectors = 0;
      for (const LineUse& use : lines) sectors += LineUse::count(use.sectors());
      EXPECT_EQ(sectors, local_sectors(access.addresses, access.mask, access.lane_bytes)) << bytes << " " << stride;
    }
}

// A hundred million accesses must not take more than a few.
TEST(Streams, MemoryIsBounded) {
  const exec::LaunchShape shape{.grid = {4'000'000, 1, 1}, .block = {1024, 1, 1}};
  const Board board{.multiprocessors = 10, .resident_ctas = 2};
  Streams streams(shape, board);
  EXPECT_EQ(streams.waves(), 51u); // of 20 blocks: 1020 blocks; 32768 warps would be 1024
  const auto shard = streams.make_shard();
  EXPECT_TRUE(shard->begin_cta(0));
  EXPECT_TRUE(shard->begin_cta(1019));
  EXPECT_FALSE(shard->begin_cta(1020));
  const WarpAccess scattered(~0u, 4, [](int lane) { return 4096 * lane; });
  exec::Access all = load(scattered);
  all.count = 3'999'999;
  shard->access(all);
  for (int i = 0; i < 1000; ++i) shard->each_access({0, 0}, load(scattered));
  streams.absorb(*shard);
  const Streams::Recorded recorded = streams.recorded();
  EXPECT_EQ(recorded.kept, Streams::kWords / (1020 * 32) / 33); // a header and 32 lines each
  EXPECT_EQ(recorded.all, 3'999'999u);
  // A sample: the blocks on multiprocessor 5, of the first wave and of the one in the middle.
  const auto sample = Streams(shape, board, Streams::Part::one_multiprocessor).make_shard();
  for (const std::uint64_t cta : {0u, 4u, 25u, 1'999'965u, 1'999'984u, 1'999'986u, 2'000'005u})
    EXPECT_FALSE(sample->begin_cta(cta)) << cta;
  for (const std::uint64_t cta : {5u, 15u, 1'999'985u, 1'999'995u}) EXPECT_TRUE(sample->begin_cta(cta)) << cta;
  // More warps on the board than are kept of anything.
  const Board huge{.multiprocessors = 100'000, .resident_ctas = 8};
  const auto of_huge = Streams(shape, huge).make_shard();
  EXPECT_TRUE(of_huge->begin_cta(1023));
  EXPECT_FALSE(of_huge->begin_cta(1024));
  const auto three = Streams({.grid = {3, 1, 1}}, {.multiprocessors = 0, .resident_ctas = 0}).make_shard();
  EXPECT_TRUE(three->begin_cta(2));
}

// Small parts are of the beginning and of the middle, whatever the launch, and have the blocks of the sample.
TEST(Streams, SmallPartsAreOfTheBeginningAndTheMiddle) {
  for (const std::uint32_t blocks : {1u, 2u, 5u, 19u, 20u, 21u, 40u, 41u, 60u, 1000u, 5000u, 123'457u})
    for (const std::uint32_t threads : {32u, 1024u})
      for (const Streams::Part part : {Streams::Part::glance, Streams::Part::one_multiprocessor}) {
        Streams streams({.grid = {blocks, 1, 1}, .block = {threads, 1, 1}}, {.multiprocessors = 10, .resident_ctas = 2},
                        part);
        const auto shard = streams.make_shard();
        std::uint64_t kept = 0, middle = 0;
        for (std::uint32_t cta = 0; cta < blocks; ++cta)
          if (shard->begin_cta(cta)) {
            ++kept;
            if (cta >= blocks / 2 - std::min(blocks / 2, 20u) && cta <= blocks / 2 + 20) ++middle;
          }
        EXPECT_GT(middle, 0u) << blocks;
        EXPECT_LE(kept, part == Streams::Part::glance ? 4096u / (threads / 32) : 4u) << blocks;
        EXPECT_TRUE(shard->begin_cta(streams.sampled_multiprocessor())) << blocks;
        EXPECT_FALSE(shard->begin_cta(blocks));
        streams.absorb(*shard);
        std::uint64_t listed = 0;
        for (std::uint64_t wave = 0; wave < streams.waves(); ++wave)
          for (std::uint32_t m = 0; m < 10; ++m) listed += streams.ctas_of(wave, m).size();
        EXPECT_EQ(listed, kept) << blocks;
        EXPECT_EQ(streams.kept_ctas().size(), kept) << blocks;
      }
}

// Rows of a tile: each half of the warp is a run of its own, in front of or behind the other.
TEST(Streams, TwoRunsOfHalfAWarp) {
  for (const std::uint64_t second : {1024u, 48u, 128u, 0u}) {
    for (const bool backwards : {false, true}) {
      Streams streams({}, {});
      const auto shard = streams.make_shard();
      shard->begin_cta(0);
      const WarpAccess lanes(~0u, 4, [&](int lane) {
        return 4096 + ((lane < 16) != backwards ? 0 : second) + 4 * static_cast<std::uint64_t>(lane % 16);
      });
      shard->each_access({0, 0}, lanes.event(exec::AccessKind::load, isa::Space::global));
      streams.absorb(*shard);
      std::map<std::uint64_t, std::uint32_t> expected, found;
      for (int lane = 0; lane < 32; ++lane)
        expected[lanes.addresses[lane] / 128] |= 1u << lanes.addresses[lane] / 32 % 4;
      streams.each_of_warp(0, 0, [&](const StreamPlace&, const StreamAccess& access) {
        for (const LineUse& use : access.lines) {
          EXPECT_FALSE(found.contains(use.line()));
          found[use.line()] = use.sectors();
        }
      });
      EXPECT_EQ(found, expected) << second << " " << backwards;
    }
  }
}

// A wave of an H200 has 1056 blocks of 8 warps.
TEST(Streams, AGlanceIsOfEveryFifthMultiprocessor) {
  const Board board{.multiprocessors = 132, .resident_ctas = 8};
  const exec::LaunchShape large{.grid = {4096, 1, 1}, .block = {256, 1, 1}};
  const auto glance = Streams(large, board, Streams::Part::glance).make_shard();
  for (std::uint64_t cta = 0; cta < 4096; ++cta)
    ASSERT_EQ(glance->begin_cta(cta), cta < 2 * 1056 && cta % 132 % 5 == 66 % 5) << cta;
  const exec::LaunchShape small{.grid = {500, 1, 1}, .block = {256, 1, 1}};
  const auto all = Streams(small, board, Streams::Part::glance).make_shard();
  for (std::uint64_t cta = 0; cta < 500; ++cta) ASSERT_TRUE(all->begin_cta(cta)) << cta;
  // Where waves are small, as many as there is room for.
  const auto waves = Streams(large, {.multiprocessors = 30, .resident_ctas = 4}, Streams::Part::glance).make_shard();
  for (const std::uint64_t cta : {239u, 1920u, 2159u}) EXPECT_TRUE(waves->begin_cta(cta)) << cta;
  for (const std::uint64_t cta : {240u, 1919u, 2160u}) EXPECT_FALSE(waves->begin_cta(cta)) << cta;
}

TEST(Streams, AnAnalyzerOfItsOwnNameGetsMoreThanAllTogether) {
  const ir::Module module;
  const ir::Function function;
  const exec::LaunchShape shape{.grid = {4096, 1, 1}, .block = {256, 1, 1}};
  const auto kept = [&](const std::vector<std::string>& named) {
    Analysis analysis(module, function, shape, {.named = named, .board = {.multiprocessors = 132, .resident_ctas = 8}});
    const auto shard = analysis.make_shard();
    int count = 0;
    for (std::uint64_t cta = 0; cta < 4096; ++cta) count += shard->begin_cta(cta);
    return count;
  };
  // The first and the last block are more: recorded_accesses.hpp watches them.
  EXPECT_EQ(kept({}), 2 * 8 + 2);
  EXPECT_EQ(kept({"all"}), 2 * 27 * 8 + 2);
  EXPECT_EQ(kept({"caches"}), 3168 + 1); // three waves
  EXPECT_EQ(kept({"all", "reuse_distance"}), 3168 + 1);
  EXPECT_EQ(kept({"arithmetic"}), 2 * 8 + 2);
}

} // namespace streams_test
} // namespace warplens::analyzers
