// SPDX-License-Identifier: Apache-2.0
// What synccheck and racecheck follow of products of warp groups: the waits and fences of the PTX manual's sections on
// wgmma.fence, wgmma.wait_group and the asynchronous proxy; what the products read in shared memory.
#include "emulator/exec/checks/copy_check.hpp"
#include "emulator/exec/checks/race_check.hpp"
#include "tests/exec/kernel_test.hpp"

namespace warplens::tests {
namespace group_check_test {

const std::string kProduct = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd10, %rd10, "
                             "%p9, 1, 1, 0, 0;\n",
                  kFromRegisters =
                      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r20, %r21, "
                      "%r22, %r23}, %rd10, %p9, 1, 1, 0;\n",
                  kFence = "wgmma.fence.sync.aligned;\n", kCommit = "wgmma.commit_group.sync.aligned;\n",
                  kWait = "wgmma.wait_group.sync.aligned 0;\n", kWaitOfAllButOne = "wgmma.wait_group.sync.aligned 1;\n",
                  kReadResult = "cvt.rzi.u32.f32 %r13, %f3;\n",
                  kFill = "st.shared.v4.b32 [%r11], {%r12, %r12, %r12, %r12};\n", kProxyFence = "fence.proxy.async;\n",
                  kBarrier = "bar.sync 0;\n";

/// Matrices of ones: A is the first 2048 bytes of s, and B its first 256.
std::string kernel(const std::string& body, bool filled = true) {
  std::string text =
      kernel_of("mov.u32 %r10, s; shl.b32 %r11, %r1, 4; add.u32 %r11, %r11, %r10; mov.b32 %r12, 0x3c003c00;\n"
                "shr.u32 %r10, %r10, 4; cvt.u64.u32 %rd10, %r10; or.b64 %rd10, %rd10, 0x0000001000080000;\n"
                "setp.ne.u32 %p9, %r1, %r1;\n" +
                    (filled ? kFill + kProxyFence + kBarrier : "") + body + "ret;",
                ".shared .align 1024 .b8 s[4096];\n");
  text.replace(text.find("sm_90"), 5, "sm_90a");
  return text;
}

/// "KIND xCOUNT" of each finding.
std::vector<std::string> found_with(exec::LaunchChecker& check, exec::Tools tools, const std::string& text,
                                    unsigned threads = 128, unsigned workers = 1) {
  Emulated machine(text, "test.ptx");
  Emulated::Request request;
  request.kernel = "k";
  request.shape.block[0] = threads;
  request.workers = workers;
  request.tools = tools;
  request.checkers = {&check};
  request.arguments = {{machine.buffer(std::vector<std::uint32_t>(1024)), 8}};
  EXPECT_EQ(machine.run(request), "") << text;
  std::vector<std::string> list;
  for (const exec::ToolFindingGroup& g : machine.findings())
    list.push_back(std::string(id_of(g.first.kind)) + " x" + std::to_string(g.count));
  return list;
}
std::vector<std::string> found_in(const std::string& text, unsigned workers = 1) {
  exec::CopyCheck check;
  return found_with(check, {.synccheck = true}, text, 128, workers);
}
std::vector<std::string> found(const std::string& body) { return found_in(kernel(body)); }
/// Of racecheck.
std::vector<std::string> races(const std::string& body, bool filled = true, unsigned threads = 128) {
  exec::RaceCheck check;
  return found_with(check, {.racecheck = true}, kernel(body, filled), threads);
}

using Findings = std::vector<std::string>;

TEST(GroupCheck, AResultIsReadAfterTheWait) {
  EXPECT_EQ(found(kFence + kProduct + kCommit + kWait + kReadResult), Findings{});
  EXPECT_EQ(found(kFence + kProduct + kCommit + kReadResult + kWait), Findings{"group_wait x4"}) << "one a warp";
  EXPECT_EQ(found(kFence + kProduct + kWait + kReadResult), Findings{"group_wait x4"}) << "not committed";
}

TEST(GroupCheck, AWaitLeavesTheLastGroupsRunning) {
  const std::string second = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f4, %f5, %f6, %f7}, %rd10, %rd10, "
                             "%p9, 1, 1, 0, 0;\n";
  const std::string both = kFence + kProduct + kCommit + second + kCommit + kWaitOfAllButOne;
  EXPECT_EQ(found(both + kReadResult), Findings{});
  EXPECT_EQ(found(both + "cvt.rzi.u32.f32 %r13, %f4;\n"), Findings{"group_wait x4"});
}

TEST(GroupCheck, ResultsMustNotBeWrittenBeforeTheWait) {
  EXPECT_EQ(found(kFence + kProduct + kCommit + "add.f32 %f1, %f9, %f9;\n" + kWait), Findings{"group_wait x4"});
  EXPECT_EQ(found(kFence + kProduct + kCommit + "mov.f32 %f1, 0f00000000;\n" + kWait), Findings{"group_wait x4"});
}

TEST(GroupCheck, RegistersOfAMayBeReadButNotWritten) {
  const std::string begin = kFence + kFromRegisters + kCommit;
  EXPECT_EQ(found(begin + "add.u32 %r30, %r20, %r20;\n" + kWait), Findings{});
  EXPECT_EQ(found(begin + "add.u32 %r20, %r30, %r30;\n" + kWait), Findings{"group_wait x4"});
}

// Compilers give a value another register between the product and the wait.
TEST(GroupCheck, AMoveIsNoAccess) {
  const std::string moved = kFence + kProduct + kCommit + "mov.f32 %f8, %f3;\n";
  EXPECT_EQ(found(moved + kWait + "cvt.rzi.u32.f32 %r13, %f8;\n"), Findings{});
  EXPECT_EQ(found(moved + "cvt.rzi.u32.f32 %r13, %f8;\n" + kWait), Findings{"group_wait x4"});
}

TEST(GroupCheck, AFenceComesBetweenAWriteAndTheProduct) {
  const std::string finish = kCommit + kWait;
  EXPECT_EQ(found(kProduct + finish), Findings{"group_fence x4"}) << "none before the first product";
  EXPECT_EQ(found("add.f32 %f1, %f9, %f9;\n" + kFence + kProduct + finish), Findings{});
  EXPECT_EQ(found(kFence + "add.f32 %f1, %f9, %f9;\n" + kProduct + finish), Findings{"group_fence x4"});
  EXPECT_EQ(found(kFence + "add.u32 %r21, %r30, %r30;\n" + kFromRegisters + finish), Findings{"group_fence x4"});
  EXPECT_EQ(found(kFence + "add.f32 %f8, %f9, %f9; mov.f32 %f1, %f8;\n" + kProduct + finish),
            Findings{"group_fence x4"})
      << "through a move";
}

// Compilers put zeros into accumulators after the fence.
TEST(GroupCheck, AConstantNeedsNoFence) {
  EXPECT_EQ(found(kFence + "mov.f32 %f1, 0f00000000;\n" + kProduct + kCommit + kWait), Findings{});
}

TEST(GroupCheck, ProductsThatAccumulateNeedNoFenceBetweenThem) {
  EXPECT_EQ(found(kFence + kProduct + kProduct + kCommit + kProduct + kCommit + kWait + kReadResult), Findings{});
}

TEST(GroupCheck, SharedMemoryIsNotWrittenBeforeTheWait) {
  EXPECT_EQ(found(kFence + kProduct + kCommit + kWait + kFill), Findings{});
  EXPECT_EQ(found(kFence + kProduct + kCommit + kFill + kWait), Findings{"group_wait x32"})
      << "the first warp that waits completes the product for all";
  EXPECT_EQ(found(kFence + kProduct + kCommit + "st.shared.b32 [%r11+2048], %r12;\n" + kWait), Findings{})
      << "elsewhere";
  EXPECT_EQ(found(kFence + kProduct + kCommit + "ld.shared.b32 %r30, [%r11];\n" + kWait), Findings{}) << "only read";
}

TEST(GroupCheck, StoresAreFencedForTheAsynchronousProxy) {
  const std::string product = kFence + kProduct + kCommit + kWait;
  EXPECT_EQ(found_in(kernel(kFill + kProxyFence + kBarrier + product, false)), Findings{});
  EXPECT_EQ(found_in(kernel(kFill + kBarrier + product, false)), Findings{"missing_fence x1"});
}

TEST(GroupCheck, FindingsAreTheSameForAnyNumberOfWorkers) {
  const std::string text = kernel(kProduct + kReadResult + kFill);
  EXPECT_EQ(found_in(text, 1), found_in(text, 4));
  EXPECT_FALSE(found_in(text).empty());
}

// Each warp reads its rows of A, which it has filled here itself, and B, which is what the first half of warp 0 fills.
TEST(GroupCheck, AProductReadsWhatABarrierOrders) {
  const std::string product = kFence + kProduct + kCommit + kWait;
  EXPECT_EQ(races(kFill + kProxyFence + kBarrier + product, false), Findings{});
  EXPECT_EQ(races(kFill + kProxyFence + product, false), Findings{"raw x3"}) << "one of each of the other warps";
}

// A group is one of all four warps: the wait of one of them tells of the others' reads.
TEST(GroupCheck, MemoryIsFreeBehindTheWaitOfOneWarp) {
  const std::string product = kFence + kProduct + kCommit + kWait;
  const std::string object = ".shared .align 8 .b64 b;\n";
  const auto with = [&](const std::string& arrives) {
    std::string text = kernel("setp.lt.u32 %p5, %r1, 128; setp.eq.u32 %p6, %r1, " + arrives +
                                  "; mov.u32 %r24, b; @%p6 mbarrier.init.shared.b64 [%r24], 1;\n" + kBarrier +
                                  "@!%p5 bra L;\n" + product + "@%p6 mbarrier.arrive.shared.b64 _, [%r24]; bra E;\n" +
                                  "L: mbarrier.test_wait.parity.shared.b64 %p7, [%r24], 0; @!%p7 bra L;\n" +
                                  "sub.u32 %r11, %r11, 2048;\n" + kFill + "E:\n",
                              true);
    text.insert(text.find(".shared .align 1024"), object);
    exec::RaceCheck check;
    return found_with(check, {.racecheck = true}, text, 160);
  };
  EXPECT_EQ(with("0"), Findings{});
  EXPECT_EQ(with("97"), Findings{});
  EXPECT_EQ(races("setp.lt.u32 %p5, %r1, 128; @!%p5 bra L;\n" + product + "bra E;\nL: sub.u32 %r11, %r11, 2048;\n" +
                      kFill + "E:\n",
                  true, 160),
            Findings{"raw x4"});
}

} // namespace group_check_test
} // namespace warplens::tests
