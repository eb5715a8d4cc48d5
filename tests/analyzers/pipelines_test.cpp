// SPDX-License-Identifier: Apache-2.0
// Asynchronous work in flight and bulk copies, of kernels that run in the emulator; the numbers are counted by hand.
// Sectors of bulk copies are compared with hardware in tests/hardware/counted_copies_test.cpp.
#include "analyzers/analyzers.hpp"
#include "analyzers/pipelines.hpp"
#include "tests/hardware/emulated.hpp"

#include <gtest/gtest.h>

namespace warplens::analyzers {
namespace pipelines_test {

Profile profile_of(const std::string& body, std::uint32_t blocks = 1, unsigned workers = 1) {
  tests::Emulated machine(".version 8.0\n.target sm_90a\n.address_size 64\n.shared .align 128 .b8 s[8192];\n"
                          ".visible .entry k(.param .u64 memory) {\n.reg .b64 %m, %state; .reg .b32 %t, %a, %b; "
                          ".reg .pred %p, %q;\nld.param.u64 %m, [memory]; mov.u32 %t, %tid.x; mov.u32 %b, s;\n"
                          "shl.b32 %a, %t, 4; add.u32 %a, %a, %b; setp.eq.u32 %p, %t, 0;\n" +
                              body + "ret;\n}\n",
                          "pipelines.ptx");
  tests::Emulated::Request request;
  request.kernel = "k";
  request.shape.grid[0] = blocks;
  request.shape.block[0] = 32;
  request.arguments = {{machine.buffer(std::vector<std::uint32_t>(4096)), 8}};
  request.workers = workers;
  Analysis analysis(machine.module(), *machine.module().find("k"), request.shape);
  request.watcher = &analysis;
  EXPECT_EQ(machine.run(request), "");
  return analysis.profile();
}

void expect(const Profile& profile, const std::string& kind, std::uint64_t waits, double mean, double most) {
  SCOPED_TRACE(kind);
  EXPECT_EQ(profile.integer("async_" + kind + "_waits"), waits);
  EXPECT_DOUBLE_EQ(profile.metrics.number({MetricId::async_in_flight, kind}), mean);
  EXPECT_DOUBLE_EQ(profile.metrics.number({MetricId::async_in_flight_most, kind}), most);
}

const std::string kCopy = "cp.async.cg.shared.global [%a], [%m], 16;\n", kCommit = "cp.async.commit_group;\n";

TEST(Pipelines, CountGroupsOfCopiesAtWaits) {
  // Three in flight, then two, then the rest: 3, 2, 1. The last two waits find nothing.
  const std::string text = kCopy + kCommit + kCopy + kCommit + kCopy + kCommit + "cp.async.wait_group 2;\n" +
                           "cp.async.wait_group 1;\ncp.async.wait_all;\ncp.async.wait_group 0;\ncp.async.wait_all;\n";
  for (const unsigned workers : {1u, 3u}) expect(profile_of(text, 5, workers), "copy_groups", 15, 2, 3);
}

TEST(Pipelines, WaitsForNothingDoNotCount) {
  // With one group, wait_group 1 does not wait. Groups without copies are counted by waits, but are no work.
  const Profile none = profile_of(kCopy + kCommit + "cp.async.wait_group 1;\n");
  EXPECT_EQ(none.metrics.find({MetricId::async_waits, "copy_groups"}), nullptr);
  expect(profile_of(kCopy + kCommit + kCommit + "cp.async.wait_group 1;\n"), "copy_groups", 1, 1, 1);
  // wait_all commits.
  expect(profile_of(kCopy + kCommit + kCopy + "cp.async.wait_all;\n"), "copy_groups", 1, 2, 2);
}

TEST(Pipelines, RowsHaveTheirOwnWaits) {
  const Profile profile =
      profile_of(kCopy + kCommit + kCopy + kCommit + "cp.async.wait_group 1;\ncp.async.wait_group 0;\n");
  std::vector<double> found;
  for (const InstructionRow& row : profile.instructions)
    if (row.metrics.find({MetricId::async_waits, "copy_groups"}) != nullptr)
      found.push_back(row.metrics.number({MetricId::async_in_flight, "copy_groups"}));
  EXPECT_EQ(found, (std::vector<double>{2, 1}));
}

TEST(Pipelines, CountBulkStores) {
  const std::string store = "@%p cp.async.bulk.global.shared::cta.bulk_group [%m], [%b], 64;\n"
                            "@%p cp.async.bulk.commit_group;\n";
  const Profile profile = profile_of(store + store + "cp.async.bulk.wait_group.read 1;\ncp.async.bulk.wait_group 0;\n");
  expect(profile, "bulk_groups", 2, 1.5, 2);
  EXPECT_EQ(profile.integer("tma_copies"), 2u);
  EXPECT_EQ(profile.integer("tma_bytes"), 128u);
  EXPECT_EQ(profile.integer("l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st.sum"), 4u);
  EXPECT_EQ(profile.integer("tma_shared_bytes_read"), 128u);
}

TEST(Pipelines, CountStagesOfMbarriers) {
  // Three stages are filled before the first wait. The second phase of the first one begins after it.
  std::string text;
  for (const char* stage : {"4096", "4104", "4112"})
    text += std::string("@%p mbarrier.init.shared.b64 [s+") + stage + "], 1;\n";
  const auto fill = [](const std::string& stage) {
    return "@%p mbarrier.arrive.expect_tx.shared.b64 %state, [s+" + stage +
           "], 256;\n@%p cp.async.bulk.shared::cluster.global"
           ".mbarrier::complete_tx::bytes [%b], [%m+16], 256, [s+" +
           stage + "];\n";
  };
  const auto wait = [](const std::string& stage, int parity) {
    return "@%p mbarrier.try_wait.parity.shared.b64 %q, [s+" + stage + "], " + std::to_string(parity) + ";\n";
  };
  text += fill("4096") + fill("4104") + fill("4112") + wait("4096", 0) + fill("4096") + wait("4104", 0) +
          wait("4104", 0) + wait("4112", 0) + wait("4096", 1);
  const Profile profile = profile_of(text);
  expect(profile, "stages", 4, (3 + 3 + 2 + 1) / 4.0, 3);
  EXPECT_EQ(profile.integer("tma_sectors"), 4u * 10u); // two pieces of 128 bytes, of 5 sectors each
  EXPECT_EQ(profile.integer("tma_sectors_ideal"), 4u * 8u);
  EXPECT_EQ(profile.integer("tma_sectors_excessive"), 4u * 2u);
  EXPECT_EQ(profile.integer("tma_shared_bytes_written"), 4u * 256u);
}

TEST(Pipelines, CountGroupsOfProducts) {
  PipelineShard shard(2);
  using Step = exec::AsyncStep;
  const auto tell = [&](Step::Kind kind, std::uint32_t warp, std::uint32_t running = 0) {
    shard.async_step({Step::Work::products, kind, 1, running, {7, warp}});
  };
  for (const std::uint32_t warp : {0u, 1u}) {
    tell(Step::Kind::begins, warp);
    tell(Step::Kind::commits, warp);
    tell(Step::Kind::begins, warp);
    tell(Step::Kind::commits, warp);
    tell(Step::Kind::waits, warp, 1);
  }
  tell(Step::Kind::waits, 1, 0);
  shard.end_cta(7);
  tell(Step::Kind::waits, 0, 0); // of another block of this number: it has no groups
  const PipelineRow::Waits& waits = shard.rows()[1].kinds[2];
  EXPECT_EQ(waits.count, 3u);
  EXPECT_EQ(waits.in_flight, 5u);
  EXPECT_EQ(waits.most, 2u);
}

TEST(BulkCopies, LaunchesWithoutThemHaveNoMetrics) {
  const Profile profile = profile_of(kCopy + kCommit + "cp.async.wait_all;\n");
  EXPECT_EQ(profile.metrics.find(MetricId::tma_copies), nullptr);
}

} // namespace pipelines_test
} // namespace warplens::analyzers
