// SPDX-License-Identifier: Apache-2.0
// Watcher events of asynchronous copies, clusters on several workers, and waits that yield.
#include "tests/exec/kernel_test.hpp"

#include <bit>
#include <map>

namespace warplens::tests {
namespace async_test {

/// Accesses by space and kind: how many, and the bytes of all lanes.
struct Seen {
  std::uint64_t accesses = 0, bytes = 0;
  friend bool operator==(const Seen&, const Seen&) = default;
};
using Key = std::pair<isa::Space, exec::AccessKind>;
using Accesses = std::map<Key, Seen>;

class Recorder final : public exec::Watcher {
public:
  std::unique_ptr<exec::Shard> make_shard() override { return std::make_unique<Shard>(); }
  void finish(std::vector<std::unique_ptr<exec::Shard>> shards, const std::vector<exec::InstructionCount>&) override {
    for (const auto& shard : shards)
      for (const auto& [key, seen] : static_cast<Shard&>(*shard).all) {
        all[key].accesses += seen.accesses;
        all[key].bytes += seen.bytes;
      }
  }
  Accesses all;

private:
  struct Shard final : exec::Shard {
    Accesses all;
    void access(const exec::Access& a) override {
      Seen& seen = all[{a.space, a.kind}];
      seen.accesses += a.count;
      seen.bytes += a.count * static_cast<unsigned>(__builtin_popcount(a.mask)) * a.lane_bytes;
    }
  };
};

constexpr auto kLoad = exec::AccessKind::load, kStore = exec::AccessKind::store,
               kReduction = exec::AccessKind::reduction;
constexpr auto kGlobal = isa::Space::global, kShared = isa::Space::shared;

Accesses accesses_of(const std::string& body, const std::string& declarations, const How& how = {}) {
  Recorder recorder;
  How watched = how;
  watched.watcher = &recorder;
  EXPECT_EQ(run_kernel(kernel_of(body, declarations), watched).trap, "") << body;
  return recorder.all;
}

const char* const kBuffer = ".shared .align 16 .b8 s[2048];\n.shared .align 8 .b64 b;\n";

TEST(AsyncCopy, IsALoadOfGlobalAndAStoreToSharedMemory) {
  const Accesses seen =
      accesses_of("mul.lo.u32 %r10, %r1, 16; mov.u32 %r11, s; add.u32 %r11, %r11, %r10;\n"
                  "mad.wide.u32 %rd10, %r1, 16, %rd1; cp.async.cg.shared.global [%r11], [%rd10], 16;\n"
                  "cp.async.wait_all; ret;",
                  kBuffer, {.words = 128});
  EXPECT_EQ(seen, (Accesses{{{kGlobal, kLoad}, {1, 512}}, {{kShared, kStore}, {1, 512}}}));
}

TEST(AsyncCopy, ReadsNothingWhereItIsIgnored) {
  const Accesses seen = accesses_of("mov.u32 %r11, s; setp.lt.u32 %p1, %r1, 32; mov.u64 %rd10, 0;\n"
                                    "cp.async.ca.shared.global [%r11], [%rd10], 4, %p1; ret;",
                                    kBuffer);
  EXPECT_EQ(seen, (Accesses{{{kShared, kStore}, {1, 128}}}));
}

struct LaneCopies final : exec::Watcher {
  struct Shard final : exec::Shard {
    std::vector<exec::LaneCopy> seen;
    void lane_copy(const exec::LaneCopy& copy) override { seen.push_back(copy); }
  };
  std::vector<exec::LaneCopy> seen;
  std::unique_ptr<exec::Shard> make_shard() override { return std::make_unique<Shard>(); }
  void finish(std::vector<std::unique_ptr<exec::Shard>> shards, const std::vector<exec::InstructionCount>&) override {
    for (const auto& shard : shards) {
      const auto& own = static_cast<Shard&>(*shard).seen;
      seen.insert(seen.end(), own.begin(), own.end());
    }
  }
};

std::vector<exec::LaneCopy> lane_copies_of(const std::string& copy) {
  LaneCopies watcher;
  How how{.words = 1024};
  how.watcher = &watcher;
  EXPECT_EQ(run_kernel(kernel_of("mov.u32 %r10, s; shl.b32 %r12, %r1, 5; add.u32 %r11, %r10, %r12;\n"
                                 "mad.wide.u32 %rd10, %r1, 16, %rd1; setp.lt.u32 %p1, %r1, 4; mov.u32 %r13, 0;\n"
                                 "@%p1 mov.u32 %r13, 8; @!%p1 mov.u32 %r13, 16; mov.u32 %r14, 0;\n"
                                 "again: " +
                                     copy + "\nadd.u32 %r14, %r14, 1; setp.lt.u32 %p2, %r14, 10;\n@%p2 bra again; ret;",
                                 kBuffer),
                       how)
                .trap,
            "");
  return watcher.seen;
}

// To places 32 bytes apart: each lane fetches the sector that it shares with another one. Equal copies are told once.
TEST(AsyncCopy, ThatBypassesTheFirstLevelCacheTellsItsSectors) {
  const auto seen = lane_copies_of("cp.async.cg.shared.global [%r11], [%rd10], 16;");
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].sectors, 16u);
  EXPECT_EQ(seen[0].fetched, 32u);
  EXPECT_EQ(seen[0].looked_up, 32u);
  EXPECT_EQ(seen[0].count, 10u);
  EXPECT_EQ(lane_copies_of("cp.async.ca.shared.global [%r11], [%rd10], 16;").size(), 0u);
}

