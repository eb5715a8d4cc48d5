// SPDX-License-Identifier: Apache-2.0
// What synccheck and racecheck follow of tcgen05: the waits, commits and fences of the PTX manual's sections on the
// memory consistency model of tcgen05, tcgen05.commit, tcgen05.wait, and the asynchronous proxy.
#include "emulator/exec/checks/copy_check.hpp"
#include "emulator/exec/checks/race_check.hpp"
#include "tests/exec/tensor_kernels.hpp"

namespace warplens::tests {
namespace tensor_check_test {

const std::string kProduct = "@%p0 tcgen05.mma.cta_group::1.kind::f16 [%r10], %rd10, %rd10, %r25, %p1;\n",
                  kCopy = "@%p0 tcgen05.cp.cta_group::1.128x256b [%r10], %rd10;\n",
                  kCommit = "@%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r23];\n",
                  kWait = "W: mbarrier.test_wait.parity.shared.b64 %p2, [%r23], 0; @!%p2 bra W;\n",
                  kLoad = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%t0}, [%r11];\n",
                  kStore = "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r11], {%t1};\n",
                  kWaitLoads = "tcgen05.wait::ld.sync.aligned;\n", kWaitStores = "tcgen05.wait::st.sync.aligned;\n",
                  kFill = "st.shared.v4.b32 [%r21], {%r22, %r22, %r22, %r22};\n", kProxyFence = "fence.proxy.async;\n",
                  kBarrier = "bar.sync 0;\n";

/// Matrices of ones: A is s, and B its first half. %p0: the thread that issues.
std::string kernel(const std::string& body, bool fenced) {
  return tensor_kernel("mov.u32 %r20, s; shl.b32 %r21, %r1, 4; add.u32 %r21, %r21, %r20; mov.b32 %r22, 0x3c003c00;\n"
                       "setp.eq.u32 %p0, %r1, 0; mov.u32 %r23, b; @%p0 mbarrier.init.shared.b64 [%r23], 1;\n"
                       "shr.u32 %r24, %r20, 4; cvt.u64.u32 %rd10, %r24; or.b64 %rd10, %rd10, 0x0000401000080000;\n"
                       "mov.b32 %r25, 0x08100010; setp.ne.u32 %p1, %r1, %r1; mov.b32 %t1, 0;\n" +
                           kFill + "st.shared.v4.b32 [%r21+2048], {%r22, %r22, %r22, %r22};\n" +
                           (fenced ? kProxyFence : "") + kBarrier + body,
                       128, ".shared .align 1024 .b8 s[4096];\n.shared .align 8 .b64 b;\n");
}

/// "KIND xCOUNT" of each finding.
std::vector<std::string> found_in(const std::string& text, exec::LaunchChecker& check, exec::Tools tools,
                                  std::uint64_t seed = 0) {
  Emulated machine(text, "test.ptx");
  Emulated::Request request;
  request.kernel = "k";
  request.shape.block[0] = 128;
  request.tools = tools;
  request.schedule_seed = seed;
  request.checkers = {&check};
  request.arguments = {{machine.buffer(std::vector<std::uint32_t>(1024)), 8}};
  EXPECT_EQ(machine.run(request), "") << text;
  std::vector<std::string> list;
  for (const exec::ToolFindingGroup& g : machine.findings())
    list.push_back(std::string(id_of(g.first.kind)) + " x" + std::to_string(g.count));
  return list;
}
std::vector<std::string> found(const std::string& body, bool fenced = true) {
  exec::CopyCheck check;
  return found_in(kernel(body, fenced), check, {.synccheck = true});
}
std::vector<std::string> races(const std::string& body, std::uint64_t seed = 0) {
  exec::RaceCheck check;
  return found_in(kernel(body, true), check, {.racecheck = true}, seed);
}

using Findings = std::vector<std::string>;

TEST(TensorCheck, AProductIsPendingUntilItsCommitIsWaitedFor) {
  EXPECT_EQ(found(kProduct + kCommit + kBarrier + kWait + kLoad + kWaitLoads), Findings{});
  EXPECT_EQ(found(kProduct + kCommit + kBarrier + kLoad + kWaitLoads + kBarrier + kWait), Findings{"tensor_wait x4"})
      << "one a warp";
  EXPECT_EQ(found(kProduct + kBarrier + kLoad + kWaitLoads), Findings{"tensor_wait x4"}) << "not committed";
  EXPECT_EQ(found(kCommit + kProduct + kBarrier + kWait + kLoad + kWaitLoads), Findings{"tensor_wait x4"})
      << "committed too early";
}

TEST(TensorCheck, OtherColumnsAreNotPending) {
  const std::string other = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%t0}, [%r11+64];\n";
  EXPECT_EQ(found(kProduct + kCommit + kBarrier + other + kWaitLoads + kBarrier + kWait), Findings{});
}

TEST(TensorCheck, AThreadsOwnWorkIsInOrder) {
  EXPECT_EQ(found(kCopy + kProduct + kProduct + kCommit + kBarrier + kWait + kLoad + kWaitLoads), Findings{});
}

TEST(TensorCheck, SharedMemoryIsNotWrittenBeforeTheWait) {
  for (const std::string& work : {kProduct, kCopy}) {
    EXPECT_EQ(found(work + kCommit + kBarrier + kWait + kFill), Findings{});
    EXPECT_EQ(found(work + kCommit + kBarrier + kFill + kBarrier + kWait), Findings{"tensor_wait x128"});
    EXPECT_EQ(found(work + kCommit + kBarrier + "ld.shared.b32 %r30, [%r21];\n" + kBarrier + kWait), Findings{})
        << "only read";
  }
}

