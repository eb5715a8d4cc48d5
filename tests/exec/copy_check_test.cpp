// SPDX-License-Identifier: Apache-2.0
// The part of synccheck that follows asynchronous copies: which accesses, stores and copies it reports, and which not.
// The sections of the PTX manual are those of cp.async, cp.async.bulk, mbarrier, and of the proxies in the memory
// consistency model.
#include "emulator/exec/checks/copy_check.hpp"
#include "tests/exec/kernel_test.hpp"

namespace warplens::tests {
namespace copy_check_test {

using exec::ToolFindingGroup;

// %r11, %r13 and %r14 are the addresses of s, b and the second half of s, %r12 that of this thread's word of s.
const char* const kNames = "mov.u32 %r11, s; shl.b32 %r10, %r1, 2; add.u32 %r12, %r11, %r10; mov.u32 %r13, b;\n"
                           "add.u32 %r14, %r11, 1024; setp.eq.u32 %p0, %r1, 0; setp.lt.u32 %p1, %r1, 16;\n";
const char* const kMemory = ".shared .align 128 .b8 s[2048];\n.shared .align 8 .b64 b;\n";

const std::string kCopy = "cp.async.ca.shared.global [%r12], [%rd2], 4;\n", kCommit = "cp.async.commit_group;\n",
                  kRead = "ld.shared.u32 %r20, [%r12]; st.global.u32 [%rd2+128], %r20;\n", kBarrier = "bar.sync 0;\n",
                  kFence = "fence.proxy.async;\n", kInit = "@%p0 mbarrier.init.shared.b64 [%r13], 1;\n",
                  kFenceOfInit = "@%p0 fence.mbarrier_init.release.cluster;\n",
                  kExpect = "@%p0 mbarrier.arrive.expect_tx.shared.b64 %rd10, [%r13], 128;\n",
                  kLoad = "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r11], [%rd1], 128, "
                          "[%r13];\n",
                  kStore = "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r11], 128;\n",
                  kBulkCommit = "@%p0 cp.async.bulk.commit_group;\n", kBulkWait = "@%p0 cp.async.bulk.wait_group 0;\n",
                  kWait = "W: mbarrier.test_wait.parity.shared.b64 %p2, [%r13], 0; @!%p2 bra W;\n";

/// "KIND xCOUNT" of each finding.
std::vector<std::string> found(const std::string& body, const How& how = {},
                               std::vector<ToolFindingGroup>* all = nullptr) {
  Emulated machine(kernel_of(kNames + body + "ret;\n", kMemory), "test.ptx");
  exec::CopyCheck check;
  Emulated::Request request;
  request.kernel = "k";
  request.shape.grid[0] = how.blocks;
  request.shape.block[0] = how.threads;
  request.shape.cluster[0] = how.cluster;
  request.workers = how.workers;
  request.tools.synccheck = true;
  request.checkers = {&check};
  request.arguments = {{machine.buffer(std::vector<std::uint32_t>(1024)), 8}};
  EXPECT_EQ(machine.run(request), "") << body;
  std::vector<std::string> list;
  for (const ToolFindingGroup& g : machine.findings())
    list.push_back(std::string(id_of(g.first.kind)) + " x" + std::to_string(g.count));
  if (all != nullptr) *all = machine.findings();
  return list;
}

using Findings = std::vector<std::string>;

TEST(CopyCheck, ACopyIsPendingUntilItsThreadWaitsForItsGroup) {
  EXPECT_EQ(found(kCopy + kCommit + kRead), Findings{"missing_wait x32"});
  EXPECT_EQ(found(kCopy + kCommit + "cp.async.wait_group 0;\n" + kRead), Findings{});
  EXPECT_EQ(found(kCopy + "cp.async.wait_all;\n" + kRead), Findings{});
  EXPECT_EQ(found(kCopy + "cp.async.wait_group 0;\n" + kRead), Findings{"missing_wait x32"}) << "not committed";
  EXPECT_EQ(found(kCopy + kCommit + "ld.shared.u32 %r20, [%r12+1024];\n"), Findings{}) << "other bytes";
  EXPECT_EQ(found(kCopy + kCommit + "st.shared.u8 [%r12+3], 0;\n"), Findings{"missing_wait x32"});
}

TEST(CopyCheck, AWaitLeavesTheLastGroupsPending) {
  const std::string second = "cp.async.ca.shared.global [%r12+1024], [%rd2+512], 4;\n" + kCommit;
  const std::string read_second = "ld.shared.u32 %r21, [%r12+1024];\n";
  EXPECT_EQ(found(kCopy + kCommit + second + "cp.async.wait_group 1;\n" + kRead), Findings{});
  EXPECT_EQ(found(kCopy + kCommit + second + "cp.async.wait_group 1;\n" + read_second), Findings{"missing_wait x32"});
  EXPECT_EQ(found(kCopy + kCommit + second + "cp.async.wait_group 2;\n" + kRead), Findings{"missing_wait x32"});
}

TEST(CopyCheck, EachThreadHasGroupsOfItsOwn) {
  EXPECT_EQ(found("@%p1 cp.async.commit_group;\n" + kCopy + kCommit + "cp.async.wait_group 0;\n" + kRead), Findings{});
  EXPECT_EQ(found(kCopy + kCommit + "@%p1 cp.async.commit_group;\n cp.async.wait_group 1;\n" + kRead),
            Findings{"missing_wait x16"});
}

TEST(CopyCheck, TheSourceMayBeReadButNotWritten) {
  EXPECT_EQ(found(kCopy + kCommit + "ld.global.u32 %r20, [%rd2];\n"), Findings{});
  EXPECT_EQ(found(kCopy + kCommit + "st.global.u32 [%rd2], %r1;\n"), Findings{"missing_wait x32"});
  EXPECT_EQ(found(kCopy + kCommit + "st.global.u32 [%rd2+128], %r1;\n"), Findings{});
}

TEST(CopyCheck, BothPlacesAreTold) {
  std::vector<ToolFindingGroup> all;
  found(kCopy + kCommit + kRead, {}, &all);
  ASSERT_EQ(all.size(), 1u);
  const exec::ToolFinding& f = all[0].first;
  EXPECT_EQ(f.at.space, isa::Space::shared);
  EXPECT_EQ(f.at.access, exec::AccessKind::load);
  EXPECT_EQ(f.at.bytes, 4u);
  ASSERT_TRUE(f.other);
  EXPECT_EQ(f.other->access, exec::AccessKind::store);
  EXPECT_LT(f.other->instruction, f.at.instruction);
  EXPECT_EQ(f.other->address, f.at.address);
}

TEST(CopyCheck, ABulkLoadIsPendingUntilSomebodyWaitsForItsPhase) {
  const std::string begin = kInit + kFenceOfInit + kBarrier + kExpect + kLoad + kBarrier;
  EXPECT_EQ(found(begin + kRead), Findings{"missing_wait x32"});
  EXPECT_EQ(found(begin + kWait + kRead), Findings{});
  EXPECT_EQ(found(begin + "@!%p0 bra J;\n" + kWait + "J:\n" + kBarrier + kRead), Findings{}) << "one thread for all";
}

TEST(CopyCheck, AnArrivalOfCopiesCompletesThem) {
  const std::string init = "@%p0 mbarrier.init.shared.b64 [%r13], 32;\n" + kBarrier;
  EXPECT_EQ(found(init + kCopy + "cp.async.mbarrier.arrive.noinc.shared.b64 [%r13];\n" + kWait + kRead), Findings{});
  EXPECT_EQ(found(init + kCopy + "mbarrier.arrive.shared.b64 %rd10, [%r13];\n" + kWait + kRead),
            Findings{"missing_wait x32"});
}

TEST(CopyCheck, ABulkStoreReadsAndWritesUntilItsThreadWaits) {
  const std::string begin = kFence + kStore + kBulkCommit;
  const std::string overwrite = "st.shared.u32 [%r12], 7;\n", read_target = "ld.global.u32 %r20, [%rd2];\n";
  EXPECT_EQ(found(begin + overwrite + kBulkWait), Findings{"missing_wait x32"});
  EXPECT_EQ(found(begin + "@%p0 cp.async.bulk.wait_group.read 0;\n" + kBarrier + overwrite), Findings{});
  EXPECT_EQ(found(begin + "@%p0 cp.async.bulk.wait_group.read 0;\n" + kBarrier + read_target),
            Findings{"missing_wait x32"});
  EXPECT_EQ(found(begin + kBulkWait + kBarrier + read_target + overwrite), Findings{});
  EXPECT_EQ(found(begin), Findings{"missing_wait x1"}) << "the block exits";
}

TEST(CopyCheck, StoresNeedAFenceBeforeABulkCopyReadsThem) {
  const std::string store = "st.shared.u32 [%r12], %r1;\n", copy = kStore + kBulkCommit + kBulkWait;
  EXPECT_EQ(found(store + kBarrier + copy), Findings{"missing_fence x1"});
  EXPECT_EQ(found(store + kFence + kBarrier + copy), Findings{});
  EXPECT_EQ(found(store + kBarrier + "@%p0 fence.proxy.async;\n" + copy), Findings{}) << "by the thread that copies";
  EXPECT_EQ(found(store + "@%p0 fence.proxy.async;\n" + kBarrier + copy), Findings{"missing_fence x1"})
      << "by one of the threads that store";
  EXPECT_EQ(found(kFence + store + kBarrier + copy), Findings{"missing_fence x1"}) << "too early";
}

TEST(CopyCheck, TheStoreWithoutAFenceIsTold) {
  std::vector<ToolFindingGroup> all;
  found("@!%p0 st.shared.u32 [%r12], %r1;\n" + kBarrier + kStore + kBulkCommit + kBulkWait, {}, &all);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].first.at.bytes, 128u);
  ASSERT_TRUE(all[0].first.other);
  EXPECT_EQ(all[0].first.other->thread, 1u);
  EXPECT_EQ(all[0].first.other->address, 4u);
  EXPECT_EQ(all[0].first.other->bytes, 4u);
}

