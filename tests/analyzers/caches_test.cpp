// SPDX-License-Identifier: Apache-2.0
// Caches: hits and misses, computed by hand.
#include "analyzers/caches.hpp"
#include "analyzers/second_level.hpp"
#include "tests/analyzers/warp_streams.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <list>
#include <random>
#include <set>

namespace warplens::analyzers {
namespace caches_test {

using testing::number;
using testing::WarpAccess;
using testing::WarpStreams;
using Store = CacheGeometry::Store;

constexpr CacheGeometry kFermiL1 = {16384, 128, 128, 4, Store::evict}; // 32 sets
constexpr CacheGeometry kFermiL2 = {786432, 128, 32, 8, Store::back};

TEST(Cache, LeastRecentlyUsedGoesFirst) {
  Cache cache({.bytes = 512, .line_bytes = 128, .sector_bytes = 128, .ways = 2, .store = Store::evict});
  EXPECT_EQ(cache.sets(), 2u);
  EXPECT_EQ(cache.load(0, 1).missed, 15u); // a whole line is fetched
  EXPECT_EQ(cache.load(0, 8).hit, 8u);
  EXPECT_EQ(cache.load(2, 1).evicted, 0u); // the other way of set 0
  EXPECT_EQ(cache.load(1, 1).evicted, 0u); // set 1
  EXPECT_EQ(cache.load(0, 1).missed, 0u);  // used later than 2 now
  EXPECT_EQ(cache.load(4, 1).evicted, 1u); // 2 goes
  EXPECT_EQ(cache.load(0, 1).missed, 0u);
  EXPECT_EQ(cache.load(2, 1).missed, 15u);
}

TEST(Cache, SectorsAreFetchedByThemselves) {
  Cache cache({.bytes = 1024, .line_bytes = 128, .sector_bytes = 32, .ways = 4});
  EXPECT_EQ(cache.load(5, 0b0011).missed, 0b0011u);
  const Cache::Outcome o = cache.load(5, 0b0110);
  EXPECT_EQ(o.hit, 0b0010u);
  EXPECT_EQ(o.missed, 0b0100u);
  Cache pairs({.bytes = 1024, .line_bytes = 128, .sector_bytes = 64, .ways = 4});
  EXPECT_EQ(pairs.load(5, 0b0100).missed, 0b1100u);
  Cache short_lines({.bytes = 64, .line_bytes = 32, .sector_bytes = 32, .ways = 1}); // two lines
  EXPECT_EQ(short_lines.load(0, 0b1111).evicted, 2u); // the third and fourth sector take their places
  EXPECT_EQ(short_lines.load(0, 0b1100).hit, 0b1100u);
}

TEST(Cache, Stores) {
  Cache evict({.bytes = 512, .line_bytes = 128, .sector_bytes = 128, .ways = 2, .store = Store::evict});
  evict.load(0, 1);
  evict.store(0, 1);
  EXPECT_EQ(evict.load(0, 1).missed, 15u);
  Cache update({.bytes = 512, .line_bytes = 128, .sector_bytes = 128, .ways = 2, .store = Store::update});
  update.load(0, 1);
  update.store(0, 1);
  EXPECT_EQ(update.load(0, 1).missed, 0u);
  update.store(8, 1); // is not brought in
  EXPECT_EQ(update.load(8, 1).missed, 15u);
  update.store(16, 3, Store::keep); // is, and as what is below is the same, nothing is written
  EXPECT_EQ(update.load(16, 3).missed, 0u);
  update.load(24, 1);
  EXPECT_EQ(update.load(32, 1).written, 0u);
  Cache back({.bytes = 256, .line_bytes = 128, .sector_bytes = 32, .ways = 2, .store = Store::back});
  EXPECT_EQ(back.store(0, 0b0111).missed, 0u);
  EXPECT_EQ(back.load(0, 0b1111).hit, 0b0111u);
  back.load(1, 1);
  const Cache::Outcome o = back.load(2, 1); // line 0 goes, with what was stored
  EXPECT_EQ(o.evicted, 1u);
  EXPECT_EQ(o.written, 3u);
  ASSERT_EQ(back.written().size(), 1u);
  EXPECT_EQ(back.written()[0].line, 0u);
  EXPECT_EQ(back.written()[0].sectors, 0b0111u);
  Cache halves({.bytes = 128, .line_bytes = 64, .sector_bytes = 32, .ways = 2, .store = Store::back});
  halves.store(9, 0b0110); // a sector of each of its lines
  EXPECT_EQ(halves.load(4, 0b1111).written, 2u);
  ASSERT_EQ(halves.written().size(), 2u);
  EXPECT_EQ(halves.written()[0].sectors, 0b0010u);
  EXPECT_EQ(halves.written()[1].line, 9u);
  EXPECT_EQ(halves.written()[1].sectors, 0b0100u);
  back.store(1, 1);
  back.invalidate(1);
  EXPECT_EQ(back.load(1, 1).missed, 1u);
}

// Hundreds of ways, as in a first level that is one with shared memory: as a list of what was used last says.
TEST(Cache, RemembersTheOrderOfManyWays) {
  constexpr std::size_t kWays = 384;
  Cache cache({.bytes = 4 * kWays * 128, .line_bytes = 128, .sector_bytes = 32, .ways = kWays});
  std::vector<std::list<std::uint64_t>> sets(4); // the line used last in front
  std::set<std::uint64_t> been;
  std::mt19937_64 random(3);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t line = random() % 3000;
    std::list<std::uint64_t>& set = sets[line % 4];
    const auto found = std::find(set.begin(), set.end(), line);
    const bool hit = found != set.end();
    const Cache::Outcome o = cache.load(line, 1);
    ASSERT_EQ(o.hit, hit ? 1u : 0u);
    ASSERT_EQ(o.missed, hit ? 0u : 1u);
    ASSERT_EQ(o.again, !hit && been.contains(line) ? 1u : 0u);
    ASSERT_EQ(o.evicted, !hit && set.size() == kWays ? 1u : 0u);
    if (hit) set.erase(found);
    set.push_front(line);
    if (set.size() > kWays) set.pop_back();
    been.insert(line);
    if (i % 7 == 0) {
      cache.invalidate(line);
      set.pop_front();
    }
  }
}

// 64 lines fit. What multiprocessors of both partitions load takes room in both; so does what one multiprocessor loads
// from the other partition.
TEST(SecondLevel, CopiesOfTheOtherPartitionTakeRoom) {
  const CacheGeometry whole{.bytes = 64 * 128, .line_bytes = 128, .sector_bytes = 32, .ways = 64};
  CacheGeometry halves = whole;
  halves.ways = 32;
  halves.partitions = 2;
  const auto missed_again = [](const CacheGeometry& geometry, std::uint32_t multiprocessors, std::uint64_t lines) {
    SecondLevel cache(geometry);
    std::uint32_t missed[] = {0, 0};
    for (std::uint32_t& sum : missed)
      for (std::uint32_t m = 0; m < multiprocessors; ++m)
        for (std::uint64_t line = 0; line < lines; ++line) sum += cache.load(m, line, 1).missed;
    EXPECT_GE(missed[0], lines);
    return missed[1];
  };
  EXPECT_EQ(missed_again(whole, 2, 60), 0u);
  EXPECT_EQ(missed_again(halves, 2, 30), 0u);
  EXPECT_GT(missed_again(halves, 2, 60), 20u);
  EXPECT_EQ(missed_again(halves, 1, 30), 0u);
  EXPECT_GT(missed_again(halves, 1, 60), 20u); // the lines of the other partition are still there
  EXPECT_LT(missed_again(halves, 1, 60), 40u);
}

TEST(SecondLevel, AStoreIsVisibleInEachPartition) {
  SecondLevel cache({.bytes = 64 * 128, .ways = 32, .store = Store::back, .partitions = 2});
  for (std::uint64_t line = 0; line < 16; ++line) {
    for (const std::uint32_t m : {0u, 1u}) cache.load(m, line, 0b0011);
    cache.store(line, 0b0001);
    for (const std::uint32_t m : {0u, 1u}) EXPECT_EQ(cache.load(m, line, 0b0011).hit, 0b0011u) << line << " " << m;
  }
  std::uint32_t written = 0; // copies and lines of others take the room of changed lines
  for (std::uint64_t line = 16; line < 216; ++line) written += cache.load(0, line, 1).written;
  EXPECT_EQ(written, 16u);
}

TEST(KeyIndex, NumbersInTheOrderOfComing) {
  KeyIndex<std::uint64_t> index;
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t i = 0; i < 10'000; ++i)
      ASSERT_EQ(index.of(i * 977ull), (KeyIndex<std::uint64_t>::Found{i, true}));
    for (std::uint32_t i = 0; i < 10'000; ++i)
      ASSERT_EQ(index.of(i * 977ull), (KeyIndex<std::uint64_t>::Found{i, false}));
    EXPECT_EQ(index.size(), 10'000u);
    index.clear();
  }
}

TEST(Caches, TwoMultiprocessorsShareTheSecondLevel) {
  Caches caches(2, {.grid = {2, 1, 1}}, {.multiprocessors = 2, .partitions = {}, .l1 = kFermiL1, .l2 = kFermiL2});
  WarpStreams warps(caches, 2);
  for (std::uint64_t cta = 0; cta < 2; ++cta) {
    warps.load(cta, 0, 4096); // block 0 brings it to the second level, both to their first
    warps.load(cta, 0, 4096);
  }
  const Metrics m = warps.finish();
  EXPECT_EQ(m.integer("l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"), 8u);
  EXPECT_EQ(m.integer("l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_miss.sum"), 8u);
  EXPECT_EQ(number(m, "l1tex__t_sector_hit_rate.pct"), 50);
  EXPECT_EQ(m.integer("l1_global_load_hit"), 2u);
  EXPECT_EQ(m.integer("l1_global_load_miss"), 2u);
  EXPECT_EQ(m.integer("lts__t_sectors_op_read.sum"), 8u);
  EXPECT_EQ(m.integer("lts__t_sectors_op_read_lookup_hit.sum"), 4u);
  EXPECT_EQ(m.integer("dram__sectors_read.sum"), 4u);
  EXPECT_EQ(m.integer("l1_lines_evicted"), 0u);
  EXPECT_EQ(number(m, "cache_accesses_simulated.pct"), 100);
}

// As every report has it: two of four blocks are on multiprocessor 1, and the second level is not looked at.
TEST(Caches, ASampleOfTheFirstLevel) {
  Caches caches(2, {.grid = {4, 1, 1}},
                {.multiprocessors = 2, .resident_ctas = 2, .partitions = {}, .l1 = kFermiL1, .l2 = kFermiL2},
                Caches::Coverage::sample);
  WarpStreams warps(caches, 4);
  for (std::uint64_t cta = 0; cta < 4; ++cta) warps.load(cta, 0, 4096); // block 3 hits what block 1 has brought
  warps.load(3, 0, 4096);
  const Metrics m = warps.finish();
  EXPECT_NEAR(number(m, "l1tex__t_sector_hit_rate.pct"), 100 * 2 / 3.0, 1e-9);
  EXPECT_EQ(number(m, "cache_accesses_simulated.pct"), 60);
  EXPECT_EQ(m.find("dram__sectors_read.sum"), nullptr);
  EXPECT_EQ(m.find("l1_lines_evicted"), nullptr);
  Caches none(2, {.grid = {1, 1, 1}}, {.multiprocessors = 2, .partitions = {}, .l2 = kFermiL2},
              Caches::Coverage::sample);
  WarpStreams one(none, 1);
  one.load(0, 0, 4096);
  EXPECT_EQ(one.finish().find("l1tex__t_sector_hit_rate.pct"), nullptr);
}

Metrics sample_of(std::uint32_t blocks, const std::function<void(WarpStreams&)>& run,
                  std::uint32_t warps_of_block = 1) {
  Caches caches(4, {.grid = {blocks, 1, 1}, .block = {32 * warps_of_block, 1, 1}},
                {.multiprocessors = 2, .partitions = {}, .l1 = CacheGeometry{16384, 128, 32, 4, Store::evict}},
                Caches::Coverage::sample);
  WarpStreams warps(caches, blocks);
  run(warps);
  return warps.finish();
}

TEST(Caches, WarpsThatLoadTheSameSideBySideWaitAsLong) {
  const Metrics m = sample_of(
      2,
      [](WarpStreams& warps) {
        for (std::uint32_t warp = 0; warp < 4; ++warp) warps.load(1, warp, 4096);
        for (std::uint32_t warp = 0; warp < 4; ++warp) warps.load(1, warp, 4096); // a round later
      },
      4);
  EXPECT_EQ(number(m, "l1tex__t_sector_hit_rate.pct"), 100 * 7 / 8.0);
  EXPECT_EQ(number(m, "l1_hits_in_flight.pct"), 100 * 3 / 8.0);
}

TEST(Caches, TheFirstWaveWaitsForMemoryWhereNobodyWasBefore) {
  const auto share = [](const std::function<void(WarpStreams&)>& run) {
    return number(sample_of(2, run), "first_wave_from_memory.pct");
  };
  EXPECT_EQ(share([](WarpStreams& w) { w.load(1, 0, 4096); }), 100);
  const auto words = [](int lanes, std::uint64_t base) {
    return WarpAccess((1u << lanes) - 1, 4, [=](int lane) { return base + 4 * static_cast<std::uint64_t>(lane); });
  };
  EXPECT_EQ(share([&](WarpStreams& w) { // memory delivers 64 bytes
              w.access(1, 0, words(8, 4096));
              w.access(1, 0, words(8, 4096 + 32));
              w.access(1, 0, words(8, 4096 + 64));
            }),
            100 * 2 / 3.0);
  EXPECT_EQ(share([&](WarpStreams& w) { // stores leave it in the second level
              w.store(1, 0, 4096);
              w.load(1, 0, 4096);
            }),
            0);
}

// uBench: where accesses are scattered, the first level fetches 128 bytes for 4; without it, 32.
TEST(Caches, WithoutTheFirstLevelScatteredLoadsReadAQuarter) {
  std::uint64_t read[2];
  for (const bool on : {false, true}) {
    Caches caches(2, {}, {.l1 = on ? std::optional(kFermiL1) : std::nullopt, .l2 = kFermiL2});
    WarpStreams warps(caches);
    warps.load(0, 0, 0, 4096);
    const Metrics m = warps.finish();
    read[on] = m.integer("dram__sectors_read.sum");
    EXPECT_EQ(m.integer("l1_global_load_miss"), on ? 32u : 0u);
  }
  EXPECT_EQ(read[0], 32u);
  EXPECT_EQ(read[1], 128u);
}

// A set has 4 lines of 16 KB, 6 of 48: five lines of one set, in turns, never hit in the first and do in the second.
TEST(Caches, ThrashingEndsWhereTheCacheIsEnlarged) {
  constexpr CacheGeometry kEnlarged = {49152, 128, 128, 6, Store::evict}; // 64 sets
  for (const auto& [l1, again] : {std::pair(kFermiL1, 15u), std::pair(kEnlarged, 0u)}) {
    Caches caches(2, {}, {.l1 = l1, .l2 = kFermiL2});
    WarpStreams warps(caches);
    for (int turn = 0; turn < 4; ++turn)
      for (std::uint64_t i = 0; i < 5; ++i) warps.access(0, 0, WarpAccess(1, 4, [&](int) { return i * 64 * 128; }));
    const Metrics m = warps.finish();
    EXPECT_EQ(m.integer("l1_sectors_missed_again"), again);
    EXPECT_EQ(m.integer("l1_lines_evicted"), again == 0 ? 0u : 16u);
    EXPECT_EQ(m.integer("l1_global_load_hit"), again == 0 ? 15u : 0u);
    EXPECT_EQ(m.integer("l2_sectors_missed_again"), 0u);
  }
}

TEST(Caches, StoresAndAtomics) {
  Caches caches(2, {}, {.l1 = kFermiL1, .l2 = kFermiL2});
  WarpStreams warps(caches);
  warps.load(0, 0, 0);
  warps.store(0, 0, 0);
  warps.load(0, 0, 0); // the store threw it out
  warps.load(0, 0, 0, 4, exec::AccessKind::atomic, 2);
  warps.load(0, 0, 0);
  const Metrics m = warps.finish();
  EXPECT_EQ(m.integer("l1_global_load_miss"), 3u);
  EXPECT_EQ(m.integer("l1_sectors_missed_again"), 8u);
  EXPECT_EQ(m.integer("lts__t_sectors_op_write.sum"), 8u);
  EXPECT_EQ(m.integer("lts__t_sectors_op_read.sum"), 16u); // the atomic reads, too
  EXPECT_EQ(m.integer("dram__sectors_read.sum"), 4u);
  EXPECT_EQ(m.integer("dram__sectors_write.sum"), 0u); // still in the second level
}

TEST(Caches, ChangedLinesGoToMemoryWhenTheyAreThrownOut) {
  Caches caches(2, {}, {.l2 = CacheGeometry{256, 128, 32, 2, Store::back}});
  WarpStreams warps(caches);
  warps.store(0, 0, 0);
  warps.load(0, 0, 128);
  warps.load(0, 0, 256);
  warps.load(0, 0, 0);
  const Metrics m = warps.finish();
  EXPECT_EQ(m.integer("dram__sectors_write.sum"), 4u);
  EXPECT_EQ(m.integer("l2_lines_evicted"), 2u);
  EXPECT_EQ(m.integer("l2_sectors_missed_again"), 4u);
  EXPECT_EQ(warps.rows[0].metrics.integer("lts__t_sectors_op_read.sum"), 12u);
  EXPECT_EQ(warps.rows[1].metrics.integer("lts__t_sectors_op_write.sum"), 4u);
}

constexpr auto kLoad = exec::AccessKind::load, kStore = exec::AccessKind::store;

Metrics words_of_one_warp(const Board& board, std::uint64_t words, int passes) {
  Caches caches(4, {}, board);
  WarpStreams warps(caches);
  for (std::uint64_t w = 0; w < words; ++w) warps.local(0, 0, w, kStore);
  for (int p = 0; p < passes; ++p)
    for (std::uint64_t w = 0; w < words; ++w) warps.local(0, 0, w, kLoad);
  Metrics metrics = warps.finish();
  EXPECT_EQ(warps.rows[2].metrics.find("l1_local_load_hit") != nullptr, board.l1 && board.l1_local);
  EXPECT_EQ(warps.rows[2].metrics.find("l1_global_load_hit") != nullptr, !(board.l1 && board.l1_local));
  return metrics;
}

struct LocalSectors {
  std::uint64_t load_hit, load_miss, store_hit, store_miss;
  friend bool operator==(const LocalSectors&, const LocalSectors&) = default;
  friend void PrintTo(const LocalSectors& s, std::ostream* out) {
    *out << s.load_hit << ' ' << s.load_miss << ' ' << s.store_hit << ' ' << s.store_miss;
  }
};
LocalSectors local_sectors_of(const Metrics& m) {
  const std::string local = "l1tex__t_sectors_pipe_lsu_mem_local_op_";
  return {m.integer(local + "ld_lookup_hit.sum"), m.integer(local + "ld_lookup_miss.sum"),
          m.integer(local + "st_lookup_hit.sum"), m.integer(local + "st_lookup_miss.sum")};
}

// Three registers spilled, each read back twice: what is stored is there, and goes on or not.
TEST(Caches, SpilledRegistersAreReadFromTheFirstLevel) {
  for (const auto& [local, written] : {std::pair(Store::keep, 12u), std::pair(Store::back, 0u)}) {
    const Metrics m = words_of_one_warp({.l1 = kFermiL1, .l2 = kFermiL2, .l1_local = local}, 3, 2);
    EXPECT_EQ(local_sectors_of(m), (LocalSectors{24, 0, 0, 12}));
    EXPECT_EQ(m.integer("l1_local_load_hit"), 6u);
    EXPECT_EQ(m.integer("l1_local_load_miss"), 0u);
    EXPECT_EQ(m.integer("l1_local_store_miss"), 3u);
    EXPECT_EQ(m.integer("l1_global_load_hit"), 0u);
    EXPECT_EQ(number(m, "l1tex__t_sector_hit_rate.pct"), 100);
    EXPECT_EQ(m.integer("lts__t_sectors_op_write.sum"), written);
    EXPECT_EQ(m.integer("lts__t_sectors_op_read.sum"), 0u);
  }
}

// 192 lines are 6 of each set of 4 ways: in turns none is there when it is asked for. The first 64 that are thrown out
// have been stored, and so have the 128 that the loads throw out first; the others were only loaded.
TEST(Caches, ALocalArrayThatIsLargerThanTheFirstLevel) {
  const Metrics m = words_of_one_warp({.l1 = kFermiL1, .l2 = kFermiL2, .l1_local = Store::back}, 192, 2);
  EXPECT_EQ(local_sectors_of(m), (LocalSectors{0, 2 * 192 * 4, 0, 192 * 4}));
  EXPECT_EQ(m.integer("l1_lines_evicted"), 64 + 2 * 192u);
  EXPECT_EQ(m.integer("l1_sectors_missed_again"), 2 * 192 * 4u);
  EXPECT_EQ(m.integer("lts__t_sectors_op_write.sum"), 192 * 4u);
  EXPECT_EQ(m.integer("lts__t_sectors_op_read_lookup_hit.sum"), 2 * 192 * 4u); // the second level has all of it
  EXPECT_EQ(m.integer("dram__sectors_read.sum"), 0u);
}

// The Maxwell: local memory has the second level alone.
TEST(Caches, LocalMemoryMayPassByTheFirstLevel) {
  const Metrics m = words_of_one_warp({.l1 = kFermiL1, .l2 = kFermiL2, .l1_local = std::nullopt}, 3, 2);
  EXPECT_EQ(local_sectors_of(m), (LocalSectors{}));
  EXPECT_EQ(m.find("l1tex__t_sector_hit_rate.pct"), nullptr);
  EXPECT_EQ(m.integer("lts__t_sectors_op_write.sum"), 12u);
  EXPECT_EQ(m.integer("lts__t_sectors_op_read_lookup_hit.sum"), 24u);
}

// The Kepler: the first level is for local memory alone, and a sample has something to say only where there is some.
TEST(Caches, TheFirstLevelMayBeForLocalMemoryAlone) {
  const Board kepler{.l1 = kFermiL1, .l2 = kFermiL2, .l1_global = false, .l1_local = Store::back};
  for (const Caches::Coverage extent : {Caches::Coverage::whole, Caches::Coverage::sample})
    for (const bool spills : {false, true}) {
      Caches caches(4, {}, kepler, extent);
      WarpStreams warps(caches);
      warps.load(0, 0, 0);
      if (spills) warps.local(0, 0, 0, kStore);
      warps.load(0, 0, 0);
      if (spills) warps.local(0, 0, 0, kLoad);
      const Metrics m = warps.finish();
      EXPECT_EQ(number(m, "l1tex__t_sector_hit_rate.pct"), spills ? 100 : -1);
      EXPECT_EQ(number(m, "cache_accesses_simulated.pct"), spills || extent == Caches::Coverage::whole ? 100 : -1);
      if (extent == Caches::Coverage::sample) continue;
      EXPECT_EQ(m.integer("l1_global_load_miss"), 0u);
      EXPECT_EQ(m.integer("lts__t_sectors_op_read.sum"), 8u);
    }
}

// A block of the next wave finds what the one before left in its place; one beside it has a place of its own.
TEST(Caches, TheNextWaveFindsLocalMemoryInTheSamePlace) {
  for (const std::uint32_t resident : {1u, 2u}) {
    Caches caches(4, {.grid = {2, 1, 1}, .block = {64, 1, 1}},
                  {.resident_ctas = resident, .l1 = kFermiL1, .l2 = kFermiL2, .l1_local = Store::keep});
    WarpStreams warps(caches);
    for (std::uint64_t cta = 0; cta < 2; ++cta)
      for (std::uint32_t warp = 0; warp < 2; ++warp) {
        warps.local(cta, warp, 5, kLoad);
        warps.local(cta, warp, 6, kStore);
      }
    const Metrics m = warps.finish();
    EXPECT_EQ(local_sectors_of(m), (resident == 1 ? LocalSectors{8, 8, 8, 8} : LocalSectors{0, 16, 0, 16}));
  }
}

// Loads of global memory throw lines of local memory out, which then go to the second level.
TEST(Caches, GlobalMemoryTakesTheRoomOfLocalMemory) {
  Caches caches(4, {}, {.l1 = kFermiL1, .l2 = kFermiL2, .l1_local = Store::back});
  WarpStreams warps(caches);
  warps.local(0, 0, 0, kStore);
  for (std::uint64_t line = 0; line < 128; ++line) warps.load(0, 0, 128 * line);
  warps.local(0, 0, 0, kLoad);
  const Metrics m = warps.finish();
  EXPECT_EQ(local_sectors_of(m), (LocalSectors{0, 4, 0, 4}));
  EXPECT_EQ(m.integer("lts__t_sectors_op_write.sum"), 4u);
  EXPECT_EQ(warps.rows[0].metrics.integer("lts__t_sectors_op_write.sum"), 4u); // where it was thrown out
  EXPECT_EQ(m.integer("dram__sectors_read.sum"), 512u);                        // not the local line
}

TEST(Caches, NoneBeforeFermi) {
  Caches caches(2, {}, {.multiprocessors = 30});
  WarpStreams warps(caches);
  warps.load(0, 0, 0);
  EXPECT_TRUE(warps.finish().list().empty());
}

} // namespace caches_test
} // namespace warplens::analyzers
