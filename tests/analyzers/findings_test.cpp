// SPDX-License-Identifier: Apache-2.0
#include "analyzers/analyzers.hpp"
#include "analyzers/finding_parts.hpp"
#include "analyzers/findings.hpp"
#include "tests/analyzers/accesses.hpp"

#include <gtest/gtest.h>

namespace warplens::analyzers {
namespace findings_test {

using namespace rules;

using exec::AccessKind;
using isa::Space;
using testing::WarpAccess;

class Findings : public ::testing::Test {
protected:
  Findings() {
    function_.instructions.resize(4);
    for (std::uint32_t i = 0; i < 4; ++i) {
      function_.instructions[i].opcode = "ld";
      function_.instructions[i].where = {30 + i, 2};
    }
    module_.files.push_back({1, "k.cu"});
    function_.instructions[0].source = function_.instructions[1].source = {1, 34};
    analysis_ = std::make_unique<Analysis>(module_, function_, exec::LaunchShape{});
    shards_.push_back(analysis_->make_shard());
  }
  exec::Shard& shard() { return *shards_[0]; }
  std::vector<Finding> finish(const std::vector<exec::InstructionCount>& counts = {},
                              const DeviceRules& rules = DeviceRules::usual()) {
    analysis_->finish(std::move(shards_), counts);
    return find_problems(analysis_->profile(rules), rules);
  }
  ir::Module module_;
  ir::Function function_;
  std::unique_ptr<Analysis> analysis_;
  std::vector<std::unique_ptr<exec::Shard>> shards_;
};

TEST_F(Findings, UncoalescedAccess) {
  const WarpAccess column(0xffffffffu, 4, [](int lane) { return 65536 + 4096 * lane; });
  shard().access(column.event(AccessKind::load, Space::global, 0, 100));
  const auto findings = finish();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "UncoalescedGlobalAccess");
  EXPECT_EQ(findings[0].severity, Severity::warning);
  EXPECT_EQ(findings[0].message,
            "4-byte loads touch 32 sectors per request (ideal 4): neighbouring threads are 4096 bytes apart");
  EXPECT_EQ(findings[0].source_file, "k.cu");
  EXPECT_EQ(findings[0].source_line, 34u);
  EXPECT_EQ(findings[0].lines, std::vector<std::uint32_t>{30});
  EXPECT_EQ(findings[0].excess, 2800);
  EXPECT_FALSE(findings[0].advice.empty());
}

const DeviceRules kG80 = {*find_coalescing_rule("1.0"), *find_bank_rule("1.x")};
const DeviceRules kGt200 = {*find_coalescing_rule("1.2"), *find_bank_rule("1.x")};

TEST_F(Findings, HalfWarpsMoveTooManyBytes) {
  const WarpAccess column(0xffffffffu, 4, [](int lane) { return 65536 + 4096 * lane; });
  shard().access(column.event(AccessKind::store, Space::global, 0, 100));
  shard().access(column.event(AccessKind::atomic, Space::global, 1)); // not described by the rule
  const auto findings = finish({}, kGt200);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].message, "4-byte stores move 1024 bytes per request in 32 transactions (ideal 128 bytes): "
                                 "neighbouring threads are 4096 bytes apart");
  EXPECT_EQ(findings[0].excess, 89600);
  EXPECT_EQ(findings[0].unit, "bytes");
}

// Rule 1.2: sixteen words that start 4 bytes beyond a segment of 128 use both of its halves.
TEST_F(Findings, HalfWarpsThatAreNotAligned) {
  const WarpAccess shifted(0xffffu, 4, [](int lane) { return 65536 + 4 + 4 * lane; });
  shard().access(shifted.event(AccessKind::load, Space::global, 0));
  const auto findings = finish({}, kGt200);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].message, "4-byte loads move 128 bytes per request in 1 transactions (ideal 64 bytes): accesses "
                                 "are not aligned to 64 bytes, or few lanes are active");
}