TEST(TensorCheck, StoresAreFencedForTheAsynchronousProxy) {
  for (const std::string& work : {kProduct, kCopy})
    EXPECT_EQ(found(work + kCommit + kBarrier + kWait, false), Findings{"missing_fence x1"});
}

TEST(TensorCheck, LoadsAndStoresArePendingUntilTheirWarpWaits) {
  const std::string product = kProduct + kCommit + kBarrier + kWait;
  EXPECT_EQ(found(kStore + kWaitStores + kBarrier + product), Findings{});
  EXPECT_EQ(found(kStore + kBarrier + product + kWaitStores), Findings{"tensor_wait x1"});
  EXPECT_EQ(found(kStore + kWaitLoads + kBarrier + product), Findings{"tensor_wait x1"}) << "the other wait";
  EXPECT_EQ(found(kLoad + kWaitLoads + kBarrier + product), Findings{});
  EXPECT_EQ(found(kLoad + kBarrier + product + kWaitLoads), Findings{"tensor_wait x1"});
  EXPECT_EQ(found(kStore + kLoad + kWaitLoads + kWaitStores), Findings{"tensor_wait x4"});
  EXPECT_EQ(found(kStore + kWaitStores + kLoad + kWaitLoads + kStore + kStore + kWaitStores), Findings{});
}

const std::string kRelaxedWait =
                      "W: mbarrier.test_wait.parity.relaxed.cta.shared::cta.b64 %p2, [%r23], 0; @!%p2 bra W;\n",
                  kBefore = "tcgen05.fence::before_thread_sync;\n", kAfter = "tcgen05.fence::after_thread_sync;\n";

// 9.7.16.6.4.2: tcgen05.ld is asynchronous, and needs the fence behind a relaxed wait; acquire orders it, too.
TEST(TensorCheck, ARelaxedWaitNeedsAFenceBehindIt) {
  const std::string load = kLoad + kWaitLoads;
  EXPECT_EQ(found(kProduct + kCommit + kRelaxedWait + load), Findings{"tensor_fence x3"})
      << "one a warp, but the last one leaves the barrier in front only when the product is complete";
  EXPECT_EQ(found(kProduct + kCommit + kRelaxedWait + kAfter + load), Findings{});
  EXPECT_EQ(found(kProduct + kCommit + kRelaxedWait + kBarrier + load), Findings{});
  EXPECT_EQ(found(kProduct + kCommit + kAfter + kRelaxedWait + load), Findings{"tensor_fence x3"}) << "too early";
  EXPECT_EQ(found(kProduct + kCommit + kWait + load), Findings{});
  EXPECT_EQ(found(kProduct + kCommit + "@!%p0 bra E;\n" + kRelaxedWait + kProduct + kCommit + "E:\n"), Findings{})
      << "products of one thread";
}

// 9.7.16.6.4.3: the work of two threads is in order without a wait, but not without fences.
TEST(TensorCheck, TheWorkOfTwoThreadsNeedsFences) {
  std::string other = "setp.eq.u32 %p3, %r1, 32;\n" + kProduct, commit = kCommit;
  other.replace(other.find("%p0"), 3, "%p3");
  commit.replace(commit.find("%p0"), 3, "%p3");
  const std::string then = other + commit + kCommit + kBarrier;
  EXPECT_EQ(found(kCopy + kBefore + kBarrier + kAfter + then), Findings{});
  EXPECT_EQ(found(kCopy + kBarrier + kAfter + then), Findings{"tensor_fence x1"}) << "the barrier does not wait";
  EXPECT_EQ(found(kCopy + kCommit + kBarrier + kWait + kBarrier + other + commit), Findings{}) << "complete";
}

// 9.7.16.6.4.5: the hardware respects a dependency through registers.
TEST(TensorCheck, RegistersOfALoadMayBeUsedBeforeTheWait) {
  EXPECT_EQ(found(kProduct + kCommit + kWait + kLoad + "add.u32 %r30, %t0, 1;\n" + kWaitLoads), Findings{});
}

// tcgen05.commit arrives at the mbarrier, and does not overwrite it.
TEST(TensorCheck, ACommitOrdersWhatFollowsTheWait) {
  const std::string second = "setp.eq.u32 %p3, %r13, 1;\n", overwrite = "@%p3 " + kFill;
  const std::string wait = "@!%p3 bra E;\n" + kWait + "E:\n";
  for (const std::uint64_t seed : {0, 1}) {
    EXPECT_EQ(races(second + kProduct + kCommit + wait + overwrite, seed), Findings{}) << seed;
    EXPECT_EQ(races(kProduct + kCommit + kBarrier + kWait + kFill, seed), Findings{}) << seed;
  }
  EXPECT_EQ(races(second + kProduct + kCommit + overwrite), Findings{"war x32"});
}

TEST(TensorCheck, AProductReadsWhatABarrierOrders) {
  EXPECT_EQ(races(kFill + kProxyFence + kBarrier + kProduct + kCommit + kBarrier + kWait), Findings{});
  EXPECT_EQ(races(kFill + kProxyFence + kProduct + kCommit + kBarrier + kWait, 1), Findings{"raw x1"});
}

} // namespace tensor_check_test
} // namespace warplens::tests
