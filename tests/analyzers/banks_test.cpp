// SPDX-License-Identifier: Apache-2.0
#include "analyzers/banks.hpp"
#include "tests/analyzers/accesses.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <random>
#include <set>

namespace warplens::analyzers {
namespace banks_test {

using namespace rules;

using exec::AccessKind;
using testing::WarpAccess;

Passes serve(std::string_view rule, const WarpAccess& access, AccessKind kind) {
  const BankRule* found = find_bank_rule(rule);
  if (!found) throw std::runtime_error("no rule " + std::string(rule));
  return passes(*found, access.addresses.data(), access.mask, access.lane_bytes, {kind});
}

TEST(Banks, BuiltInRulesAreThere) {
  for (const char* name : {"1.x", "2.x", "3.x-32", "3.x-64", "5.x+", "prime-31", "xor-32"})
    EXPECT_NE(find_bank_rule(name), nullptr) << name;
}

// The figures and rules of NVIDIA's guides.
TEST(Banks, VectorsOfTheGuides) {
  std::ifstream file(WARPLENS_SOURCE_DIR "/tests/data/vectors/bank_vectors.json");
  const nlohmann::json vectors = nlohmann::json::parse(file);
  ASSERT_EQ(vectors.size(), 45u);
  for (const auto& vector : vectors) {
    SCOPED_TRACE(vector["name"].get<std::string>() + " under " + vector["rule"].get<std::string>());
    WarpAccess access;
    access.lane_bytes = vector["size"];
    for (std::size_t i = 0; i < vector["lanes"].size(); ++i) {
      const int lane = vector["lanes"][i];
      access.mask |= 1u << lane;
      access.addresses[static_cast<std::size_t>(lane)] = vector["addr"][i];
    }
    const Passes best = serve(vector["rule"].get<std::string>(), access, AccessKind::load);
    if (!vector["expected"].is_array()) {
      EXPECT_EQ(best.ways, vector["expected"].get<std::uint32_t>());
      if (vector["detail"].contains("wavefronts")) {
        EXPECT_EQ(best.passes, vector["detail"]["wavefronts"].get<std::uint32_t>());
      }
      continue;
    }
    EXPECT_EQ(best.ways, vector["expected"][0].get<std::uint32_t>());
    EXPECT_EQ(best.worst_ways, vector["expected"][1].get<std::uint32_t>());
    EXPECT_EQ(best.passes, vector["detail"]["steps_best"].get<std::uint32_t>());
    EXPECT_EQ(best.worst, vector["detail"]["steps_worst"].get<std::uint32_t>());
  }
}

// Wavefronts and conflicts of single accesses, as the counters of compute capability 9.0 give them.
TEST(Banks, HardwareCountsTheSame) {
  const std::map<std::string, AccessKind> kinds = {
      {"shared_ld", AccessKind::load}, {"shared_st", AccessKind::store}, {"shared_atom", AccessKind::atomic}};
  std::map<std::string, int> checked;
  for (const auto& [operation, access, wavefronts, conflicts] : testing::measured_accesses()) {
    if (!kinds.contains(operation)) continue;
    const Passes found = serve("5.x+", access, kinds.at(operation));
    EXPECT_EQ(found.passes, wavefronts) << operation << " " << access.lane_bytes << " mask " << access.mask;
    EXPECT_EQ(found.conflicts(), conflicts) << operation << " " << access.lane_bytes << " mask " << access.mask;
    ++checked[operation];
  }
  EXPECT_EQ(checked, (std::map<std::string, int>{{"shared_atom", 30}, {"shared_ld", 453}, {"shared_st", 453}}));
}

// What the measurements above come down to.
TEST(Banks, WideLanesNeedTwoOrFourPassesAndABroadcastHalf) {
  const auto lanes = [](std::uint16_t bytes, auto place) {
    return WarpAccess(0xffffffffu, bytes, [=](int lane) { return place(lane) * bytes; });
  };
  const auto each = [](int lane) { return lane; };
  const auto one = [](int) { return 0; };
  const auto pairs = [](int lane) { return lane / 2; };
  EXPECT_EQ(serve("5.x+", lanes(4, each), AccessKind::load).passes, 1u);
  EXPECT_EQ(serve("5.x+", lanes(8, each), AccessKind::load).passes, 2u);
  EXPECT_EQ(serve("5.x+", lanes(16, each), AccessKind::load).passes, 4u);
  EXPECT_EQ(serve("5.x+", lanes(8, one), AccessKind::load).passes, 1u);
  EXPECT_EQ(serve("5.x+", lanes(16, one), AccessKind::load).passes, 2u);
  EXPECT_EQ(serve("5.x+", lanes(16, pairs), AccessKind::load).passes, 2u);
  EXPECT_EQ(serve("5.x+", lanes(8, one), AccessKind::store).passes, 2u);
  EXPECT_EQ(serve("5.x+", lanes(16, one), AccessKind::store).passes, 4u);
  for (const std::uint16_t bytes : std::initializer_list<std::uint16_t>{4, 8, 16})
    EXPECT_EQ(serve("5.x+", lanes(bytes, each), AccessKind::load).conflicts(), 0u);
}

TEST(Banks, LanesOfAnAtomicWaitForEachOther) {
  const WarpAccess same(0xffffffffu, 4, [](int) { return 64; });
  EXPECT_EQ(serve("5.x+", same, AccessKind::load).passes, 1u);
  EXPECT_EQ(serve("5.x+", same, AccessKind::atomic).passes, 32u);
}

/// Distinct words of the worst bank, with sets: what most rules come down to for 4-byte lanes.
std::uint32_t words_of_worst_bank(const WarpAccess& access) {
  std::map<std::uint64_t, std::set<std::uint64_t>> words;
  for (std::size_t lane = 0; lane < 32; ++lane)
    if (access.mask >> lane & 1) words[access.addresses[lane] / 4 % 32].insert(access.addresses[lane] / 4);
  std::size_t most = 0;
  for (const auto& [bank, set] : words) most = std::max(most, set.size());
  return static_cast<std::uint32_t>(most);
}

TEST(Banks, RandomWordsTakeAsManyPassesAsTheWorstBankHasWords) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t range = 1u << random() % 12;
    const auto mask = static_cast<exec::Mask>(random()) | 1u;
    const WarpAccess access(mask, 4, [&](int) { return random() % range * 4; });
    ASSERT_EQ(serve("5.x+", access, AccessKind::load).passes, words_of_worst_bank(access));
  }
}

