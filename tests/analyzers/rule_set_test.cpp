// SPDX-License-Identifier: Apache-2.0
// Rules that a user selects: reading, explanation and counting.
#include "analyzers/analyzers.hpp"
#include "rules/rule_set.hpp"
#include "tests/analyzers/accesses.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace warplens::analyzers {
namespace rule_set_test {

using namespace rules;

using exec::AccessKind;
using isa::Space;
using testing::WarpAccess;

constexpr std::string_view kFullWarp = "rule = \"coalescing\"\nname = \"full-warp\"\ntitle = \"whole warps\"\n"
                                       "order = \"any\"\nshrink = true\nsmallest = 32\n"
                                       "[[word]]\nbytes = 4\nlanes = 32\nsegment = 64\n";

Rule parsed(std::string_view text) {
  Expected<Rule> rule = parse_rule(text, "r.toml");
  if (!rule) throw std::runtime_error(render(rule.error(), text));
  return *rule;
}

std::string refusal(std::string_view text) {
  const Expected<Rule> rule = parse_rule(text, "bad.toml");
  return rule ? "accepted" : render(rule.error(), text);
}

TEST(RuleSet, ReadsEitherKind) {
  EXPECT_TRUE(std::holds_alternative<CoalescingRule>(parsed(kFullWarp)));
  EXPECT_TRUE(std::holds_alternative<BankRule>(
      parsed("rule = \"banks\"\nname = \"b\"\ntitle = \"b\"\nsource = \"me\"\nbanks = 16\nbank_bytes = 4\n"
             "row_bytes = 64\nbroadcast = \"every_word\"\nsplit_words = true\nmerge_equal_pairs = false\n"
             "[[word]]\nbytes = 4\nlanes = 16\n")));
}

TEST(RuleSet, SaysWhatIsWrongAndWhere) {
  std::string text(kFullWarp);
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    return refusal(changed);
  };
  EXPECT_NE(refusal("name = \"x\"\n").find("bad.toml:1:1: error: the rule lacks the key 'rule'"), std::string::npos);
  EXPECT_NE(with("\"coalescing\"", "\"coalesce\"")
                .find("bad.toml:1:8: error: 'rule' must be one of coalescing, banks, got \"coalesce\""),
            std::string::npos);
  // Nothing is said of keys that the other kind of rule may have.
  EXPECT_EQ(with("\"coalescing\"", "\"coalesce\"").find("unknown key"), std::string::npos);
  EXPECT_NE(with("full-warp", "full warp").find("bad.toml:2:8: error: 'name' must be a string of letters"),
            std::string::npos);
  EXPECT_NE(
      with("lanes = 32", "lanes = 33").find("bad.toml:9:9: error: 'lanes' must be a power of two from 1 to 32, got 33"),
      std::string::npos);
  EXPECT_NE(with("segment = 64", "segment = -64").find("got -64"), std::string::npos);
  EXPECT_NE(with("segment = 64", "segment = 64.5").find("got a floating-point number"), std::string::npos);
  EXPECT_NE(
      with("shrink = true", "shrink = 1").find("bad.toml:5:10: error: expected true or false for 'shrink', got 1"),
      std::string::npos);
  EXPECT_NE(with("title = \"whole warps\"", "title = []").find("expected a string for 'title', got an empty list"),
            std::string::npos);
  EXPECT_NE(with("\"any\"", "\"kth_word\"").find("shrink and equal_addresses require order = \"any\""),
            std::string::npos);
  EXPECT_NE(with("smallest", "smalest").find("bad.toml:6:1: error: unknown key 'smalest'"), std::string::npos);
  EXPECT_NE(with("[[word]]", "[word]").find("expected [[word]] tables, got a table"), std::string::npos);
  EXPECT_NE(refusal("rule = ").find("bad.toml:1:"), std::string::npos);
  EXPECT_NE(refusal("").find("the rule lacks the key 'rule'"), std::string::npos);
}

TEST(RuleSet, RefusesTwoOfAName) {
  RuleSet rules;
  EXPECT_TRUE(rules.add(parsed(kFullWarp)));
  const Expected<void> again = rules.add(parsed(kFullWarp));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().list().front().message, "two rules are named 'full-warp'");
}

TEST(RuleSet, EveryBuiltInRuleIsFoundExplainedAndHasASource) {
  for (const std::string_view name : rule_names()) {
    const Expected<Rule> rule = find_rule(std::string(name));
    ASSERT_TRUE(rule) << name;
    std::visit(
        [&](const auto& r) {
          EXPECT_NE(r.source, "") << name;
          EXPECT_GE(explain(r).size(), 2u) << name;
        },
        *rule);
  }
  EXPECT_FALSE(find_rule("7.x"));
}