TEST(AsyncCopy, TellsTheSectorsOfLanesThatReadAllBytes) {
  const auto partly = lane_copies_of("cp.async.cg.shared.global [%r11], [%rd10], 16, %r13;"); // not lanes 0 to 3
  ASSERT_EQ(partly.size(), 1u);
  EXPECT_EQ(partly[0].sectors, 14u);
  EXPECT_EQ(partly[0].fetched, 28u);
  const auto unless = lane_copies_of("cp.async.cg.shared.global [%r11], [%rd10], 16, %p1;");
  ASSERT_EQ(unless.size(), 1u);
  EXPECT_EQ(unless[0].fetched, 28u);
  // Another place each time: 16 bytes further.
  const auto moving = lane_copies_of("cp.async.cg.shared.global [%r10], [%rd10], 16; add.u32 %r10, %r10, 16;");
  ASSERT_EQ(moving.size(), 10u);
  EXPECT_EQ(moving[0].fetched, 32u); // all to one place: two halves of each sector, in different order
  EXPECT_EQ(moving[0].looked_up, 4u);
}

// One thread's 1056 bytes are told as accesses of warps, 16 bytes a lane: two whole ones and one of two lanes.
const char* const kBulk = "setp.ne.u32 %p1, %r1, 0; @%p1 exit; mbarrier.init.shared.b64 [b], 1;\n"
                          "mbarrier.arrive.expect_tx.shared.b64 _, [b], 1056;\n"
                          "mov.u32 %r10, 1056;\n";

TEST(BulkCopy, IsToldAsAccessesOfWholeWarps) {
  const std::string to_shared =
      std::string(kBulk) +
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd1], %r10, [b];\n";
  const Accesses in = accesses_of(to_shared + "ret;", kBuffer, {.words = 264});
  EXPECT_EQ(in, (Accesses{{{kGlobal, kLoad}, {3, 1056}}, {{kShared, kStore}, {3, 1056}}}));
  const Accesses out = accesses_of(std::string(kBulk) + "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 "
                                                        "[%rd1], [s], %r10; ret;",
                                   kBuffer, {.words = 264});
  EXPECT_EQ(out, (Accesses{{{kGlobal, kReduction}, {3, 1056}}, {{kShared, kLoad}, {3, 1056}}}));
}

// ---- clusters

const char* const kNeighbours = R"(
  mov.u32 %r10, %cluster_ctarank; mov.u32 %r11, %cluster_nctarank;
  mov.u32 %r20, 0;
again:
  st.shared.u32 [w], %r3;
  barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
  add.u32 %r12, %r10, 1; rem.u32 %r12, %r12, %r11;
  mapa.shared::cluster.u32 %r13, w, %r12;
  ld.shared::cluster.u32 %r14, [%r13];
  barrier.cluster.arrive; add.u32 %r20, %r20, 1; barrier.cluster.wait;
  setp.lt.u32 %p1, %r20, 50; @%p1 bra again;
  st.global.u32 [%rd2], %r14; ret;)";

TEST(Cluster, RunsTheSameWithAnyNumberOfWorkers) {
  const std::string ptx = kernel_of(kNeighbours, ".shared .b32 w;\n");
  for (const unsigned workers : {1u, 2u, 4u}) {
    How how{.blocks = 24, .threads = 64, .workers = workers};
    how.cluster = 8;
    const Ran ran = run_kernel(ptx, how);
    EXPECT_EQ(ran.trap, "");
    for (std::uint32_t i = 0; i < ran.words.size(); ++i) {
      const std::uint32_t block = i / 64;
      ASSERT_EQ(ran.words[i], block / 8 * 8 + (block + 1) % 8) << "block " << block << ", " << workers << " workers";
    }
  }
}

TEST(Cluster, ABlockIsAloneInItWithoutOne) {
  const Ran ran = run_kernel(kernel_of(kNeighbours, ".shared .b32 w;\n"), {.blocks = 3, .threads = 64});
  EXPECT_EQ(ran.trap, "");
  for (std::uint32_t i = 0; i < ran.words.size(); ++i) ASSERT_EQ(ran.words[i], i / 64);
}

TEST(Cluster, AtomicsOnTheMemoryOfAnotherBlockAddUp) {
  const std::string body = "mapa.shared::cluster.u32 %r10, w, 0; barrier.cluster.arrive; barrier.cluster.wait;\n"
                           "atom.shared::cluster.add.u32 %r11, [%r10], 1; cvta.shared.u64 %rd10, w;\n"
                           "mapa.u64 %rd10, %rd10, 0; atom.add.u32 %r11, [%rd10], 1;\n"
                           "barrier.cluster.arrive; barrier.cluster.wait; ld.shared.u32 %r12, [w];\n"
                           "st.global.u32 [%rd2], %r12; ret;";
  How how{.blocks = 4, .threads = 32};
  how.cluster = 4;
  const Ran ran = run_kernel(kernel_of(body, ".shared .b32 w;\n"), how);
  EXPECT_EQ(ran.trap, "");
  for (std::uint32_t i = 0; i < ran.words.size(); ++i) ASSERT_EQ(ran.words[i], i < 32 ? 256u : 0u);
}

