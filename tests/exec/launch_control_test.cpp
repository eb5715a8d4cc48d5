// SPDX-License-Identifier: Apache-2.0
// clusterlaunchcontrol (9.7.13.17): each block's work is done once, by the block itself or by one that has cancelled
// it; as many blocks as multiprocessors start, and they cancel the others in turns.
#include "emulator/exec/checks/copy_check.hpp"
#include "emulator/exec/checks/init_check.hpp"
#include "emulator/exec/checks/race_check.hpp"
#include "tests/hardware/emulated.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace warplens::tests {
namespace launch_control_test {

using Word = std::uint32_t;

// Blocks of one thread count what they do at done[block], and write their own number to by[block]. Errors of the
// coordinates of single dimensions are added to done[], too.
constexpr const char* kPersistent = R"(.version 8.8
.target sm_100
.address_size 64
.visible .entry k(.param .u64 done, .param .u64 by) {
  .shared .align 16 .b8 response[16];
  .shared .align 8 .b64 bar;
  .reg .b32 %x, %y, %z, %nx, %ny, %own, %at, %phase, %r, %b, %one, %other;
  .reg .b64 %done, %by, %p, %q;
  .reg .b128 %answer;
  .reg .pred %waited, %got;
  ld.param.u64 %done, [done];
  ld.param.u64 %by, [by];
  mov.u32 %r, response;
  mov.u32 %b, bar;
  mov.u32 %nx, %nctaid.x;
  mov.u32 %ny, %nctaid.y;
  mov.u32 %x, %ctaid.x;
  mov.u32 %y, %ctaid.y;
  mov.u32 %z, %ctaid.z;
  mad.lo.u32 %own, %z, %ny, %y;
  mad.lo.u32 %own, %own, %nx, %x;
  mov.u32 %phase, 0;
  mov.u32 %one, 1;
  mbarrier.init.shared::cta.b64 [%b], 1;
work:
  mad.lo.u32 %at, %z, %ny, %y;
  mad.lo.u32 %at, %at, %nx, %x;
  mad.wide.u32 %p, %at, 4, %done;
  mad.wide.u32 %q, %at, 4, %by;
  red.global.add.u32 [%p], %one;
  st.global.u32 [%q], %own;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 16;
  clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r], [%b];
wait:
  mbarrier.try_wait.parity.shared::cta.b64 %waited, [%b], %phase;
  @!%waited bra wait;
  xor.b32 %phase, %phase, 1;
  ld.shared.b128 %answer, [%r];
  clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %got, %answer;
  @!%got ret;
  clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%x, %y, %z, _}, %answer;
  clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %other, %answer;
  sub.u32 %one, %other, %x;
  clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %other, %answer;
  sub.u32 %other, %other, %y;
  add.u32 %one, %one, %other;
  clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %other, %answer;
  sub.u32 %other, %other, %z;
  add.u32 %one, %one, %other;
  add.u32 %one, %one, 1;
  bra work;
}
)";

// The blocks of a cluster get the answer together: each does the work of the block with its rank.
constexpr const char* kClusters = R"(.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 done, .param .u64 by) {
  .shared .align 16 .b8 response[16];
  .shared .align 8 .b64 bar;
  .reg .b32 %x, %own, %phase, %r, %b, %rank;
  .reg .b64 %done, %by, %p, %q;
  .reg .b128 %answer;
  .reg .pred %waited, %got, %first;
  ld.param.u64 %done, [done];
  ld.param.u64 %by, [by];
  mov.u32 %r, response;
  mov.u32 %b, bar;
  mov.u32 %own, %ctaid.x;
  mov.u32 %rank, %cluster_ctarank;
  mov.u32 %x, %own;
  mov.u32 %phase, 0;
  setp.eq.u32 %first, %rank, 0;
  mbarrier.init.shared::cta.b64 [%b], 1;
work:
  mad.wide.u32 %p, %x, 4, %done;
  mad.wide.u32 %q, %x, 4, %by;
  red.global.add.u32 [%p], 1;
  st.global.u32 [%q], %own;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 16;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  @%first clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [%r], [%b];
wait:
  mbarrier.try_wait.parity.shared::cta.b64 %waited, [%b], %phase;
  @!%waited bra wait;
  xor.b32 %phase, %phase, 1;
  ld.shared.b128 %answer, [%r];
  clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %got, %answer;
  @!%got ret;
  clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %x, %answer;
  add.u32 %x, %x, %rank;
  bra work;
}
)";

struct Ran {
  std::vector<Word> done, by;
  std::size_t findings = 0; ///< of the tool
  [[nodiscard]] std::size_t started() const { return std::set<Word>(by.begin(), by.end()).size(); }
  [[nodiscard]] std::size_t most() const {
    std::size_t most = 0;
    for (const Word block : by)
      most = std::max<std::size_t>(most, static_cast<std::size_t>(std::count(by.begin(), by.end(), block)));
    return most;
  }
};