TEST(RuleSet, ExplainsInSentences) {
  EXPECT_EQ(explain(std::get<CoalescingRule>(parsed(kFullWarp))),
            (std::vector<std::string>{
                "4-byte words: one request per warp; segments of 64 bytes",
                "a request causes one transaction for each segment that its lanes access, in any order",
                "a transaction is halved while only one half of it is used, down to 32 bytes",
            }));
  const auto old = explain(*find_coalescing_rule("1.0"));
  ASSERT_EQ(old.size(), 5u);
  EXPECT_EQ(old[2], "16-byte words: one request per half-warp (lanes 0 to 15, 16 to 31); 2 transactions of 128 bytes "
                    "if lane k accesses word k of an aligned segment");
  const auto banks = explain(*find_bank_rule("3.x-32"));
  EXPECT_NE(std::find(banks.begin(), banks.end(),
                      "in each bank, a pass serves all lanes that access words of one aligned block of 256 bytes"),
            banks.end());
}

Profile counted(const RuleSet& rules, const std::vector<exec::Access>& accesses, std::size_t workers) {
  const ir::Module module;
  ir::Function function;
  function.instructions.resize(2);
  Analysis analysis(module, function, {}, {.rules = rules});
  std::vector<std::unique_ptr<exec::Shard>> shards;
  for (std::size_t i = 0; i < workers; ++i) shards.push_back(analysis.make_shard());
  for (std::size_t i = 0; i < accesses.size(); ++i) shards[i % workers]->access(accesses[i]);
  analysis.finish(std::move(shards), {});
  return analysis.profile();
}

// 32 lanes, 8 bytes apart: 256 bytes in four segments of 64, half of them used; a half-warp conflicts two-way.
TEST(RuleCounts, CountsGlobalAndSharedMemory) {
  RuleSet rules;
  ASSERT_TRUE(rules.add(parsed(kFullWarp)));
  ASSERT_TRUE(rules.add(*find_rule("1.0")));
  ASSERT_TRUE(rules.add(*find_rule("1.x")));
  const WarpAccess a(0xffffffffu, 4, [](int lane) { return 4096 + 8 * lane; });
  const WarpAccess same(0xffffffffu, 4, [](int) { return 4096; });
  const Profile profile =
      counted(rules,
              {a.event(AccessKind::load, Space::global, 0, 10), a.event(AccessKind::store, Space::shared, 1, 3),
               same.event(AccessKind::reduction, Space::global, 1), a.event(AccessKind::load, Space::local)},
              2);
  EXPECT_EQ(profile.integer("rule.full-warp.ld_requests"), 10u);
  EXPECT_EQ(profile.integer("rule.full-warp.ld_64b"), 40u);
  EXPECT_EQ(profile.integer("rule.full-warp.red_32b"), 1u);
  EXPECT_EQ(profile.integer("rule.full-warp.st_requests"), 0u);
  EXPECT_EQ(profile.integer("rule.full-warp.transactions"), 41u);
  EXPECT_EQ(profile.integer("rule.full-warp.bytes_moved"), 40u * 64 + 32);
  EXPECT_EQ(profile.integer("rule.full-warp.bytes_asked"), 10u * 128 + 4);
  EXPECT_EQ(profile.metrics.find("rule.full-warp.ld_uncoalesced"), nullptr);
  EXPECT_EQ(profile.integer("rule.1.0.ld_uncoalesced"), 320u);
  EXPECT_EQ(profile.integer("rule.1.x.st_passes"), 3u * 4);
  EXPECT_EQ(profile.integer("rule.1.x.conflicts"), 3u * 2);
  EXPECT_EQ(profile.integer("rule.1.x.conflicts_worst"), 3u * 2);
  ASSERT_EQ(profile.instructions.size(), 2u);
  EXPECT_EQ(profile.instructions[0].metrics.integer("rule.full-warp.ld_64b"), 40u);
  EXPECT_EQ(profile.instructions[0].metrics.find("rule.1.x.passes"), nullptr);
  EXPECT_EQ(profile.instructions[1].metrics.integer("rule.1.x.st_requests"), 3u);
}

// A built-in rule that is named counts what the report has under the rule's own counters.
TEST(RuleCounts, AgreesWithTheCountersOfTheReport) {
  RuleSet rules;
  for (const std::string_view name : {"1.2", "6.0", "5.x+"}) ASSERT_TRUE(rules.add(*find_rule(std::string(name))));
  std::mt19937_64 random(4);
  std::vector<WarpAccess> places;
  for (int i = 0; i < 2000; ++i)
    places.emplace_back(static_cast<exec::Mask>(random()) | 1u, 4, [&](int) { return 4096 + random() % 400 * 4; });
  std::vector<exec::Access> accesses;
  for (const WarpAccess& one : places)
    for (const Space space : {Space::global, Space::shared})
      accesses.push_back(one.event(AccessKind::load, space, random() % 2));
  const Profile profile = counted(rules, accesses, 3);
  for (const char* size : {"32b", "64b", "128b"})
    EXPECT_EQ(profile.integer(std::string("rule.1.2.ld_") + size), profile.integer(std::string("gld_") + size));
  EXPECT_EQ(profile.integer("rule.6.0.ld_32b"), profile.integer("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"));
  EXPECT_EQ(profile.integer("rule.5.x+.ld_passes"),
            profile.integer("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"));
  EXPECT_GT(profile.integer("rule.5.x+.conflicts"), 0u);
}

} // namespace rule_set_test
} // namespace warplens::analyzers
