// SPDX-License-Identifier: Apache-2.0
#include "analyzers/analyzers.hpp"
#include "tests/analyzers/accesses.hpp"

#include <gtest/gtest.h>

#include <tuple>

namespace warplens::analyzers {
namespace recorded_accesses_test {

using exec::AccessKind;
using isa::Space;
using Role = RecordedAccess::Role;
using testing::WarpAccess;

class Recorded : public ::testing::Test {
protected:
  Recorded() {
    function_.instructions.resize(2);
    for (ir::Instruction& i : function_.instructions) i.opcode = "ld";
    shape_.grid[0] = 5;
    shape_.block[0] = 128; // four warps
  }

  /// Every warp of the blocks executes instruction 0 `visits` times; visit v has lanes 4 * (v + 1) bytes apart.
  void run(exec::Shard& shard, const std::vector<std::uint64_t>& ctas, int visits, Space space = Space::global) const {
    for (const std::uint64_t cta : ctas) {
      const bool wanted = shard.begin_cta(cta);
      for (int visit = 0; visit < visits; ++visit)
        for (std::uint32_t warp = 0; warp < 4; ++warp) {
          const WarpAccess a(~0u, 4, [&](int lane) { return 4096 * (cta + 1) + warp + 4u * (visit + 1) * lane; });
          const exec::Access event = a.event(AccessKind::load, space);
          if (wanted) shard.each_access({cta, warp}, event);
          shard.access(event);
        }
    }
  }

  std::vector<RecordedAccess> finish(Analysis& analysis, std::vector<std::unique_ptr<exec::Shard>> shards,
                                     const DeviceRules& rules = DeviceRules::usual()) const {
    analysis.finish(std::move(shards), {});
    return analysis.profile(rules).instructions.at(0).recorded;
  }

  ir::Module module_;
  ir::Function function_;
  exec::LaunchShape shape_;
};

TEST_F(Recorded, FirstAndLastBlockFirstTwoWarpsAndTheLast) {
  Analysis analysis(module_, function_, shape_);
  std::vector<std::unique_ptr<exec::Shard>> shards;
  shards.push_back(analysis.make_shard());
  run(*shards[0], {0, 1, 2, 3, 4}, 10);
  const auto accesses = finish(analysis, std::move(shards));
  std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>> found, expected;
  for (const RecordedAccess& a : accesses) found.emplace_back(a.cta, a.warp, a.visit);
  for (const std::uint64_t cta : {0, 4})
    for (const std::uint32_t warp : {0, 1, 3})
      for (const std::uint32_t visit : {0, 1, 2, 3, 8}) expected.emplace_back(cta, warp, visit);
  EXPECT_EQ(found, expected);
  const RecordedAccess& one = accesses.at(1); // block 0, warp 0, visit 1
  EXPECT_EQ(one.addresses[31], 4096u + 8 * 31);
  EXPECT_EQ(one.cost, 8); // sectors
  EXPECT_EQ(one.mask, ~0u);
}

// The streams take global memory of the blocks on one multiprocessor, here of block 1, and of block 5 in the middle.
TEST_F(Recorded, OtherWarpsAreNotToldOneByOne) {
  Analysis analysis(module_, function_, shape_, {.board = {.multiprocessors = 2, .resident_ctas = 1}});
  const auto shard = analysis.make_shard();
  const std::uint32_t global = exec::EachWanted::bit(Space::global),
                      constants = exec::EachWanted::bit(Space::constant) | exec::EachWanted::bit(Space::param),
                      all = global | exec::EachWanted::bit(Space::shared) | constants;
  for (const std::uint32_t warp : {0u, 1u, 3u}) {
    EXPECT_EQ(shard->each_spaces({0, warp}), all) << warp;
    EXPECT_EQ(shard->each_spaces({4, warp}), all) << warp;
  }
  EXPECT_EQ(shard->each_spaces({1, 2}), global);
  EXPECT_EQ(shard->each_spaces({0, 2}), constants);
  EXPECT_EQ(shard->each_spaces({4, 2}), constants);
  Analysis counting(module_, function_, shape_, {.per_block = true});
  EXPECT_EQ(counting.make_shard()->each_spaces({1, 2}), ~0u);
}

TEST_F(Recorded, WorkersDoNotMatter) {
  const auto with = [&](const std::vector<std::vector<std::uint64_t>>& blocks_of_workers) {
    Analysis analysis(module_, function_, shape_);
    std::vector<std::unique_ptr<exec::Shard>> shards;
    for (const auto& blocks : blocks_of_workers) {
      shards.push_back(analysis.make_shard());
      run(*shards.back(), blocks, 5);
    }
    return finish(analysis, std::move(shards));
  };
  const auto one = with({{0, 1, 2, 3, 4}}), two = with({{4, 1}, {3, 2, 0}});
  ASSERT_EQ(one.size(), two.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].addresses, two[i].addresses);
    EXPECT_EQ(std::tuple(one[i].cta, one[i].warp, one[i].visit, one[i].role),
              std::tuple(two[i].cta, two[i].warp, two[i].visit, two[i].role));
  }
}

TEST_F(Recorded, TheTypicalAndTheWorst) {
  Analysis analysis(module_, function_, shape_);
  std::vector<std::unique_ptr<exec::Shard>> shards;
  shards.push_back(analysis.make_shard());
  run(*shards[0], {0, 4}, 4);
  auto accesses = finish(analysis, std::move(shards)); // costs from 4 to 17 sectors, by visit and warp
  double most = 0;
  int worst = 0, typical = 0;
  for (const RecordedAccess& a : accesses) most = std::max(most, a.cost);
  for (const RecordedAccess& a : accesses) {
    worst += a.role == Role::worst ? 1 : 0;
    typical += a.role == Role::typical ? 1 : 0;
    if (a.role == Role::worst) {
      EXPECT_EQ(a.cost, most);
    }
    if (a.role == Role::typical) {
      EXPECT_LT(a.cost, most);
    }
  }
  EXPECT_EQ(worst, 1);
  EXPECT_EQ(typical, 1);
  keep_few(accesses);
  EXPECT_LE(accesses.size(), kShownAccesses);
  EXPECT_TRUE(std::any_of(accesses.begin(), accesses.end(), [](const auto& a) { return a.role == Role::worst; }));
  EXPECT_TRUE(std::any_of(accesses.begin(), accesses.end(), [](const auto& a) { return a.role == Role::typical; }));
}

// Under the rule of the device: a stride of two words is a conflict of each half-warp.
TEST_F(Recorded, SharedMemoryCostsPasses) {
  const DeviceRules old = {*rules::find_coalescing_rule("1.2"), *rules::find_bank_rule("1.x")};
  Analysis analysis(module_, function_, shape_, {.devices = {old}});
  std::vector<std::unique_ptr<exec::Shard>> shards;
  shards.push_back(analysis.make_shard());
  EXPECT_TRUE(shards[0]->each_wanted().in(Space::shared));
  run(*shards[0], {0}, 2, Space::shared);
  const auto accesses = finish(analysis, std::move(shards), old);
  ASSERT_FALSE(accesses.empty());
  EXPECT_EQ(accesses[0].cost, 2);
  EXPECT_EQ(accesses[1].cost, 4);
}

} // namespace recorded_accesses_test
} // namespace warplens::analyzers
