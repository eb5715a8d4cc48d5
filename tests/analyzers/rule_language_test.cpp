// SPDX-License-Identifier: Apache-2.0
// Features of the rule language that the built-in rules do not use, counted by hand. Also, the fast engine agrees with
// the reference engine on random rules from the whole language.
#include "analyzers/analyzers.hpp"
#include "analyzers/fast_banks.hpp"
#include "analyzers/fast_coalescing.hpp"
#include "tests/analyzers/accesses.hpp"

#include <gtest/gtest.h>

#include <random>

namespace warplens::analyzers {
namespace rule_language_test {

using namespace rules;
using exec::AccessKind;
using testing::WarpAccess;

CoalescingRule coalescing(const std::string& keys, const std::string& words) {
  auto rule = parse_coalescing_rule("rule = \"coalescing\"\nname = \"t\"\ntitle = \"t\"\n" + keys + "\n" + words, "t");
  if (!rule) throw std::runtime_error(render(rule.error(), ""));
  return *rule;
}
BankRule banks(const std::string& keys) {
  auto rule = parse_bank_rule(
      "rule = \"banks\"\nname = \"t\"\ntitle = \"t\"\nsplit_words = false\n" + keys + "\n[[word]]\nbytes = 4\n", "t");
  if (!rule) throw std::runtime_error(render(rule.error(), ""));
  return *rule;
}
Transactions count(const CoalescingRule& rule, const WarpAccess& a, Service service = {}) {
  return transactions(rule, a.addresses.data(), a.mask, a.lane_bytes, service);
}
std::uint32_t passes_of(const BankRule& rule, const WarpAccess& a, Service service = {}) {
  return passes(rule, a.addresses.data(), a.mask, a.lane_bytes, service).passes;
}

constexpr const char* kAny32 = "order = \"any\"\nsmallest = 32";
const WarpAccess kUnit(~0u, 4, [](int lane) { return 4096 + 4 * lane; });

TEST(RuleLanguage, SegmentsOfAnyPowerOfTwo) {
  const Transactions large =
      count(coalescing("order = \"any\"\nsmallest = 512", "[[word]]\nbytes = 4\nsegment = 512\n"),
            WarpAccess(~0u, 4, [](int lane) { return 4096 + 32 * lane; }));
  EXPECT_EQ(large.of(512), 2u);
  EXPECT_EQ(large.bytes(), 1024u);
  const Transactions small =
      count(coalescing("order = \"any\"\nsmallest = 4\nshrink = true", "[[word]]\nbytes = 4\nsegment = 16\n"),
            WarpAccess(0xff, 4, [](int lane) { return 4096 + 8 * lane; }));
  EXPECT_EQ(small.of(16), 4u); // two words of each, at its ends
  EXPECT_EQ(count(coalescing("order = \"any\"\nsmallest = 4\nshrink = true", "[[word]]\nbytes = 4\nsegment = 16\n"),
                  WarpAccess(1, 4, [](int) { return 4096; }))
                .of(4),
            1u);
}

TEST(RuleLanguage, GroupsOfLanes) {
  const CoalescingRule even_and_odd = coalescing(
      kAny32, "[[word]]\nbytes = 4\nsegment = 128\ngroups = [\"0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30\", "
              "\"1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31\"]\n");
  EXPECT_EQ(count(even_and_odd, kUnit).of(128), 2u);
  const CoalescingRule fours = coalescing(kAny32, "[[word]]\nbytes = 4\nlanes = 4\nsegment = 32\n");
  EXPECT_EQ(count(fours, kUnit).of(32), 8u);
  EXPECT_EQ(count(fours, kUnit).ideal, 8u * 32);
}

TEST(RuleLanguage, SegmentsThatStartAtAnAlignment) {
  const std::string word = "[[word]]\nbytes = 4\nsegment = 128\n";
  const WarpAccess shifted(~0u, 4, [](int lane) { return 4096 + 32 + 4 * lane; });
  EXPECT_EQ(count(coalescing(kAny32, word), shifted).of(128), 2u);
  EXPECT_EQ(count(coalescing(kAny32, word + "alignment = 32\n"), shifted).of(128), 1u);
  const std::string ordered = "order = \"kth_word\"\nsmallest = 32";
  EXPECT_EQ(count(coalescing(ordered, word), shifted).uncoalesced, 32u);
  EXPECT_EQ(count(coalescing(ordered, word + "alignment = 32\n"), shifted).of(128), 1u);
}

TEST(RuleLanguage, SectorsInsideOfSegments) {
  const CoalescingRule rule = coalescing(kAny32, "[[word]]\nbytes = 4\nsegment = 128\nsector = 32\n");
  const WarpAccess column(~0u, 4, [](int lane) { return 4096 + 64 * lane; });
  EXPECT_EQ(count(rule, column).of(128), 16u);
  EXPECT_EQ(count(rule, column).bytes(), 32u * 32);
  EXPECT_EQ(count(rule, kUnit).bytes(), 128u);
  EXPECT_EQ(count(rule, column).ideal, 128u);
}

TEST(RuleLanguage, StoresAtomicsAndVectorsDiffer) {
  const CoalescingRule rule =
      coalescing(kAny32, "[[word]]\nbytes = 4\nsegment = 128\n[[store]]\nbytes = 4\nsegment = 32\n"
                         "[[atomic]]\nbytes = 4\nlanes = 1\nsegment = 32\n"
                         "[[vector]]\nbytes = 8\nsegment = 64\n");
  EXPECT_EQ(count(rule, kUnit, {AccessKind::load}).of(128), 1u);
  EXPECT_EQ(count(rule, kUnit, {AccessKind::store}).of(32), 4u);
  EXPECT_EQ(count(rule, kUnit, {AccessKind::reduction}).of(32), 32u);
  const WarpAccess pairs(~0u, 8, [](int lane) { return 4096 + 8 * lane; });
  EXPECT_EQ(count(rule, pairs, {AccessKind::load, 2}).of(64), 4u);
  EXPECT_EQ(count(rule, pairs, {AccessKind::load, 1}).of(128), 2u);
  const CoalescingRule split =
      coalescing(std::string(kAny32) + "\nsplit_vectors = true", "[[word]]\nbytes = 4\nsegment = 32\n");
  EXPECT_EQ(count(split, pairs, {AccessKind::load, 2}).total(), 16u); // each element touches all 8 sectors
  EXPECT_EQ(count(split, pairs, {AccessKind::load, 1}).total(), 8u);
}

TEST(RuleLanguage, EqualAddressesInTurns) {
  const std::string word = "[[word]]\nbytes = 4\nsegment = 32\n";
  const WarpAccess same(~0u, 4, [](int lane) { return 4096 + 32 * (lane / 8); }); // four words, of eight lanes each
  EXPECT_EQ(count(coalescing(kAny32, word), same).repeats, 0u);
  const CoalescingRule turns = coalescing(std::string(kAny32) + "\nequal_addresses = \"in_turns\"", word);
  EXPECT_EQ(count(turns, same).total(), 4u);
  EXPECT_EQ(count(turns, same).repeats, 28u);
  const CoalescingRule atomics = coalescing(std::string(kAny32) + "\natomics = \"in_turns\"", word);
  EXPECT_EQ(count(atomics, same, {AccessKind::atomic}).repeats, 28u);
  EXPECT_EQ(count(atomics, same, {AccessKind::store}).repeats, 0u);
}

TEST(RuleLanguage, BanksByIndexFunction) {
  const auto stride = [](int words) { return WarpAccess(~0u, 4, [=](int lane) { return 4 * words * lane; }); };
  const std::string rest = "bank_bytes = 4\nbroadcast = \"every_word\"\n";
  const BankRule modulo = banks("banks = 32\n" + rest), prime = banks("banks = 31\nindex = \"prime\"\n" + rest),
                 mixed = banks("banks = 32\nindex = \"xor\"\n" + rest);
  EXPECT_EQ(passes_of(modulo, stride(32)), 32u);
  EXPECT_EQ(passes_of(prime, stride(32)), 2u); // 32 lanes, 31 banks
  EXPECT_EQ(passes_of(prime, stride(31)), 32u);
  EXPECT_EQ(passes_of(mixed, stride(32)), 1u);
  EXPECT_EQ(passes_of(mixed, stride(1)), 1u);
  EXPECT_EQ(passes_of(mixed, stride(33)), 32u); // lane i asks for bank i ^ i
  EXPECT_EQ(passes_of(banks("banks = 64\n" + rest), stride(2)), 1u);
  EXPECT_EQ(passes_of(banks("banks = 4\n" + rest), stride(1)), 8u);
}

TEST(RuleLanguage, BanksThatServeOneLane) {
  const WarpAccess same(~0u, 4, [](int) { return 64; });
  const std::string rest = "banks = 32\nbank_bytes = 4\n";
  EXPECT_EQ(passes_of(banks(rest + "broadcast = \"none\""), same), 32u);
  const BankRule stores = banks(rest + "broadcast = \"every_word\"\natomics = \"as_stores\"");
  EXPECT_EQ(passes_of(stores, same, {AccessKind::atomic}), 1u);
}

TEST(RuleLanguage, ImpossibleRulesAreRefused) {
  const auto refused = [](const char* keys, const char* words, const char* why) {
    try {
      coalescing(keys, words);
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
      return;
    }
    ADD_FAILURE() << "accepted: " << words;
  };
  const char* const any = kAny32;
  refused(any, "[[word]]\nbytes = 4\nsegment = 48\n", "'segment' must be a power of two from 4 to 4096, got 48");
  refused(any, "[[word]]\nbytes = 4\nsegment = 32\nsector = 64\n", "a sector must be as large as");
  refused(any, "[[word]]\nbytes = 4\nsegment = 32\nalignment = 64\n", "the alignment of a segment is larger");
  refused(any, "[[word]]\nbytes = 4\nsegment = 64\nalignment = 16\n", "the alignment of a segment is smaller");
  refused(any, "[[word]]\nbytes = 4\nsegment = 32\ngroups = [\"0-30\"]\n", "some of the 32 lanes are in no request");
  refused(any, "[[word]]\nbytes = 4\nsegment = 32\ngroups = [\"0-31\", \"3\"]\n", "each once, got \"3\"");
  refused(any, "[[word]]\nbytes = 4\nsegment = 32\ngroups = [\"0-32\"]\n", "lanes from 0 to 31");
  refused(any, "[[word]]\nbytes = 4\nsegment = 32\nlanes = 8\ngroups = [\"0-31\"]\n", "exclude each other");
  EXPECT_THROW(banks("banks = 33\nbank_bytes = 4\nindex = \"prime\"\nbroadcast = \"none\""), std::runtime_error);
  EXPECT_THROW(banks("banks = 31\nbank_bytes = 4\nbroadcast = \"none\""), std::runtime_error);
  EXPECT_THROW(banks("banks = 32\nbank_bytes = 4\nxor_shift = 5\nbroadcast = \"none\""), std::runtime_error);
  EXPECT_THROW(banks("banks = 32\nbank_bytes = 4\nrow_bytes = 96\nbroadcast = \"none\""), std::runtime_error);
}

// Accesses that the emulator delivers together must cost the same: a period of more than its own has them one by one.
TEST(RuleLanguage, LongPeriodsAreToldOneByOne) {
  EXPECT_EQ(find_bank_rule("5.x+")->period(), 4u);
  EXPECT_EQ(find_bank_rule("prime-31")->period(), 4u);
  EXPECT_GE(find_bank_rule("xor-32")->period(), 4096u);
  const ir::Module module;
  const ir::Function function;
  Analysis usual(module, function, {});
  EXPECT_EQ(usual.make_shard()->begin_cta(1'000'000), false);
  RuleSet rules;
  ASSERT_TRUE(rules.add(*find_rule("xor-32")));
  Analysis asked(module, function, {}, {.rules = rules});
  const WarpAccess column(~0u, 4, [](int lane) { return 128 * lane; });
  const exec::Access access = column.event(AccessKind::load, isa::Space::shared);
  std::vector<std::unique_ptr<exec::Shard>> shards;
  shards.push_back(asked.make_shard());
  ASSERT_TRUE(shards[0]->begin_cta(1'000'000));
  shards[0]->each_access({1'000'000, 0}, access);
  shards[0]->access(access); // the same once more, as one of many
  asked.finish(std::move(shards), {});
  EXPECT_EQ(asked.profile().integer("rule.xor-32.ld_passes"), 1u);
}

WarpAccess random_access(std::mt19937_64& random) {
  const auto bytes = static_cast<std::uint16_t>(1u << random() % 5);
  const std::uint64_t range = std::uint64_t{1} << random() % 10, stride = random() % 40;
  const bool regular = random() % 2;
  return {static_cast<exec::Mask>(random()) | 1u << random() % 32, bytes, [&](int lane) {
            return 8192 + bytes * (regular ? stride * static_cast<std::uint64_t>(lane) : random() % range);
          }};
}

Requests random_requests(std::mt19937_64& random) {
  if (random() % 4 == 0) {
    const auto some = static_cast<std::uint32_t>(random());
    return {.lanes = 32, .groups = {some, ~some}};
  }
  return {.lanes = 1u << random() % 6};
}

TEST(RuleLanguage, FastCoalescingIsThePlainOneForRandomRules) {
  std::mt19937_64 random(31);
  for (int i = 0; i < 400; ++i) {
    Coalescing rule;
    rule.smallest = 4u << random() % 7;
    rule.shrink = random() % 2;
    rule.equal_addresses_wait = random() % 4 == 0;
    rule.atomics = static_cast<Coalescing::Atomics>(random() % 3);
    rule.split_vectors = random() % 4 == 0;
    for (std::size_t served = 0; served < kServed; ++served) {
      rule.words[served].clear();
      for (const std::uint32_t bytes : {4u, 8u}) {
        if (served != 0 && random() % 2) continue;
        WordClass word{.bytes = bytes, .requests = random_requests(random), .segment = rule.smallest << random() % 4};
        if (random() % 4 == 0) word.alignment = rule.smallest;
        if (!rule.shrink && random() % 4 == 0) word.sector = rule.smallest;
        rule.words[served].push_back(word);
      }
    }
    const FastCoalescing fast(rule);
    for (int k = 0; k < 100; ++k) {
      const WarpAccess a = random_access(random);
      const Service service{static_cast<AccessKind>(random() % 4), 1u << random() % 3};
      const Footprint footprint(a.addresses.data(), a.mask, a.lane_bytes);
      const Transactions expected = count(CoalescingRule{{}, rule}, a, service);
      ASSERT_EQ(fast.transactions(footprint, service), expected) << i << " " << k;
      std::uint64_t largest = 0; // no size that fast.sizes() leaves out
      for (std::size_t n = 0; n < Transactions::kSizes; ++n)
        if (expected.count[n]) largest = n;
      ASSERT_LT(largest, fast.sizes());
    }
  }
}

TEST(RuleLanguage, FastBanksAreThePlainOnesForRandomRules) {
  std::mt19937_64 random(32);
  for (int i = 0; i < 400; ++i) {
    Banks rule;
    rule.index = static_cast<Banks::Index>(random() % 3);
    const std::uint32_t primes[] = {2, 7, 31, 61};
    rule.banks = rule.index == Banks::Index::prime ? primes[random() % 4] : 1u << random() % 8;
    rule.bank_bytes = 1u << random() % 6;
    rule.xor_shift = 1 + static_cast<std::uint32_t>(random() % 8);
    rule.row_bytes = rule.banks * rule.bank_bytes * (rule.index == Banks::Index::prime ? 1 : 1u << random() % 3);
    rule.broadcast = static_cast<Banks::Broadcast>(random() % 3);
    rule.split_words = random() % 2;
    rule.atomics = static_cast<Banks::Atomics>(random() % 3);
    for (std::size_t served = 0; served < kServed; ++served) {
      rule.words[served].clear();
      if (served == 0 || random() % 3 == 0)
        rule.words[served].push_back({4, random_requests(random), static_cast<std::uint32_t>(random() % 2)});
    }
    const FastBanks fast(rule);
    for (int k = 0; k < 60; ++k) {
      const WarpAccess a = random_access(random);
      const Service service{static_cast<AccessKind>(random() % 4), 1u << random() % 3};
      const Passes expected = passes(rule, a.addresses.data(), a.mask, a.lane_bytes, service);
      const Passes found = fast.passes(a.addresses.data(), a.mask, a.lane_bytes, service);
      ASSERT_EQ(found.passes, expected.passes) << i << " " << k;
      ASSERT_EQ(found.worst, expected.worst) << i << " " << k;
      ASSERT_EQ(found.fewest, expected.fewest) << i << " " << k;
      const std::uint64_t moved = rule.period() * (1 + random() % 9);
      WarpAccess elsewhere = a;
      for (std::uint64_t& address : elsewhere.addresses) address += moved;
      ASSERT_EQ(passes(rule, elsewhere.addresses.data(), a.mask, a.lane_bytes, service).passes, expected.passes)
          << "moved by " << moved;
    }
  }
}

} // namespace rule_language_test
} // namespace warplens::analyzers