TEST(CopyCheck, WhatABulkCopyHasWrittenNeedsNoFence) {
  EXPECT_EQ(found("st.shared.u32 [%r12], %r1;\n" + kInit + kFenceOfInit + kBarrier + kExpect + kLoad + kWait + kStore +
                  kBulkCommit + kBulkWait),
            Findings{});
}

TEST(CopyCheck, AnInitialisedObjectNeedsAFenceBeforeACopyCompletesThere) {
  const std::string rest = kExpect + kLoad + kWait;
  EXPECT_EQ(found(kInit + kBarrier + rest), Findings{"missing_fence x1"});
  EXPECT_EQ(found(kInit + kFenceOfInit + kBarrier + rest), Findings{});
  EXPECT_EQ(found(kInit + "@%p0 fence.proxy.async;\n" + kBarrier + rest), Findings{});
  EXPECT_EQ(found(kInit + "@!%p0 fence.proxy.async;\n" + kBarrier + rest), Findings{"missing_fence x1"});
}

TEST(CopyCheck, AMulticastIsPendingInEachBlockItWritesTo) {
  const std::string meet = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
  const std::string begin = "mov.u32 %r15, %cluster_ctarank; setp.eq.and.u32 %p3, %r15, 0, %p0; mov.u16 %h0, 3;\n" +
                            kInit + kFenceOfInit + kExpect + meet +
                            "@%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                            "[%r11], [%rd1], 128, [%r13], %h0;\n" +
                            meet;
  const How two = {.blocks = 2, .cluster = 2};
  EXPECT_EQ(found(begin + "ld.shared.u32 %r20, [%r12];\n" + kWait + meet, two), Findings{"missing_wait x64"});
  EXPECT_EQ(found(begin + kWait + "ld.shared.u32 %r20, [%r12];\n" + meet, two), Findings{});
}

