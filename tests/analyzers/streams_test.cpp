// The order of streams, and that they take no more memory than they may.
#include "analyzers/streams.hpp"
#include "tests/analyzers/warp_streams.hpp"

#include <gtest/gtest.h>

namespace warplens::analyzers {
namespace {

using testing::WarpAccess;

exec::Access load(const WarpAccess& lanes) { return lanes.event(exec::AccessKind::load, isa::Space::global); }
WarpAccess line(std::uint64_t number) {
  return WarpAccess(~0u, 4, [&](int lane) { return number * 128 + 4 * static_cast<std::uint64_t>(lane); });
}

TEST(Streams, RoundsOverMultiprocessorsBlocksAndWarps) {
  const Board board{.multiprocessors = 2, .resident_ctas = 2};
  Streams streams({.grid = {5, 1, 1}, .block = {64, 1, 1}}, board);
  const auto shard = streams.make_shard();
  // As the emulator would: a warp at a time. The line says who asks and when: block, warp, how often.
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

// A hundred million accesses must not take more than a few.
TEST(Streams, MemoryIsBounded) {
  const exec::LaunchShape shape{.grid = {4'000'000, 1, 1}, .block = {1024, 1, 1}};
  const Board board{.multiprocessors = 10, .resident_ctas = 2};
  Streams streams(shape, board);
  EXPECT_EQ(streams.kept_ctas(), 1020u); // 51 waves of 20 blocks; 32768 warps would be 1024 blocks
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
  // A sample: the blocks on multiprocessor 0, of the first wave.
  const auto sample = Streams(shape, board, Streams::Part::one_multiprocessor).make_shard();
  for (std::uint64_t cta = 0; cta < 100; ++cta) EXPECT_EQ(sample->begin_cta(cta), cta == 0 || cta == 10) << cta;
  // More warps on the board than are kept of anything.
  const Board huge{.multiprocessors = 100'000, .resident_ctas = 8};
  EXPECT_EQ(Streams(shape, huge).kept_ctas(), 1024u);
  EXPECT_EQ(Streams({.grid = {3, 1, 1}}, {.multiprocessors = 0, .resident_ctas = 0}).kept_ctas(), 3u);
}

} // namespace
} // namespace warplens::analyzers
