// SPDX-License-Identifier: Apache-2.0
#include "analyzers/coalescing.hpp"
#include "analyzers/fast_coalescing.hpp"
#include "tests/analyzers/accesses.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <random>

namespace warplens::analyzers {
namespace coalescing_test {

using namespace rules;

using testing::WarpAccess;

const CoalescingRule& rule_named(std::string_view name) {
  const CoalescingRule* rule = find_coalescing_rule(name);
  if (!rule) throw std::runtime_error("no rule " + std::string(name));
  return *rule;
}

TEST(Coalescing, BuiltInRulesAreThere) {
  for (const char* name :
       {"1.0", "1.2", "2.x-l1", "2.x-l2", "3.x-l1", "3.x", "5.x-l1", "5.x-tags", "5.x", "6.0", "7.x-tags"})
    EXPECT_NE(find_coalescing_rule(name), nullptr) << name;
}

// The figures and rules of NVIDIA's guides: number, bytes, size and place of every transaction.
TEST(Coalescing, VectorsOfTheGuides) {
  const std::map<std::string, std::vector<std::string>> rules = {{"1.0", {"1.0"}},
                                                                 {"1.2", {"1.2"}},
                                                                 {"l1", {"2.x-l1", "3.x-l1", "5.x-l1"}},
                                                                 {"l2", {"2.x-l2", "3.x", "5.x", "6.0"}}};
  std::ifstream file(WARPLENS_SOURCE_DIR "/tests/data/vectors/coalesce_vectors.json");
  const nlohmann::json vectors = nlohmann::json::parse(file);
  ASSERT_EQ(vectors.size(), 56u);
  for (const auto& vector : vectors) {
    SCOPED_TRACE(vector["name"].get<std::string>() + " under " + vector["rule"].get<std::string>());
    WarpAccess access;
    access.lane_bytes = vector["word"];
    for (std::size_t i = 0; i < vector["lanes"].size(); ++i) {
      const int lane = vector["lanes"][i];
      access.mask |= 1u << lane;
      access.addresses[static_cast<std::size_t>(lane)] = vector["addr"][i];
    }
    for (const std::string& name : rules.at(vector["rule"])) {
      std::vector<Transaction> list;
      const CoalescingRule& rule = rule_named(name);
      const Transactions found = transactions(rule, access.addresses.data(), access.mask, access.lane_bytes, {}, &list);
      EXPECT_EQ(found.total(), vector["n"].get<std::uint32_t>()) << name;
      EXPECT_EQ(found.bytes(), vector["bytes"].get<std::uint64_t>()) << name;
      std::map<std::string, int> by;
      for (const Transaction& one : list) ++by[std::to_string(one.bytes) + "@" + std::to_string(one.base)];
      EXPECT_EQ(by, (vector["by"].get<std::map<std::string, int>>())) << name;
      const Footprint footprint(access.addresses.data(), access.mask, access.lane_bytes);
      EXPECT_EQ(FastCoalescing(rule).transactions(footprint), found) << name;
    }
  }
}

TEST(Footprint, ListsLinesAscending) {
  const WarpAccess access(0x0000ffffu, 4, [](int lane) { return 4096 + (lane % 2 ? 1280 : 64) + lane / 4 * 4; });
  const Footprint footprint(access.addresses.data(), access.mask, 4);
  const auto lines = footprint.lines();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].number, 32u);
  EXPECT_EQ(lines[0].sectors, 4u);
  EXPECT_EQ(lines[1].number, 42u);
  EXPECT_EQ(lines[1].sectors, 1u);
  // A lane in two lines, and lanes gigabytes apart.
  const WarpAccess odd(3u, 16, [](int lane) { return lane ? 120 : std::int64_t{1} << 40; });
  const Footprint far(odd.addresses.data(), odd.mask, 16);
  EXPECT_FALSE(far.compact());
  ASSERT_EQ(far.lines().size(), 3u);
  EXPECT_EQ(far.lines()[0].sectors, 8u);
  EXPECT_EQ(far.lines()[1].sectors, 1u);
  EXPECT_EQ(far.lines()[2].number, std::uint64_t{1} << 33);
  EXPECT_EQ(far.sectors(), 3u);
}

TEST(Footprint, CountsBlocksOf64Bytes) {
  const auto blocks = [](std::uint16_t lane_bytes, std::int64_t apart, std::int64_t first = 4096) {
    const WarpAccess access(0xffffffffu, lane_bytes, [&](int lane) { return first + apart * lane; });
    const Footprint footprint(access.addresses.data(), access.mask, lane_bytes);
    return std::pair(footprint.block_total(), footprint.sectors());
  };
  EXPECT_EQ(blocks(4, 4), std::pair(2u, 4u));
  EXPECT_EQ(blocks(4, 12), std::pair(6u, 12u)); // a member of structures
  EXPECT_EQ(blocks(4, 64), std::pair(32u, 32u));
  EXPECT_EQ(blocks(4, 32), std::pair(16u, 32u));
  EXPECT_EQ(blocks(4, 96), std::pair(32u, 32u));
  EXPECT_EQ(blocks(16, 120, 4120), std::pair(36u, 40u)); // 8 lanes touch two sectors, 4 of them two blocks
}