// A line of 128 bytes moves as a whole.
TEST_F(Findings, LinesOfFermiAreCountedInBytes) {
  const DeviceRules fermi = {*find_coalescing_rule("2.x-l1"), *find_bank_rule("2.x")};
  analysis_ = std::make_unique<Analysis>(module_, function_, exec::LaunchShape{}, AnalysisOptions{.devices = {fermi}});
  shards_.clear();
  shards_.push_back(analysis_->make_shard());
  const WarpAccess column(0xffffffffu, 4, [](int lane) { return 65536 + 4096 * lane; });
  shard().access(column.event(AccessKind::load, Space::global, 0, 100));
  const auto findings = finish({}, fermi);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].message, "4-byte loads move 4096 bytes per request in 32 transactions (ideal 128 bytes): "
                                 "neighbouring threads are 4096 bytes apart");
  EXPECT_EQ(findings[0].excess, 100 * (4096 - 128));
  EXPECT_EQ(findings[0].unit, "bytes");
}

// Rows of 16 threads that read one word each: two sectors, because there are two words.
TEST_F(Findings, BroadcastsAreNoProblem) {
  const WarpAccess rows(0xffffffffu, 4, [](int lane) { return 65536 + 4096 * (lane / 16); });
  shard().access(rows.event(AccessKind::load, Space::global, 0, 100));
  EXPECT_TRUE(finish().empty());
}

TEST_F(Findings, OneTransactionForEachThread) {
  const WarpAccess shifted(0xffffffffu, 4, [](int lane) { return 65536 + 4 + 4 * lane; });
  const WarpAccess half(0xffffffffu, 4, [](int lane) { return 65536 + 4 * lane + (lane < 16 ? 0 : 4); });
  shard().access(shifted.event(AccessKind::load, Space::global, 0, 10));
  shard().access(half.event(AccessKind::store, Space::global, 2));
  const auto findings = finish({}, kG80);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].message,
            "4-byte loads are uncoalesced: one transaction for each thread, 32 per request (ideal 2): accesses are "
            "not aligned to 64 bytes, or few lanes are active");
  EXPECT_EQ(findings[0].excess, 300);
  EXPECT_EQ(findings[0].unit, "transactions");
  EXPECT_EQ(findings[1].message, "4-byte stores are partly uncoalesced: one transaction for each thread of some "
                                 "half-warps, 17 per request (ideal 2): access pattern: unit stride in groups "
                                 "of 16 lanes");
}

TEST_F(Findings, NarrowWordsNeverCoalesceInOrder) {
  const WarpAccess bytes(0xffffffffu, 1, [](int lane) { return 65536 + lane; });
  shard().access(bytes.event(AccessKind::load, Space::global, 0));
  const auto findings = finish({}, kG80);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].message.find("words narrower than 4 bytes never coalesce"), std::string::npos);
}

TEST_F(Findings, NothingToSayAboutCoalescedHalfWarps) {
  for (const DeviceRules& rules : {kG80, kGt200}) {
    analysis_ = std::make_unique<Analysis>(module_, function_, exec::LaunchShape{});
    shards_.clear();
    shards_.push_back(analysis_->make_shard());
    for (const std::uint16_t bytes : std::initializer_list<std::uint16_t>{4, 8, 16})
      for (const exec::Mask mask : {0xffffffffu, 0xffffu, 0xffff0000u}) {
        const WarpAccess unit(mask, bytes, [=](int lane) { return 65536 + bytes * lane; });
        shard().access(unit.event(AccessKind::load, Space::global, 0));
      }
    const WarpAccess words(0xffffffffu, 4, [=](int lane) { return 4 * lane; });
    shard().access(words.event(AccessKind::load, Space::shared, 1));
    const WarpAccess same(0xffffffffu, 4, [](int) { return 65536; });
    if (rules.coalescing.shrink) shard().access(same.event(AccessKind::load, Space::global, 2));
    EXPECT_TRUE(finish({{8, 256, 256}}, rules).empty()) << rules.coalescing.name;
  }
}