Ran run(const char* ptx, std::array<Word, 3> grid, Word cluster, unsigned workers = 0, std::uint64_t seed = 0,
        exec::LaunchChecker* tool = nullptr, exec::Tools tools = {}) {
  Emulated machine(ptx, "cancel.ptx");
  Emulated::Request request;
  request.kernel = "k";
  for (int d = 0; d < 3; ++d) request.shape.grid[d] = grid[static_cast<std::size_t>(d)];
  request.shape.cluster[0] = cluster;
  request.shape.block[0] = 1;
  request.workers = workers;
  request.schedule_seed = seed;
  request.tools = tools;
  if (tool != nullptr) request.checkers = {tool};
  const std::size_t count = std::size_t{grid[0]} * grid[1] * grid[2];
  std::uint64_t buffers[2];
  for (std::uint64_t& b : buffers) {
    b = machine.buffer(std::vector<Word>(count));
    request.arguments.push_back({b, 8});
  }
  EXPECT_EQ(machine.run(request), "");
  Ran result;
  const auto words = [&](std::uint64_t at) {
    const auto* const p = reinterpret_cast<const Word*>(at);
    return std::vector<Word>(p, p + count);
  };
  result.done = words(buffers[0]), result.by = words(buffers[1]);
  result.findings = machine.findings().size();
  machine.free_buffers();
  return result;
}

constexpr std::size_t kMultiprocessors = 132; // of the emulated machine in these tests

TEST(LaunchControl, DoesTheWorkOfEachBlockOnce) {
  const Ran r = run(kPersistent, {25, 7, 3}, 1);
  EXPECT_EQ(r.done, std::vector<Word>(525, 1));
}

TEST(LaunchControl, StartsAsManyBlocksAsMultiprocessorsAndSharesTheOthers) {
  const Ran r = run(kPersistent, {Word{4 * kMultiprocessors}, 1, 1}, 1);
  EXPECT_EQ(r.started(), kMultiprocessors);
  EXPECT_LE(r.most(), 5u);
  for (std::size_t i = 0; i < kMultiprocessors; ++i) EXPECT_EQ(r.by[i], i); // none of these is cancelled
}

TEST(LaunchControl, CancelsNothingIfAllBlocksHaveStarted) {
  const Ran r = run(kPersistent, {100, 1, 1}, 1);
  for (std::size_t i = 0; i < r.by.size(); ++i) EXPECT_EQ(r.by[i], i);
}

TEST(LaunchControl, IsTheSameWithAnyNumberOfWorkers) {
  const Ran one = run(kPersistent, {999, 1, 1}, 1, 1), four = run(kPersistent, {999, 1, 1}, 1, 4);
  EXPECT_EQ(one.by, four.by);
}

TEST(LaunchControl, FollowsTheOrderOfTheBlocks) {
  const Ran r = run(kPersistent, {500, 1, 1}, 1, 0, 1); // from the last to the first
  EXPECT_EQ(r.done, std::vector<Word>(500, 1));
  EXPECT_EQ(r.by[499], 499u);
  EXPECT_NE(r.by[0], 0u);
}

TEST(LaunchControl, AnswersAllBlocksOfACluster) {
  const Ran r = run(kClusters, {600, 1, 1}, 2);
  EXPECT_EQ(r.done, std::vector<Word>(600, 1));
  EXPECT_EQ(r.started(), kMultiprocessors);
  for (std::size_t i = 0; i < r.by.size(); ++i) EXPECT_EQ(r.by[i] % 2, i % 2);
}

TEST(LaunchControl, ARequestNeedsAPlaceInTheBlock) {
  std::string ptx = kPersistent;
  const std::string shared = "mov.u32 %r, response;";
  ptx.replace(ptx.find(shared), shared.size(), "mov.u32 %r, 0x10000;");
  Emulated machine(ptx, "cancel.ptx");
  Emulated::Request request;
  request.kernel = "k";
  request.shape.block[0] = 1;
  for (int i = 0; i < 2; ++i) request.arguments.push_back({machine.buffer({0}), 8});
  const std::string trap = machine.run(request);
  EXPECT_NE(trap.find("outside"), std::string::npos) << trap;
  machine.free_buffers();
}

// initcheck sees that the answer is written in each block of the cluster.
TEST(LaunchControl, TheAnswerIsInitializedInEachBlock) {
  exec::InitCheck init;
  const Ran r = run(kClusters, {Word{4 * kMultiprocessors}, 1, 1}, 2, 0, 0, &init, {.initcheck = true});
  EXPECT_EQ(r.done, std::vector<Word>(4 * kMultiprocessors, 1));
  EXPECT_EQ(r.findings, 0u);
}

// Others may wait for the answer before the warp that has asked goes on.
TEST(LaunchControl, TheAnswerIsOrderedByItsMbarrier) {
  exec::RaceCheck races;
  EXPECT_EQ(run(kClusters, {Word{4 * kMultiprocessors}, 1, 1}, 2, 0, 0, &races, {.racecheck = true}).findings, 0u);
  exec::CopyCheck copies;
  const Ran r = run(kClusters, {Word{4 * kMultiprocessors}, 1, 1}, 2, 0, 0, &copies, {.synccheck = true});
  EXPECT_EQ(r.findings, 0u);
}

} // namespace launch_control_test
} // namespace warplens::tests
