// SPDX-License-Identifier: Apache-2.0
// Accesses that are counted sixteen at a time have the counts of the engines that follow the guides literally, at each
// processor level, and an analyzer that gets them together counts the same as one that gets them one by one.
#include "analyzers/access_batch.hpp"
#include "analyzers/fast_banks.hpp"
#include "analyzers/fast_coalescing.hpp"
#include "analyzers/global_transactions.hpp"
#include "analyzers/shared_banks.hpp"
#include "tests/analyzers/accesses.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <set>

namespace warplens::analyzers {
namespace access_batch_test {

using namespace rules;

using exec::AccessKind, exec::AccessRows;
using testing::WarpAccess;

/// Batches of one test; each has up to 16 accesses.
int batches() {
  const char* const wanted = std::getenv("WARPLENS_RANDOM_ACCESSES");
  return static_cast<int>((wanted ? std::strtoull(wanted, nullptr, 10) : 30'000) / 30);
}

struct Rows {
  exec::Mask masks[AccessRows::kMost];
  AccessRows::Row rows[AccessRows::kMost];
  AccessRows all;
};

exec::Mask random_mask(std::mt19937_64& random) {
  static constexpr exec::Mask kMasks[] = {0xffffu, 0xffff0000u, 0x55555555u, 1u, 0x7fffffffu, 0xff000000u, 0x00ff00ffu};
  const std::uint64_t r = random();
  if (r & 1) return ~exec::Mask{0};
  const exec::Mask mask = r & 2 ? kMasks[(r >> 2) % std::size(kMasks)] : static_cast<exec::Mask>(random());
  return mask ? mask : 8;
}

/// Dense and sparse accesses, with and without lanes of one address, rows of tiles, permutations, strides, some that
/// are not aligned or gigabytes apart, near the beginning and the end of the address space.
void make(std::mt19937_64& random, std::uint64_t origin, Rows& made) {
  AccessRows& all = made.all;
  all = {};
  all.lane_bytes = static_cast<std::uint16_t>(1u << random() % 6);
  all.kind = static_cast<AccessKind>(random() % 4);
  all.count = random() % 4 ? AccessRows::kMost : 1 + random() % AccessRows::kMost;
  all.masks = made.masks;
  all.rows = made.rows;
  const std::uint64_t bytes = all.lane_bytes;
  for (std::size_t i = 0; i < all.count; ++i) {
    made.masks[i] = random_mask(random);
    const std::uint64_t r = random(), unit = r & 31 ? bytes : 1, range = std::uint64_t{1} << (r >> 8) % 22;
    const std::uint64_t base = origin + random() % 4096 * unit, group = std::uint64_t{1} << (r >> 16) % 6;
    const std::uint64_t stride = random() % 5 * unit, rows = random() % 1000 * unit;
    const std::uint64_t far = (r >> 24) % 16 ? 0 : std::uint64_t{1} << 29 << (r >> 32) % 4;
    for (std::uint64_t lane = 0; lane < exec::kWarpSize; ++lane) {
      std::uint64_t& address = made.rows[i][lane];
      switch (r >> 5 & 3) {
      case 0: address = base + lane % group * stride + lane / group * rows; break;
      case 1: address = base + (lane ^ (r >> 40 & 31)) * bytes; break;
      default: address = base + random() % range * unit + (random() % 4 ? 0 : far); break;
      }
      if ((made.masks[i] >> lane & 1) == 0 && r >> 63) address = random(); // anything
    }
  }
}

constexpr std::uint64_t kOrigins[] = {0, 4096, std::uint64_t{1} << 31, std::uint64_t{1} << 40,
                                      ~std::uint64_t{0} - (std::uint64_t{1} << 35)};

void merge(Transactions& sum, const Transactions& one) {
  sum.smallest = one.smallest;
  for (std::size_t i = 0; i < one.count.size(); ++i) sum.count[i] += one.count[i];
  sum.uncoalesced += one.uncoalesced;
  sum.repeats += one.repeats;
  sum.skipped += one.skipped;
  sum.ideal += one.ideal;
}

template <class See> void each_taken(const AccessBatch& batch, See&& see) {
  for (std::size_t i = 0; i < batch.rows.count; ++i)
    if (batch.taken() >> i & 1) see(i);
}

TEST(AccessBatch, CountsWhatLanesTouch) {
  for (const BatchFunctions& level : batch_functions()) {
    std::mt19937_64 random(31);
    std::uint64_t taken = 0, all = 0;
    for (int n = 0; n < batches(); ++n) {
      Rows rows;
      make(random, kOrigins[random() % std::size(kOrigins)], rows);
      AccessBatch batch(rows.all, level);
      taken += batch.count();
      all += rows.all.count;
      for (const Group group : {Group::quarter, Group::half, Group::warp}) {
        const GroupCounts* const counts = batch.counts(group);
        each_taken(batch, [&](std::size_t i) {
          for (std::uint32_t first = 0, g = 0; first < exec::kWarpSize; first += lanes_of(group), ++g) {
            std::set<std::uint64_t> touched[4];
            std::set<std::uint64_t> sectors_of_lines;
            for (std::uint32_t lane = first; lane < first + lanes_of(group); ++lane) {
              if ((rows.masks[i] >> lane & 1) == 0) continue;
              const std::uint64_t address = rows.rows[i][lane];
              touched[0].insert(address);
              touched[1].insert(address / kSectorBytes);
              touched[2].insert(address / kBlockBytes);
              touched[3].insert(address / kLineBytes);
            }
            std::uint32_t wide = 0;
            for (const std::uint64_t line : touched[3]) {
              const auto from = touched[1].lower_bound(line * 4);
              wide += std::next(from) != touched[1].end() && *std::next(from) < line * 4 + 4 ? 1 : 0;
            }
            const auto count = [&](const BatchNumbers& numbers) { return static_cast<std::size_t>(numbers.of[i]); };
            ASSERT_EQ(count(counts[g].distinct), touched[0].size()) << level.name << " batch " << n << " access " << i;
            ASSERT_EQ(count(counts[g].sectors), touched[1].size()) << level.name << " batch " << n << " access " << i;
            ASSERT_EQ(count(counts[g].blocks), touched[2].size()) << level.name << " batch " << n << " access " << i;
            ASSERT_EQ(count(counts[g].lines), touched[3].size()) << level.name << " batch " << n << " access " << i;
            ASSERT_EQ(count(counts[g].wide), wide) << level.name << " batch " << n << " access " << i;
          }
        });
      }
    }
    EXPECT_GT(taken, all * 3 / 4) << level.name;
    EXPECT_LT(taken, all) << level.name;
  }
}

TEST(AccessBatch, CoalescesAsTheGuidesSay) {
  std::vector<FastCoalescing> rules;
  for (const CoalescingRule& rule : coalescing_rules()) rules.emplace_back(rule);
  for (const std::uint32_t smallest : {32u, 64u, 128u}) // rules that nobody has built
    for (const std::uint32_t segment : {32u, 64u, 128u})
      for (const std::uint32_t lanes : {8u, 16u, 32u})
        for (const bool shrink : {false, true}) {
          if (segment < smallest) continue;
          Coalescing rule;
          rule.smallest = smallest;
          rule.shrink = shrink;
          rule.words[0] = {{4, {lanes}, segment}};
          rules.emplace_back(rule);
        }
  for (const BatchFunctions& level : batch_functions())
    for (const FastCoalescing& rule : rules) {
      std::mt19937_64 random(32);
      for (int n = 0; n < batches() / 10; ++n) {
        Rows rows;
        make(random, kOrigins[random() % std::size(kOrigins)], rows);
        AccessBatch batch(rows.all, level);
        const Service service{rows.all.kind};
        Transactions sum, expected;
        FastCoalescing::count({&rule, 1}, batch, service, &sum);
        each_taken(batch, [&](std::size_t i) {
          merge(expected, transactions(rule.rule(), rows.rows[i], rows.masks[i], rows.all.lane_bytes, service));
        });
        if (batch.taken() == 0) continue;
        ASSERT_EQ(sum, expected) << level.name << " rule " << &rule - rules.data() << " batch " << n;
      }
    }
}

TEST(AccessBatch, CountsPassesAsTheGuidesSay) {
  for (const BatchFunctions& level : batch_functions())
    for (const BankRule& content : bank_rules()) {
      const FastBanks rule(content);
      std::mt19937_64 random(33);
      std::uint64_t taken = 0;
      for (int n = 0; n < batches() / 2; ++n) {
        Rows rows;
        make(random, 0, rows);
        rows.all.lane_bytes = std::min<std::uint16_t>(rows.all.lane_bytes, 16);
        AccessBatch batch(rows.all, level);
        const Service service{rows.all.kind};
        rule.leave_out(batch, service);
        Passes sum, expected;
        BatchNumbers ways;
        rule.add(batch, service, sum, &ways);
        taken += batch.count();
        each_taken(batch, [&](std::size_t i) {
          const Passes one = passes(content, rows.rows[i], rows.masks[i], rows.all.lane_bytes, service);
          expected.passes += one.passes;
          expected.worst += one.worst;
          expected.fewest += one.fewest;
          ASSERT_EQ(static_cast<std::uint32_t>(ways.of[i]), one.ways) << level.name << " " << content.name;
        });
        if (batch.taken() == 0) continue;
        ASSERT_EQ(sum.passes, expected.passes) << level.name << " " << content.name << " batch " << n;
        ASSERT_EQ(sum.worst, expected.worst) << level.name << " " << content.name << " batch " << n;
        ASSERT_EQ(sum.fewest, expected.fewest) << level.name << " " << content.name << " batch " << n;
      }
      const bool common = content.name == "5.x+" || content.name == "1.x";
      EXPECT_TRUE(taken != 0 || !common) << level.name << " " << content.name;
    }
}

TEST(AccessBatch, FindsTheFirstLanes) {
  for (const BatchFunctions& level : batch_functions()) {
    std::mt19937_64 random(35);
    for (int n = 0; n < batches(); ++n) {
      Rows rows;
      make(random, 0, rows);
      const std::uint64_t words = std::uint64_t{1} << random() % 16;
      BatchNumbers masks{}, firsts;
      for (std::size_t i = 0; i < rows.all.count; ++i) {
        masks.of[i] = static_cast<std::int32_t>(rows.masks[i]);
        for (std::uint64_t& address : rows.rows[i]) address = 4 * (random() % words);
      }
      LaneNumbers keys;
      rows.all.lane_bytes = 4;
      const std::uint32_t all = (1u << rows.all.count) - 1;
      ASSERT_EQ(level.arrange(rows.all, keys) & all, all);
      level.first_lanes(keys, masks, firsts);
      for (std::size_t i = 0; i < rows.all.count; ++i)
        ASSERT_EQ(static_cast<exec::Mask>(firsts.of[i]), first_lanes(rows.rows[i], rows.masks[i]))
            << level.name << " batch " << n << " access " << i;
    }
  }
}

TEST(AccessBatch, FindsUnlikePairs) {
  for (const BatchFunctions& level : batch_functions()) {
    std::mt19937_64 random(36);
    for (int n = 0; n < batches(); ++n) {
      Rows rows;
      make(random, kOrigins[random() % std::size(kOrigins)], rows);
      BatchNumbers masks{};
      for (std::size_t i = 0; i < rows.all.count; ++i) masks.of[i] = static_cast<std::int32_t>(rows.masks[i]);
      LaneNumbers keys;
      const std::uint32_t near = level.arrange(rows.all, keys), unlike = level.with_unlike_pairs(keys, masks);
      for (std::size_t i = 0; i < rows.all.count; ++i) {
        std::set<std::uint64_t> distances;
        for (std::size_t lane = 0; lane < exec::kWarpSize; lane += 2)
          if ((rows.masks[i] >> lane & 3) == 3) distances.insert(rows.rows[i][lane + 1] - rows.rows[i][lane]);
        if ((near >> i & 1) == 0) continue;
        ASSERT_EQ(unlike >> i & 1, distances.size() > 1 ? 1u : 0u) << level.name << " batch " << n;
      }
    }
  }
}

/// All metrics of a launch and of its instructions.
template <class Analyzer> std::string text_of(const Analyzer& analyzer, std::size_t instructions) {
  Metrics launch;
  std::vector<InstructionRow> rows(instructions);
  analyzer.report(launch, rows);
  std::string text;
  const auto add = [&](const Metrics& metrics) {
    for (const Metric& one : metrics.list())
      text += std::string(one.name()) + " " + std::to_string(one.number()) + "\n";
  };
  add(launch);
  for (const InstructionRow& row : rows) {
    text += row.pattern + " " + std::to_string(row.stride) + " " + std::to_string(row.lane_bytes) + "\n";
    add(row.metrics);
  }
  return text;
}

template <class Analyzer> void compare(isa::Space space, std::uint64_t origin) {
  constexpr std::size_t kInstructions = 5;
  const ir::Function none;
  const std::vector<DeviceRules> devices = {DeviceRules::usual(),
                                            {*find_coalescing_rule("5.x-l1"), *find_bank_rule("2.x")}};
  for (std::size_t kinds = 1; kinds <= devices.size(); ++kinds) {
    const CountedRules rules(none, std::span(devices).first(kinds), {});
    std::mt19937_64 random(34);
    for (int n = 0; n < batches() / 20; ++n) {
      Analyzer together(kInstructions, rules), alone(kInstructions, rules);
      const auto all = together.make_shard(), each = alone.make_shard();
      for (int i = 0; i < 8; ++i) {
        Rows rows;
        make(random, origin, rows);
        rows.all.space = space;
        rows.all.instruction = static_cast<std::uint32_t>(random() % (kInstructions + 1));
        if (space == isa::Space::shared) rows.all.lane_bytes = std::min<std::uint16_t>(rows.all.lane_bytes, 16);
        all->access_rows(rows.all);
        for (std::size_t access = 0; access < rows.all.count; ++access) each->access(rows.all[access]);
      }
      together.absorb(*all);
      alone.absorb(*each);
      ASSERT_EQ(text_of(together, kInstructions), text_of(alone, kInstructions)) << "launch " << n;
    }
  }
}

TEST(AccessBatch, GlobalTransactionsAreThoseOfEachAccess) {
  compare<GlobalTransactions>(isa::Space::global, std::uint64_t{1} << 40);
}

TEST(AccessBatch, SharedBanksAreThoseOfEachAccess) { compare<SharedBanks>(isa::Space::shared, 0); }

} // namespace access_batch_test
} // namespace warplens::analyzers