TEST_F(Findings, BankConflictsOfHalfWarps) {
  const WarpAccess column(0xffffffffu, 4, [](int lane) { return 128 * lane; });
  shard().access(column.event(AccessKind::load, Space::shared, 2));
  const auto findings = finish({}, kGt200);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].message, "4-byte shared memory loads take 32 passes over the 16 banks, half-warp by "
                                 "half-warp (ideal 2): neighbouring threads are 128 bytes apart");
  EXPECT_EQ(findings[0].excess, 30);
}

TEST_F(Findings, LinesThatSayTheSameShareAFinding) {
  const WarpAccess column(0xffffffffu, 4, [](int lane) { return 65536 + 4096 * lane; });
  const WarpAccess wide(0xffffffffu, 8, [](int lane) { return 65536 + 4096 * lane; });
  shard().access(column.event(AccessKind::load, Space::global, 0, 100));
  shard().access(column.event(AccessKind::load, Space::global, 1, 50));
  shard().access(wide.event(AccessKind::load, Space::global, 2)); // without a CUDA line
  shard().access(wide.event(AccessKind::load, Space::global, 3)); // they stay apart
  const auto findings = finish();
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_EQ(findings[0].lines, (std::vector<std::uint32_t>{30, 31}));
  EXPECT_EQ(findings[0].excess, 28 * 150);
  EXPECT_EQ(findings[0].values[0].number(), 150);
  EXPECT_EQ(findings[1].lines, std::vector<std::uint32_t>{32});
}

TEST_F(Findings, NothingToSayAboutCoalescedAccesses) {
  for (const std::uint16_t bytes : std::initializer_list<std::uint16_t>{1, 2, 4, 8, 16}) {
    const WarpAccess unit(0xffffffffu, bytes, [=](int lane) { return 65536 + bytes * lane; });
    shard().access(unit.event(AccessKind::load, Space::global, 0));
    shard().access(unit.event(AccessKind::load, Space::shared, 1));
  }
  const WarpAccess same(0xffffffffu, 4, [](int) { return 65536; });
  shard().access(same.event(AccessKind::load, Space::global, 2));
  EXPECT_TRUE(finish({{8, 256, 256}}).empty());
}

TEST_F(Findings, BankConflicts) {
  const WarpAccess column(0xffffffffu, 4, [](int lane) { return 128 * lane; });
  const WarpAccess two(0xffffffffu, 4, [](int lane) { return 8 * lane; });
  shard().access(two.event(AccessKind::store, Space::shared, 1));
  shard().access(column.event(AccessKind::load, Space::shared, 2));
  const auto findings = finish();
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].rule, "SharedMemoryConflicts");
  EXPECT_EQ(findings[0].message, "4-byte shared memory loads take 32 passes over the banks (ideal 1): neighbouring "
                                 "threads are 128 bytes apart");
  EXPECT_EQ(findings[0].excess, 31);
  EXPECT_EQ(findings[1].lines, std::vector<std::uint32_t>{31});
}

TEST_F(Findings, Divergence) {
  shard().branch({.instruction = 3, .active = 0xffffffffu, .taken = 0xffffu, .count = 3});
  shard().branch({.instruction = 3, .active = 0xffffffffu, .taken = 0, .count = 1});
  const auto findings = finish({{10, 320, 100}});
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].rule, "ThreadDivergence");
  EXPECT_EQ(findings[0].message, "10 of 32 lanes execute an average instruction");
  EXPECT_EQ(findings[0].excess, 220);
  EXPECT_EQ(findings[1].message, "75 % of the warps that run this branch take both paths, one after the other");
  EXPECT_EQ(findings[1].lines, std::vector<std::uint32_t>{33});
}

// Blocks of 16 threads: BlockSize says so. Of these lanes, all or some take part.
TEST_F(Findings, LanesWithoutThreadsDoNotDiverge) { EXPECT_TRUE(finish({{10, 160, 160}}).empty()); }

TEST_F(Findings, LanesThatHaveAThreadMayBeIdle) {
  const auto findings = finish({{10, 160, 60}});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].message, "6 of the 16 lanes that have a thread execute an average instruction");
}

} // namespace findings_test
} // namespace warplens::analyzers
