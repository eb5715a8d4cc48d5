// SPDX-License-Identifier: Apache-2.0
// The fast engines agree with the engines that follow the guides literally, on random accesses of every kind. The
// environment variable WARPLENS_RANDOM_ACCESSES sets the number of accesses per rule; the default is 30 000.
#include "analyzers/fast_banks.hpp"
#include "analyzers/fast_coalescing.hpp"
#include "tests/analyzers/accesses.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>

namespace warplens::analyzers {
namespace fast_engines_test {

using namespace rules;

using exec::AccessKind;
using testing::WarpAccess;

std::uint64_t accesses_per_rule() {
  const char* const wanted = std::getenv("WARPLENS_RANDOM_ACCESSES");
  return wanted ? std::strtoull(wanted, nullptr, 10) : 30'000;
}

/// Regular with any stride and base, irregular dense and sparse, any mask, misaligned, gigabytes apart.
WarpAccess random_access(std::mt19937_64& random, std::uint64_t origin) {
  static constexpr exec::Mask kMasks[] = {0xffffffffu, 0xffffffffu, 0xffffu,     0xffff0000u, 0x55555555u,
                                          1u,          0x7fffffffu, 0xff000000u, 0x00ff00ffu, 0x0000f000u};
  const std::uint64_t r = random();
  const auto bytes = static_cast<std::uint16_t>(1u << (r % 6));
  exec::Mask mask = r >> 8 & 1 ? kMasks[(r >> 9) % std::size(kMasks)] : static_cast<exec::Mask>(random());
  if (mask == 0) mask = 8;
  const std::uint64_t unit = r >> 16 & 15 ? bytes : 1; // now and then not aligned
  const std::uint64_t base = origin + (r >> 20) % 256 * unit;
  const std::uint64_t range = 1u << (r >> 48) % 17;
  switch (r >> 40 & 3) {
  case 0: return {mask, bytes, [&](int lane) { return base + static_cast<std::uint64_t>(lane) * bytes; }};
  case 1: {
    const std::uint64_t stride = (r >> 42) % 80 * unit;
    return {mask, bytes, [&](int lane) { return base + static_cast<std::uint64_t>(lane) * stride; }};
  }
  case 2: return {mask, bytes, [&](int) { return base + random() % range * unit; }};
  default: {
    const std::uint64_t far = r >> 60 ? 0 : std::uint64_t{1} << 31; // a few lanes on the other side of a signed key
    return {mask, bytes, [&](int) { return base + random() % range * unit + (random() % 4 ? 0 : far); }};
  }
  }
}

TEST(FastEngines, CoalescingIsThatOfTheGuidesWordForWord) {
  for (const CoalescingRule& rule : coalescing_rules()) {
    const FastCoalescing fast(rule);
    std::mt19937_64 random(17);
    for (std::uint64_t i = 0; i < accesses_per_rule(); ++i) {
      const WarpAccess access = random_access(random, std::uint64_t{1} << 32);
      const Footprint footprint(access.addresses.data(), access.mask, access.lane_bytes);
      const Transactions expected = transactions(rule, access.addresses.data(), access.mask, access.lane_bytes);
      ASSERT_EQ(fast.transactions(footprint), expected) << "access " << i << " under " << rule.name;
    }
  }
}

// Rules that nobody has built, of every size that a file may ask for.
TEST(FastEngines, CoalescingOfAnyRule) {
  std::mt19937_64 random(18);
  for (const std::uint32_t smallest : {32u, 64u, 128u})
    for (const std::uint32_t segment : {32u, 64u, 128u})
      for (const std::uint32_t lanes : {8u, 16u, 32u})
        for (const bool shrink : {false, true}) {
          if (segment < smallest) continue;
          CoalescingRule rule;
          rule.smallest = smallest;
          rule.shrink = shrink;
          rule.words[0] = {{4, {lanes}, segment}};
          const FastCoalescing fast(rule);
          for (std::uint64_t i = 0; i < accesses_per_rule() / 20; ++i) {
            const WarpAccess access = random_access(random, 4096);
            const Footprint footprint(access.addresses.data(), access.mask, access.lane_bytes);
            ASSERT_EQ(fast.transactions(footprint),
                      transactions(rule, access.addresses.data(), access.mask, access.lane_bytes))
                << smallest << " " << segment << " " << lanes << " " << shrink << ", access " << i;
          }
        }
}

void expect_equal(const Passes& fast, const Passes& expected) {
  ASSERT_EQ(fast.passes, expected.passes);
  ASSERT_EQ(fast.worst, expected.worst);
  ASSERT_EQ(fast.fewest, expected.fewest);
  ASSERT_EQ(fast.ways, expected.ways);
  ASSERT_EQ(fast.worst_ways, expected.worst_ways);
}

void compare_banks(const BankRule& rule, std::uint64_t accesses, std::mt19937_64& random) {
  const FastBanks fast(rule);
  for (std::uint64_t i = 0; i < accesses; ++i) {
    const WarpAccess access = random_access(random, 0);
    const auto kind = static_cast<AccessKind>(random() % 4);
    SCOPED_TRACE(::testing::Message() << "access " << i << " of kind " << static_cast<int>(kind) << " and "
                                      << access.lane_bytes << " bytes under " << rule.name);
    ASSERT_NO_FATAL_FAILURE(
        expect_equal(fast.passes(access.addresses.data(), access.mask, access.lane_bytes, {kind}),
                     passes(rule, access.addresses.data(), access.mask, access.lane_bytes, {kind})));
  }
}

TEST(FastEngines, BanksAreThoseOfTheGuidesWordForWord) {
  for (const BankRule& rule : bank_rules()) {
    std::mt19937_64 random(19);
    ASSERT_NO_FATAL_FAILURE(compare_banks(rule, accesses_per_rule(), random));
  }
}

TEST(FastEngines, BankRulesTogetherAreThoseAlone) {
  std::vector<FastBanks> rules;
  for (const BankRule& rule : bank_rules()) rules.emplace_back(rule);
  std::mt19937_64 random(21);
  for (std::uint64_t i = 0; i < accesses_per_rule() / 10; ++i) {
    const WarpAccess access = random_access(random, 0);
    const Service service{static_cast<AccessKind>(random() % 4)};
    std::vector<Passes> together(rules.size());
    FastBanks::count(rules, access.addresses.data(), access.mask, access.lane_bytes, service, together.data());
    for (std::size_t r = 0; r < rules.size(); ++r) {
      SCOPED_TRACE(::testing::Message() << "access " << i << " under rule " << r);
      ASSERT_NO_FATAL_FAILURE(
          expect_equal(together[r], rules[r].passes(access.addresses.data(), access.mask, access.lane_bytes, service)));
    }
  }
}

TEST(FastEngines, FirstLanesAreThoseOfASet) {
  std::mt19937_64 random(22);
  for (std::uint64_t i = 0; i < accesses_per_rule(); ++i) {
    WarpAccess access = random_access(random, 0);
    // From a few words to all, which may begin anywhere: words of 256 or fewer numbers have an implementation of their
    // own.
    const std::uint64_t words = std::uint64_t{2} << random() % 16, start = random() % (0x10000 - words + 1);
    for (std::uint64_t& address : access.addresses) address = 0x7000'0000 + 4 * (start + address / 4 % words);
    std::set<std::uint64_t> seen;
    exec::Mask expected = 0;
    for (const int lane : exec::EachLane(access.mask))
      if (seen.insert(access.addresses[static_cast<std::size_t>(lane)]).second) expected |= exec::Mask{1} << lane;
    ASSERT_EQ(first_lanes(access.addresses.data(), access.mask), expected) << "access " << i;
  }
}

TEST(FastEngines, BanksOfAnyRule) {
  std::mt19937_64 random(20);
  for (const std::uint32_t banks : {16u, 32u})
    for (const std::uint32_t bank_bytes : {4u, 8u})
      for (const std::uint32_t rows : {1u, 2u, 4u})
        for (const std::uint32_t lanes : {8u, 16u, 32u})
          for (const unsigned flags : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u}) {
            BankRule rule;
            rule.banks = banks;
            rule.bank_bytes = bank_bytes;
            rule.row_bytes = rows * banks * bank_bytes;
            rule.broadcast = flags & 1 ? BankRule::Broadcast::one_word : BankRule::Broadcast::every_word;
            rule.split_words = flags & 2;
            rule.merge_equal_pairs = flags & 4;
            rule.words[0] = {{4, {lanes}, flags & 1}};
            SCOPED_TRACE(::testing::Message() << banks << " banks of " << bank_bytes << " bytes, " << rows << " rows, "
                                              << lanes << " lanes, " << flags);
            ASSERT_NO_FATAL_FAILURE(compare_banks(rule, accesses_per_rule() / 200, random));
          }
}

TEST(SortedLanes, SortsEachGroupAndFindsWhereItChanges) {
  std::mt19937_64 random(21);
  for (int i = 0; i < 20'000; ++i) {
    LaneKeys keys;
    const std::uint64_t range = std::uint64_t{1} << random() % 32;
    for (std::int32_t& key : keys) key = static_cast<std::int32_t>(random() % range - (random() % 2 ? range / 2 : 0));
    const SortedLanes lanes(keys);
    const std::size_t sizes[] = {8, 16, 32};
    for (std::size_t g = 0; g < 3; ++g) {
      LaneKeys expected = keys;
      for (std::size_t first = 0; first < keys.size(); first += sizes[g])
        std::sort(&expected[first], &expected[first] + sizes[g]);
      ASSERT_EQ(lanes.keys(static_cast<Group>(g)), expected);
      const std::int32_t bits[] = {~0, ~31, 1 << 20, 0};
      const auto active = static_cast<exec::Mask>(random());
      SortedLanes::Starts starts;
      lanes.starts(static_cast<Group>(g), bits, active, starts);
      for (std::size_t of = 0; of < 4; ++of)
        for (std::size_t k = 0; k < keys.size(); ++k) {
          const bool new_one = k % sizes[g] == 0 || (expected[k] & bits[of]) != (expected[k - 1] & bits[of]);
          ASSERT_EQ(starts[of] >> k & 1, new_one && active >> k & 1);
        }
    }
  }
}

TEST(SortedLanes, DistancesStandInForInactiveLanes) {
  std::mt19937_64 random(22);
  for (int i = 0; i < 20'000; ++i) {
    std::uint64_t addresses[exec::kWarpSize];
    for (std::uint64_t& address : addresses) address = (std::uint64_t{1} << 40) + random() % 1000;
    const exec::Mask mask = static_cast<exec::Mask>(random() & random() & random()) | 1u << random() % 32;
    LaneKeys keys;
    ASSERT_TRUE(distances(addresses, mask, (std::uint64_t{1} << 40) + 500, keys));
    for (const std::size_t size : {8u, 16u, 32u})
      for (std::size_t first = 0; first < exec::kWarpSize; first += size) {
        std::set<std::int32_t> active, all;
        for (std::size_t k = first; k < first + size; ++k) {
          all.insert(keys[k]);
          if (mask >> k & 1) active.insert(static_cast<std::int32_t>(addresses[k] - (std::uint64_t{1} << 40)) - 500);
        }
        if (!active.empty()) {
          ASSERT_EQ(all, active);
        }
      }
  }
  std::uint64_t apart[exec::kWarpSize]{};
  apart[1] = std::uint64_t{1} << 31;
  LaneKeys keys;
  EXPECT_FALSE(distances(apart, 3, 0, keys));
  EXPECT_TRUE(distances(apart, 3, 1, keys));
  EXPECT_TRUE(distances(apart, 1, 0, keys)); // of inactive lanes nothing is known
}

} // namespace fast_engines_test
} // namespace warplens::analyzers