TEST(CopyCheck, AsynchronousReductionsDoNotConflictWithEachOther) {
  const std::string begin = kInit + "fence.mbarrier_init.release.cluster;\n" + kBarrier + kExpect;
  const std::string reduce =
      "mapa.shared::cluster.u32 %r16, %r11, 0; mapa.shared::cluster.u32 %r17, %r13, 0;\n"
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r16], 1, [%r17];\n";
  EXPECT_EQ(found(begin + reduce + kWait + "ld.shared.u32 %r20, [%r11];\n"), Findings{});
  EXPECT_EQ(found(begin + reduce + "ld.shared.u32 %r20, [%r11];\n" + kWait), Findings{"missing_wait x32"});
}

TEST(CopyCheck, StoresOverValidObjectsAreTold) {
  EXPECT_EQ(found(kInit + kBarrier + "@%p0 st.shared.u32 [%r13+4], 1;\n"), Findings{"mbarrier_overwritten x1"});
  EXPECT_EQ(found(kInit + kBarrier + "@%p0 mbarrier.inval.shared.b64 [%r13];\n@%p0 st.shared.u32 [%r13], 1;\n"),
            Findings{});
  EXPECT_EQ(found(kInit + kBarrier + "st.shared.u32 [%r12], 1;\n"), Findings{});
}

TEST(CopyCheck, FindingsAreTheSameForAnyNumberOfWorkers) {
  const auto text = [&](unsigned workers) {
    std::vector<ToolFindingGroup> all;
    How how;
    how.blocks = 8;
    how.workers = workers;
    found(kCopy + kCommit + kRead, how, &all);
    std::string list;
    for (const ToolFindingGroup& g : all)
      list += std::to_string(g.count) + " from " + std::to_string(g.first.at.cta) + "." +
              std::to_string(g.first.at.thread) + ", " + std::to_string(g.threads.size()) + "\n";
    return list;
  };
  EXPECT_EQ(text(1), "256 from 0.0, 256\n");
  for (const unsigned workers : {2u, 3u, 7u}) EXPECT_EQ(text(workers), text(1));
}

TEST(CopyCheck, OtherKernelsAreNotFollowed) {
  const auto concerns = [](const std::string& body) {
    Emulated machine(kernel_of(body, kMemory), "test.ptx");
    const ir::Module& module = machine.module();
    return exec::CopyCheck::concerns(
        **exec::decode(module, *module.find("k"), exec::VariableAddresses(module.variables.size()), {}));
  };
  EXPECT_FALSE(concerns("st.global.u32 [%rd2], %r1; bar.sync 0; ret;"));
  EXPECT_TRUE(concerns("mbarrier.init.shared.b64 [b], 1; ret;"));
  EXPECT_TRUE(concerns("cp.async.ca.shared.global [s], [%rd2], 4; ret;"));
}

} // namespace copy_check_test
} // namespace warplens::tests