/// The addresses of the acting lanes in each event of shared memory, by kind and number of lanes.
class Places final : public exec::Watcher {
public:
  using Lists = std::multimap<std::pair<exec::AccessKind, int>, std::vector<std::uint64_t>>;
  std::unique_ptr<exec::Shard> make_shard() override { return std::make_unique<Shard>(); }
  void finish(std::vector<std::unique_ptr<exec::Shard>> shards, const std::vector<exec::InstructionCount>&) override {
    for (const auto& shard : shards) lists.merge(static_cast<Shard&>(*shard).lists);
  }
  Lists lists;

private:
  struct Shard final : exec::Shard {
    Lists lists;
    void access(const exec::Access& a) override {
      if (a.space != kShared) return;
      std::vector<std::uint64_t> addresses;
      for (const int lane : exec::EachLane(a.mask)) addresses.push_back(a.addresses[lane]);
      lists.emplace(std::pair(a.kind, std::popcount(a.mask)), addresses);
    }
  };
};

// Events name its own memory by offsets, whatever its rank, also if the address came from mapa.
TEST(Cluster, EventsHaveOffsetsInTheOwnMemory) {
  Places places;
  How how{.blocks = 8, .threads = 32};
  how.cluster = 8;
  how.watcher = &places;
  const std::string body = "mov.u32 %r10, w; mov.u32 %r13, %cluster_ctarank; mapa.shared::cluster.u32 %r11, w, %r13;\n"
                           "setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [%r10+8], %r13;\n"
                           "barrier.cluster.arrive; barrier.cluster.wait; ld.shared::cluster.u32 %r12, [%r11+8];\n"
                           // Lane i reads from the block with rank i: a regular access, except for its own block.
                           "mapa.shared::cluster.u32 %r14, w, %r1; setp.lt.u32 %p2, %r1, 8;\n"
                           "@%p2 ld.shared::cluster.u32 %r12, [%r14+8]; st.global.u32 [%rd2], %r12;\n"
                           "barrier.cluster.arrive; barrier.cluster.wait; ret;";
  const Ran ran = run_kernel(kernel_of(body, ".shared .b32 w[8];\n"), how);
  EXPECT_EQ(ran.trap, "");
  for (std::uint32_t i = 0; i < ran.words.size(); ++i) ASSERT_EQ(ran.words[i], i % 32 < 8 ? i % 32 : i / 32);
  std::size_t spread = 0;
  for (const auto& [key, addresses] : places.lists)
    if (key.second == 8) {
      std::size_t own = 0;
      for (std::size_t lane = 0; lane < addresses.size(); ++lane)
        if (addresses[lane] == 8)
          ++own;
        else
          EXPECT_EQ(addresses[lane], (lane + 1) << 24 | 8);
      EXPECT_EQ(own, 1u);
      ++spread;
    } else {
      EXPECT_EQ(addresses, std::vector<std::uint64_t>(addresses.size(), 8));
    }
  EXPECT_EQ(spread, 8u);
}

TEST(Cluster, WaitsByPollingAcrossBlocksMakeProgress) {
  // Rank 0 hands a token to rank 1 and back, 200 times, each waiting at a barrier of its own.
  const std::string body = R"(
  setp.ne.u32 %p1, %r1, 0; @%p1 bra ready; mbarrier.init.shared.b64 [b], 1;
ready:
  mov.u32 %r10, %cluster_ctarank; xor.b32 %r11, %r10, 1; mapa.shared::cluster.u32 %r12, b, %r11;
  barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %r20, 0; setp.eq.u32 %p2, %r10, 0; @%p1 exit;
next:
  and.b32 %r13, %r20, 1;
  @%p2 mbarrier.arrive.shared::cluster.b64 _, [%r12];
wait:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [b], %r13; @!%p3 bra wait;
  @!%p2 mbarrier.arrive.shared::cluster.b64 _, [%r12];
  add.u32 %r20, %r20, 1; setp.lt.u32 %p4, %r20, 200; @%p4 bra next;
  st.global.u32 [%rd2], %r20; barrier.cluster.arrive; barrier.cluster.wait; ret;)";
  How how{.blocks = 2, .threads = 64};
  how.cluster = 2;
  how.max_steps = 100'000; // far less than the slices that one of them may run alone
  const Ran ran = run_kernel(kernel_of(body, ".shared .align 8 .b64 b;\n"), how);
  EXPECT_EQ(ran.trap, "");
  EXPECT_EQ(ran.words[0], 200u);
  EXPECT_EQ(ran.words[64], 200u);
}

} // namespace async_test
} // namespace warplens::tests
