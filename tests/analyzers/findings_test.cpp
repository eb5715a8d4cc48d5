#include "analyzers/analyzers.hpp"
#include "analyzers/findings.hpp"
#include "tests/analyzers/accesses.hpp"

#include <gtest/gtest.h>

namespace warplens::analyzers {
namespace {

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
    function_.instructions[0].source = {1, 34};
    analysis_ = make_all(module_, function_, {});
    shards_.push_back(analysis_->make_shard());
  }
  exec::Shard& shard() { return *shards_[0]; }
  std::vector<Finding> finish(const std::vector<exec::InstructionCount>& counts = {}) {
    analysis_->finish(std::move(shards_), counts);
    return find_problems(analysis_->profile());
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
  EXPECT_EQ(findings[0].line, 30u);
  EXPECT_EQ(findings[0].excess, 2800);
  EXPECT_FALSE(findings[0].advice.empty());
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
  EXPECT_EQ(findings[0].message, "4-byte loads of shared memory take 32 passes over the banks (ideal 1): neighbouring "
                                 "threads are 128 bytes apart");
  EXPECT_EQ(findings[0].excess, 31);
  EXPECT_EQ(findings[1].instruction, 1u);
}

TEST_F(Findings, Divergence) {
  shard().branch({.instruction = 3, .active = 0xffffffffu, .taken = 0xffffu, .count = 3});
  shard().branch({.instruction = 3, .active = 0xffffffffu, .taken = 0, .count = 1});
  const auto findings = finish({{10, 160, 100}});
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].rule, "ThreadDivergence");
  EXPECT_EQ(findings[0].message, "10 of 32 lanes do something in an average instruction");
  EXPECT_EQ(findings[0].excess, 220);
  EXPECT_EQ(findings[1].message, "75 % of the warps that run this branch go both ways, one after the other");
  EXPECT_EQ(findings[1].line, 33u);
}

} // namespace
} // namespace warplens::analyzers