TEST(Banks, TheWorstReadingIsNeverBetter) {
  std::mt19937_64 random(6);
  for (int i = 0; i < 5000; ++i) {
    const std::uint64_t range = 1u << random() % 8;
    const WarpAccess access(static_cast<exec::Mask>(random()) | 1u, 4, [&](int) { return random() % range * 4; });
    const Passes best = serve("1.x", access, AccessKind::load);
    ASSERT_LE(best.passes, best.worst);
    ASSERT_GE(best.passes, best.fewest);
  }
}

// Repeated accesses are looked at once, whatever banks they lie in.
TEST(Banks, MovingAnAccessByWholeBanksChangesNothing) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 5000; ++i) {
    const std::uint64_t range = 1u << random() % 8, distance = random() % 1000 * 4;
    const WarpAccess access(static_cast<exec::Mask>(random()) | 1u, 4, [&](int) { return random() % range * 4; });
    const WarpAccess moved(access.mask, 4,
                           [&](int lane) { return access.addresses[static_cast<std::size_t>(lane)] + distance; });
    for (const char* const rule : {"1.x", "5.x+"}) {
      const Passes one = serve(rule, access, AccessKind::load), other = serve(rule, moved, AccessKind::load);
      ASSERT_EQ(one.passes, other.passes);
      ASSERT_EQ(one.worst, other.worst);
    }
  }
}

TEST(Banks, BadRulesAreDiagnosed) {
  const auto rule = parse_bank_rule("rule = \"banks\"\nname = \"x\"\ntitle = \"x\"\nbanks = 33\nbank_bytes = 4\n"
                                    "row_bytes = 64\nbroadcast = \"some\"\nsplit_words = 1\nmerge_equal_pairs = false\n"
                                    "colour = 3\n[[word]]\nbytes = 4\nlanes = 32\n",
                                    "bad.toml");
  ASSERT_FALSE(rule);
  const std::string text = render(rule.error(), "");
  EXPECT_NE(text.find("'banks' must be a power of two, got 33"), std::string::npos) << text;
  EXPECT_NE(text.find("'broadcast' must be one of every_word, one_word"), std::string::npos) << text;
  EXPECT_NE(text.find("expected true or false for 'split_words'"), std::string::npos) << text;
  EXPECT_NE(text.find("a row is smaller than all banks together"), std::string::npos) << text;
  EXPECT_NE(text.find("bad.toml:10:1: error: unknown key 'colour'"), std::string::npos) << text;
}

} // namespace banks_test
} // namespace warplens::analyzers
