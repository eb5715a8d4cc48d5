// SPDX-License-Identifier: Apache-2.0
// Accesses: every shape, space and width; bounds and alignment; watcher events.
#include "tests/exec/kernel_test.hpp"

#include <algorithm>
#include <bit>
#include <random>

namespace warplens::tests {
namespace memory_test {

TEST(Bounds, OutOfBoundsNamesTheAllocationAndTheDistance) {
  const Ran ran = run_kernel(kernel_of("st.global.u32 [%rd2+8], %r1;\nret;"));
  EXPECT_NE(ran.trap.find("invalid __global__ write of size 4 bytes"), std::string::npos) << ran.trap;
  EXPECT_NE(ran.trap.find("0 bytes after allocation 'buffer 0' (128 bytes at 0x"), std::string::npos) << ran.trap;
  EXPECT_NE(ran.trap.find("thread (30,0,0) in block (0,0,0)"), std::string::npos) << ran.trap;
}

TEST(Bounds, OneLaneOutOfBoundsIsFound) {
  const Ran ran = run_kernel(kernel_of(R"(
    setp.eq.u32 %p1, %r1, 13;
    selp.u64 %rd3, 4096, 0, %p1;
    add.u64 %rd2, %rd2, %rd3;
    ld.global.u32 %r10, [%rd2];
    ret;)"));
  EXPECT_NE(ran.trap.find("invalid __global__ read of size 4 bytes"), std::string::npos) << ran.trap;
  EXPECT_NE(ran.trap.find("thread (13,0,0)"), std::string::npos) << ran.trap;
}

TEST(Bounds, SharedAndLocalMemory) {
  const Ran shared =
      run_kernel(kernel_of("mov.u32 %r10, s;\nld.shared.u32 %r11, [%r10+64];\nret;", ".shared .b8 s[64];\n"));
  EXPECT_NE(shared.trap.find("outside the 64 bytes of shared memory"), std::string::npos) << shared.trap;
  const Ran local = run_kernel(kernel_of(".local .b32 a[4];\nmov.u64 %rd10, a;\nst.local.u32 [%rd10+16], %r1;\nret;"));
  EXPECT_NE(local.trap.find("outside the 16 bytes of local memory"), std::string::npos) << local.trap;
}

TEST(Alignment, MisalignedAccessIsReported) {
  const Ran ran = run_kernel(kernel_of("ld.global.v2.u32 {%r10, %r11}, [%rd2];\nret;"));
  EXPECT_NE(ran.trap.find("misaligned __global__ read of size 8 bytes"), std::string::npos) << ran.trap;
  EXPECT_NE(ran.trap.find("thread (1,0,0)"), std::string::npos) << ran.trap;
}

TEST(Local, EachThreadHasItsOwn) {
  const Ran ran = run_kernel(kernel_of(R"(
    .local .align 8 .b8 a[64];
    mov.u64 %rd10, a;
    and.b32 %r10, %r1, 7; mul.wide.u32 %rd11, %r10, 4; add.u64 %rd12, %rd10, %rd11;
    st.local.u32 [%rd12], %r2;
    bar.sync 0;
    cvta.local.u64 %rd13, %rd12;
    ld.u32 %r11, [%rd13];
    st.global.u32 [%rd2], %r11;
    ret;)"),
                             {2, 96});
  ASSERT_EQ(ran.trap, "");
  for (std::uint32_t i = 0; i < 192; ++i) EXPECT_EQ(ran.words[i], i);
}

TEST(Generic, LanesMayGoToDifferentSpaces) {
  const Ran ran = run_kernel(kernel_of(R"(
    mov.u64 %rd10, s; cvta.shared.u64 %rd10, %rd10;
    mul.wide.u32 %rd11, %r1, 4; add.u64 %rd10, %rd10, %rd11;
    and.b32 %r10, %r1, 1; setp.eq.u32 %p1, %r10, 1;
    selp.u64 %rd12, %rd10, %rd2, %p1;
    add.u32 %r11, %r1, 1;
    st.u32 [%rd12], %r11;
    mov.u32 %r12, s; shl.b32 %r13, %r1, 2; add.u32 %r12, %r12, %r13;
    ld.shared.u32 %r14, [%r12];
    shl.b32 %r14, %r14, 8;
    @%p1 st.global.u32 [%rd2], %r14;
    ret;)",
                                       ".shared .align 4 .b8 s[128];\n"));
  ASSERT_EQ(ran.trap, "");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.words[i], i % 2 == 1 ? (i + 1) << 8 : i + 1);
}

TEST(Generic, SpaceOfAnAddressIsKnown) {
  const Ran ran = run_kernel(kernel_of(R"(
    .shared .b32 s[4];
    .local .b32 l[4];
    mov.u64 %rd10, s; cvta.shared.u64 %rd10, %rd10;
    mov.u64 %rd11, l; cvta.local.u64 %rd11, %rd11; add.u64 %rd11, %rd11, 8;
    mov.u64 %rd12, out; cvta.param.u64 %rd12, %rd12;
    setp.eq.u32 %p1, %r1, 1; @%p1 mov.u64 %rd2, %rd10;
    setp.eq.u32 %p1, %r1, 2; @%p1 mov.u64 %rd2, %rd11;
    setp.eq.u32 %p1, %r1, 3; @%p1 mov.u64 %rd2, %rd12;
    isspacep.global %p2, %rd2; selp.u32 %r10, 1, 0, %p2;
    isspacep.shared %p2, %rd2; @%p2 or.b32 %r10, %r10, 2;
    isspacep.local %p2, %rd2; @%p2 or.b32 %r10, %r10, 4;
    isspacep.param %p2, %rd2; @%p2 or.b32 %r10, %r10, 8;
    isspacep.const %p2, %rd2; @%p2 or.b32 %r10, %r10, 16;
    mul.wide.u32 %rd14, %r1, 4; add.u64 %rd14, %rd14, %rd1;
    st.global.u32 [%rd14], %r10;
    ret;)",
                                       ".const .b32 numbers[4];\n"),
                             {.threads = 5});
  ASSERT_EQ(ran.trap, "");
  EXPECT_EQ(ran.words, (std::vector<std::uint32_t>{1, 2, 4, 8, 1}));
}