TEST(Footprint, HasNothingWithoutLanes) {
  const std::uint64_t addresses[exec::kWarpSize]{};
  const Footprint none(addresses, 0, 4);
  EXPECT_EQ(none.sectors() + none.distinct_addresses(), 0u);
  EXPECT_TRUE(none.lines().empty());
  for (const CoalescingRule& rule : coalescing_rules()) EXPECT_EQ(FastCoalescing(rule).transactions(none).total(), 0u);
}

TEST(Coalescing, FootprintCountsDistinctAddresses) {
  const WarpAccess pairs(0xffffffffu, 4, [](int lane) { return 4096 + lane / 2 * 4; });
  EXPECT_EQ(Footprint(pairs.addresses.data(), pairs.mask, 4).distinct_addresses(), 16u);
  const WarpAccess far(0x0000000fu, 8, [](int lane) { return 4096 + lane * 640; });
  EXPECT_EQ(Footprint(far.addresses.data(), far.mask, 8).distinct_addresses(), 4u);
}

TEST(Coalescing, HardwareCountsDistinctSectorsOfLoadsAndStores) {
  int checked = 0;
  for (const auto& [operation, access, requests, sectors] : testing::measured_accesses()) {
    if (operation != "global_ld" && operation != "global_st") continue;
    EXPECT_EQ(transactions(rule_named("6.0"), access.addresses.data(), access.mask, access.lane_bytes).total(),
              sectors);
    EXPECT_EQ(requests, 1u);
    ++checked;
  }
  EXPECT_EQ(checked, 170);
}

TEST(Coalescing, ARuleOfOnesOwn) {
  const auto rule = parse_coalescing_rule("rule = \"coalescing\"\nname = \"mine\"\ntitle = \"lines of 64 bytes\"\n"
                                          "order = \"any\"\nshrink = false\nsmallest = 64\n"
                                          "[[word]]\nbytes = 4\nlanes = 32\nsegment = 64\n",
                                          "mine.toml");
  ASSERT_TRUE(rule) << render(rule.error(), "");
  const WarpAccess access(0xffffffffu, 4, [](int lane) { return 4096 + 4 * lane; });
  EXPECT_EQ(transactions(*rule, access.addresses.data(), access.mask, 4).of(64), 2u);
}

TEST(Coalescing, NothingComesAfterTheLastAddress) {
  std::uint64_t addresses[exec::kWarpSize] = {};
  for (const CoalescingRule& rule : coalescing_rules())
    for (const std::uint64_t before : {40u, 32u, 31u, 4u, 1u}) { // some words reach the end, some pass it
      addresses[0] = 0 - before;
      const Transactions t = transactions(rule, addresses, 1, 32);
      EXPECT_GE(t.total(), 1u) << rule.name;
      EXPECT_LE(t.total(), 2u) << rule.name;
    }
}

TEST(Coalescing, BadRulesAreDiagnosed) {
  const auto message = [](std::string_view text) {
    const auto rule = parse_coalescing_rule(text, "bad.toml");
    return rule ? std::string("accepted") : render(rule.error(), "");
  };
  const std::string head = "rule = \"coalescing\"\nname = \"x\"\ntitle = \"x\"\norder = \"any\"\nshrink = false\n";
  const std::string word = "[[word]]\nbytes = 4\nlanes = 32\nsegment = 32\n";
  EXPECT_EQ(message(head + "smallest = 32\n" + word), "accepted");
  EXPECT_NE(message(head + word).find("the rule lacks the key 'smallest'"), std::string::npos);
  EXPECT_NE(message(head + "smallest = 48\n" + word).find("bad.toml:6:"), std::string::npos);
  EXPECT_NE(message(head + "smallest = 48\n" + word).find("'smallest' must be a power of two from 4 to 4096"),
            std::string::npos);
  EXPECT_NE(message(head + "smallest = 32\nsmalest = 1\n" + word).find("unknown key 'smalest'"), std::string::npos);
  EXPECT_NE(message(head + "smallest = 64\n" + word).find("smaller than the smallest transaction"), std::string::npos);
  EXPECT_NE(message(head + "smallest = 32\n" + word + "bits = 3\n").find("unknown key 'bits'"), std::string::npos);
  EXPECT_NE(message(head + "smallest = 32\n" + word + word).find("words must ascend"), std::string::npos);
  EXPECT_NE(message("name = ").find("bad.toml:1:"), std::string::npos);
}

} // namespace coalescing_test
} // namespace warplens::analyzers