TEST(Widths, NarrowLoadsExtendAndNarrowStoresCut) {
  const Ran ran = run_kernel(kernel_of(R"(
    mov.u32 %r10, 0xfedc8081;
    st.global.u32 [%rd2], %r10;
    ld.global.s8 %r11, [%rd2];
    ld.global.u8 %r12, [%rd2+1];
    ld.global.s16 %r13, [%rd2+2];
    add.u32 %r14, %r11, %r12; add.u32 %r14, %r14, %r13;
    st.global.u32 [%rd2], %r14;
    st.global.u8 [%rd2+3], 0x77;
    ret;)"));
  ASSERT_EQ(ran.trap, "");
  const std::uint32_t sum = 0xffffff81u + 0x80u + 0xfffffedcu;
  for (const std::uint32_t w : ran.words) EXPECT_EQ(w, (sum & 0x00ffffff) | 0x77000000);
}

TEST(Atomics, EveryLaneGetsItsTurn) {
  const Ran ran = run_kernel(kernel_of(R"(
    atom.global.add.u32 %r10, [%rd1], 1;
    atom.global.max.u32 %r11, [%rd1+4], %r2;
    red.global.or.b32 [%rd1+8], %r2;
    atom.global.inc.u32 %r12, [%rd1+12], 6;
    atom.global.cas.b32 %r13, [%rd1+16], 0, 5;
    ret;)"),
                             {10, 100, 5, nullptr, 2});
  ASSERT_EQ(ran.trap, "");
  EXPECT_EQ(ran.words[0], 1000u);
  EXPECT_EQ(ran.words[1], 999u);
  EXPECT_EQ(ran.words[2], 1023u);
  EXPECT_EQ(ran.words[3], 1000u % 7);
  EXPECT_EQ(ran.words[4], 5u);
}

// With several workers memory is locked. Whole numbers this small have an exact sum in any order.
TEST(Atomics, WorkersDoNotLoseEachOthersSums) {
  const Ran ran = run_kernel(kernel_of(R"(
    cvt.rn.f32.u32 %f1, %r1;
    red.global.add.f32 [%rd1], %f1;
    mov.b32 %r10, 0x00013C00;
    red.global.add.noftz.f16x2 [%rd1+4], %r10;
    ret;)"),
                             {.blocks = 20, .threads = 64, .words = 2, .workers = 2});
  ASSERT_EQ(ran.trap, "");
  EXPECT_EQ(std::bit_cast<float>(ran.words[0]), 20.0f * 63 * 32);
  EXPECT_EQ(ran.words[1], 0x0500'6500u); // 1280 times 2^-24 and 1.0
}

TEST(Atomics, GlobalMemoryFlushesSubnormalsAndSharedDoesNot) {
  const Ran ran = run_kernel(kernel_of(R"(
    .shared .b32 s[32];
    mul.wide.u32 %rd10, %r1, 4; mov.u64 %rd11, s; add.u64 %rd11, %rd11, %rd10;
    st.shared.u32 [%rd11], 5;
    mov.b32 %f1, 7;
    cvta.shared.u64 %rd12, %rd11;
    setp.lt.u32 %p1, %r1, 16;
    @%p1 mov.u64 %rd12, %rd2;
    st.u32 [%rd12], 5;
    atom.add.f32 %f2, [%rd12], %f1;
    ld.u32 %r10, [%rd12];
    st.global.u32 [%rd2], %r10;
    ret;)"));
  ASSERT_EQ(ran.trap, "");
  EXPECT_EQ(ran.words[15], 0u);
  EXPECT_EQ(ran.words[16], 12u);
}

// Counts what it is told, by lanes and bytes, so that nothing that was held back gets lost.
struct Recorder final : exec::Watcher {
  struct Totals : exec::Shard {
    std::uint64_t accesses = 0, lanes = 0, address_sum = 0, branches = 0, divergent = 0;
    void access(const exec::Access& a) override {
      accesses += a.count;
      lanes += a.count * static_cast<unsigned>(__builtin_popcount(a.mask));
      for (int i = 0; i < exec::kWarpSize; ++i)
        if ((a.mask >> i & 1) != 0) address_sum += a.count * (a.addresses[i] % exec::kAlignmentPeriod);
    }
    void branch(const exec::Branch& b) override {
      branches += b.count;
      divergent += b.taken != 0 && b.taken != b.active ? b.count : 0;
    }
  };
  std::unique_ptr<exec::Shard> make_shard() override { return std::make_unique<Totals>(); }
  void finish(std::vector<std::unique_ptr<exec::Shard>> shards, const std::vector<exec::InstructionCount>& c) override {
    for (const auto& s : shards) {
      const auto& t = static_cast<const Totals&>(*s);
      total.accesses += t.accesses;
      total.lanes += t.lanes;
      total.address_sum += t.address_sum;
      total.branches += t.branches;
      total.divergent += t.divergent;
    }
    counts = c;
  }
  Totals total;
  std::vector<exec::InstructionCount> counts;
};

const char* const kShapes = R"(
    mad.lo.u32 %r20, %r2, 747796405, 277;
    mov.u32 %r21, 0;
    AGAIN:
    mad.lo.u32 %r20, %r20, 1664525, 1013904223;
    shr.u32 %r22, %r20, 20; and.b32 %r22, %r22, 1023;
    setp.gt.u32 %p1, %r22, 700;
    @%p1 bra SKIP;
    mul.wide.u32 %rd10, %r22, 4; add.u64 %rd11, %rd1, %rd10;
    atom.global.add.u32 %r23, [%rd11], %r22;
    SKIP:
    shl.b32 %r24, %r21, 3; add.u32 %r24, %r24, %r1; and.b32 %r24, %r24, 255;
    mul.wide.u32 %rd12, %r24, 4; add.u64 %rd12, %rd1, %rd12;
    ld.global.u32 %r25, [%rd12+4096];
    add.u32 %r21, %r21, 1;
    setp.lt.u32 %p2, %r21, 20;
    @%p2 bra AGAIN;
    ret;)";

TEST(Watching, CountsDoNotDependOnWorkersOrLevels) {
  Emulated machine(kernel_of(kShapes), "shapes.ptx");
  Recorder first;
  std::vector<std::uint32_t> memory;
  for (const exec::Level& level : exec::levels())
    for (const unsigned workers : {1u, 2u, 5u}) {
      Recorder recorder;
      const Ran ran = run_on(machine, {40, 72, 2048, &level, workers, &recorder});
      ASSERT_EQ(ran.trap, "");
      if (memory.empty()) {
        memory = ran.words;
        first = recorder;
        EXPECT_EQ(run_on(machine, {40, 72, 2048}).words, memory); // unwatched
        EXPECT_GT(recorder.total.divergent, 0u);
      }
      EXPECT_EQ(ran.words, memory);
      EXPECT_EQ(recorder.total.accesses, first.total.accesses);
      EXPECT_EQ(recorder.total.lanes, first.total.lanes);
      EXPECT_EQ(recorder.total.address_sum, first.total.address_sum);
      EXPECT_EQ(recorder.total.branches, first.total.branches);
      EXPECT_EQ(recorder.total.divergent, first.total.divergent);
      for (std::size_t i = 0; i < first.counts.size(); ++i) {
        EXPECT_EQ(recorder.counts[i].warps, first.counts[i].warps) << i;
        EXPECT_EQ(recorder.counts[i].lanes, first.counts[i].lanes) << i;
      }
    }
  // The load runs 20 times in 40 blocks of 3 warps, with 72 lanes a block.
  std::uint64_t loads = 0, lanes = 0;
  for (std::size_t i = 0; i < first.counts.size(); ++i)
    if (machine.module().functions[0].instructions[i].opcode == "ld.global.u32") {
      loads = first.counts[i].warps;
      lanes = first.counts[i].lanes;
    }
  EXPECT_EQ(loads, 20u * 40 * 3);
  EXPECT_EQ(lanes, 20u * 40 * 72);
}

} // namespace memory_test
} // namespace warplens::tests
