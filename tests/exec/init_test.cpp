// SPDX-License-Identifier: Apache-2.0
// The parts of initcheck: the shadow of device memory, what copies carry, registers that may be unwritten, and launches
// of small kernels.
#include "emulator/exec/checks/init/block_shadow.hpp"
#include "tests/exec/init_kernels.hpp"

#include <sys/mman.h>

namespace warplens::tests {
namespace init_test {

using exec::InitCheck;
using exec::ToolFinding;
using exec::init::GlobalShadow;

constexpr std::uint64_t kAt = 0x5000'0000, kPage = GlobalShadow::kPageBytes;

TEST(InitBits, RangesCrossWords) {
  std::uint64_t words[3] = {~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}};
  EXPECT_EQ(exec::init::clear_bits(words, 60, 72), 72u);
  EXPECT_EQ(exec::init::clear_bits(words, 59, 2), 1u);
  EXPECT_FALSE(exec::init::any_bit(words, 60, 72));
  EXPECT_TRUE(exec::init::any_bit(words, 60, 73));
  EXPECT_TRUE(exec::init::any_bit(words, 58, 3));
  EXPECT_EQ(exec::init::set_bits(words, 0, 192), 73u);
}

TEST(GlobalShadow, OnlyFreshMemoryIsUnwritten) {
  GlobalShadow shadow;
  EXPECT_FALSE(shadow.unwritten(kAt, 100));
  shadow.fresh(kAt + 100, 3 * kPage);
  EXPECT_FALSE(shadow.unwritten(kAt, 100));
  EXPECT_TRUE(shadow.unwritten(kAt, 101));
  EXPECT_FALSE(shadow.unwritten(kAt + 100 + 3 * kPage, 8));
  shadow.write(kAt + 100, 3 * kPage - 1);
  EXPECT_FALSE(shadow.unwritten(kAt, 99 + 3 * kPage));
  const auto ranges = shadow.unwritten_ranges(kAt, 4 * kPage);
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].begin, kAt + 99 + 3 * kPage);
  EXPECT_EQ(ranges[0].bytes, 1u);
}

TEST(GlobalShadow, TakesABitForEachByteAtMost) {
  GlobalShadow shadow;
  constexpr std::uint64_t kSize = std::uint64_t{64} << 20;
  shadow.fresh(kAt, kSize);
  EXPECT_LT(shadow.size(), kSize / 100) << "memory that nobody has written";
  for (std::uint64_t page = 0; page < kSize / kPage; ++page) shadow.write(kAt + page * kPage + 8, 8);
  EXPECT_LT(shadow.size(), kSize / 7);
  EXPECT_TRUE(shadow.unwritten(kAt + 16, 8));
  shadow.write(kAt, kSize);
  EXPECT_LT(shadow.size(), kSize / 100) << "memory of which everything is written";
  EXPECT_FALSE(shadow.unwritten(kAt, kSize));
}

TEST(InitMemory, CopiesCarryWhatIsUnwrittenAndNameItsOrigin) {
  InitCheck init;
  init.fresh(kAt, 256, false);
  init.fresh(kAt + 0x1000, 256, false);
  init.fresh(kAt + 0x2000, 256, false);
  init.write(kAt, 64);
  init.copy(kAt + 0x1000, kAt, 128, "first");
  init.copy(kAt + 0x2000, kAt + 0x1000, 256, "second");
  EXPECT_TRUE(init.unwritten(kAt + 0x2000, 64).empty());
  ASSERT_EQ(init.unwritten(kAt + 0x2000, 256).size(), 1u);
  ASSERT_TRUE(init.origin_of(kAt + 0x1000 + 70).has_value());
  EXPECT_EQ(init.origin_of(kAt + 0x1000 + 70)->address, kAt + 70);
  EXPECT_EQ(init.origin_of(kAt + 0x2000 + 70)->address, kAt + 70) << "of the first copy";
  EXPECT_EQ(init.origin_of(kAt + 0x2000 + 70)->what, "second");
  EXPECT_FALSE(init.origin_of(kAt + 0x1000 + 200).has_value());
  // What a copy has reached is used, even if nobody has written it at its source.
  ASSERT_EQ(init.unused(kAt + 0x1000, 256).size(), 1u);
  EXPECT_EQ(init.unused(kAt + 0x1000, 256)[0].begin, kAt + 0x1000 + 128);
  init.fresh(kAt + 0x1000, 256, false);
  EXPECT_FALSE(init.origin_of(kAt + 0x1000 + 70).has_value()) << "given anew";
}

TEST(InitMemory, CopiesMayOverlap) {
  InitCheck init;
  init.fresh(kAt, 256, false);
  init.write(kAt, 16);
  init.copy(kAt + 8, kAt, 32, "copy"); // 8 to 23 written, 24 to 39 not
  const auto ranges = init.unwritten(kAt, 256);
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].begin, kAt + 24);
}

TEST(InitMemory, PagesThatTheProgramTouchesAreWritten) {
  auto* const p =
      static_cast<volatile char*>(mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const auto at = reinterpret_cast<std::uint64_t>(p);
  InitCheck init;
  init.fresh(at, 3 * kPage, true);
  init.fresh(kAt, kPage, false);
  EXPECT_EQ(init.unwritten(at, 3 * kPage)[0].bytes, 3 * kPage);
  p[kPage + 5] = 1;
  EXPECT_EQ(init.unwritten(at, 3 * kPage)[0].bytes, 3 * kPage) << "the operation itself may have touched it";
  init.begin();
  ASSERT_EQ(init.unwritten(at, 3 * kPage).size(), 2u);
  EXPECT_FALSE(init.still_unwritten(at + kPage, kPage));
  munmap(const_cast<char*>(p), 3 * kPage);
}

TEST(Init, SharedMemory) {
  const auto found = only(check(kShared + "ld.shared.u32 %r11, [%r10]; st.global.u32 [%rd2], %r11;"));
  EXPECT_EQ(found.first.kind, ToolFinding::Kind::uninitialized);
  EXPECT_EQ(found.first.at.bytes, 4u);
  EXPECT_EQ(found.threads.size(), 32u);
  EXPECT_TRUE(check(kShared + "st.shared.u32 [%r10], %r1; ld.shared.u32 %r11, [%r10]; st.global.u32 [%rd2], %r11;")
                  .findings.empty());
}

TEST(Init, EachBlockBeginsWithoutContents) {
  const std::string body = "setp.ne.u32 %p1, %r3, 0; @!%p1 st.shared.u32 [s], %r1; ld.shared.u32 %r11, [s];"
                           "st.global.u32 [%rd2], %r11;";
  EXPECT_EQ(only(check(body, {.blocks = 3, .threads = 1})).count, 2u);
}

TEST(Init, BytesOfAWord) {
  const auto found = only(check(kShared + "st.shared.u8 [%r10+1], %r1; ld.shared.u32 %r11, [%r10];"
                                          "st.global.u32 [%rd2], %r11;"));
  EXPECT_EQ(found.first.at.bytes, 3u);
  EXPECT_EQ(found.first.at.whole, 4u);
}

// What nothing reads is of no interest: the fourth element, and the old value of a word that is exchanged.
TEST(Init, ValuesThatNothingReads) {
  const std::string vector = "st.shared.v2.u32 [s], {%r1, %r1}; st.shared.u32 [s+8], %r1;"
                             "ld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [s]; add.u32 %r20, %r20, %r22;"
                             "add.u32 %r20, %r20, %r21; st.global.u32 [%rd2], %r20;";
  EXPECT_TRUE(check(vector).findings.empty());
  EXPECT_EQ(only(check(vector + "st.global.u32 [%rd2], %r23;")).first.at.bytes, 4u);
  EXPECT_TRUE(check("atom.shared.exch.b32 %r20, [s], %r1; ld.shared.u32 %r21, [s]; st.global.u32 [%rd2], %r21;")
                  .findings.empty());
  EXPECT_EQ(check("atom.shared.exch.b32 %r20, [s], %r1; st.global.u32 [%rd2], %r20;").findings.size(), 1u);
}

TEST(Init, DeviceMemory) {
  const std::string copy = "ld.global.u32 %r10, [%rd2+1024]; st.global.u32 [%rd2], %r10;";
  EXPECT_TRUE(check(copy).findings.empty()) << "it has contents";
  EXPECT_EQ(only(check(copy, {.fresh = true})).threads.size(), 32u);
  const std::string filled = "st.global.u32 [%rd2+1024], %r1;" + copy;
  EXPECT_TRUE(check(filled, {.fresh = true}).findings.empty());
  EXPECT_EQ(check("red.global.add.u32 [%rd1], 1;", {.fresh = true}).findings.size(), 1u);
}

// Lanes with any distance, backwards, and all at different ones.
TEST(Init, ShapesOfAddresses) {
  for (const char* place :
       {"mul.lo.u32 %r10, %r1, 20;", "sub.u32 %r10, 40, %r1; shl.b32 %r10, %r10, 2;",
        "mul.lo.u32 %r10, %r1, %r1; shl.b32 %r10, %r10, 2;", "shr.u32 %r10, %r1, 4; shl.b32 %r10, %r10, 6;"}) {
    const std::string at = std::string(place) + "cvt.u64.u32 %rd10, %r10; add.u64 %rd10, %rd10, %rd1;";
    const std::string read = at + "ld.global.u32 %r11, [%rd10]; st.global.u32 [%rd2+8192], %r11;";
    EXPECT_EQ(only(check(read, {.fresh = true})).threads.size(), 32u) << place;
    EXPECT_TRUE(check(at + "st.global.u32 [%rd10], %r1;" + read, {.fresh = true}).findings.empty()) << place;
    // All but one of the lanes.
    const std::string most = at + "setp.ne.u32 %p1, %r1, 31; @%p1 st.global.u32 [%rd10], %r1;" + read;
    const Checked some = check(most, {.fresh = true});
    if (some.findings.empty()) continue; // another lane has written this word
    EXPECT_EQ(only(some).threads, (std::set<exec::ToolFindingGroup::Thread>{{0, 31}})) << place;
  }
}

const std::string kCopy = "cp.async.ca.shared.global [%r10], [%rd2], 4; cp.async.wait_all;"
                          "ld.shared.u32 %r11, [%r10]; st.global.u32 [%rd2+8192], %r11;";

TEST(Init, AsynchronousCopiesCarryWhatIsUnwritten) {
  EXPECT_TRUE(check(kShared + kCopy).findings.empty());
  const auto found = only(check(kShared + kCopy, {.fresh = true}));
  EXPECT_EQ(found.first.at.space, isa::Space::shared);
  ASSERT_TRUE(found.first.other.has_value());
  EXPECT_LT(found.first.other->instruction, found.first.at.instruction);
  // The copy alone is no use.
  EXPECT_TRUE(check(kShared + "cp.async.ca.shared.global [%r10], [%rd2], 4; cp.async.wait_all;", {.fresh = true})
                  .findings.empty());
}

TEST(Init, AsynchronousCopiesThatReadLessFillWithZeros) {
  const std::string half = "setp.lt.u32 %p1, %r1, 16; selp.u32 %r13, 4, 0, %p1; @%p1 st.global.u32 [%rd2], %r1;"
                           "cp.async.ca.shared.global [%r10], [%rd2], 4, %r13; cp.async.wait_all;"
                           "ld.shared.u32 %r11, [%r10]; st.global.u32 [%rd2+8192], %r11;";
  EXPECT_TRUE(check(kShared + half, {.fresh = true}).findings.empty());
}

const std::string kBulkDeclarations = ".shared .align 16 .b8 s[1024];\n.shared .align 8 .b64 b;\n";

std::string bulk_copy_of(const std::string& before) {
  return "setp.ne.u32 %p1, %r1, 0; @%p1 bra done;\n" + before +
         "mbarrier.init.shared::cta.b64 [b], 1;\n"
         "mbarrier.arrive.expect_tx.shared::cta.b64 %rd10, [b], 128;\n"
         "mov.u32 %r10, 128;\n"
         "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd1], %r10, [b];\n"
         "ld.shared.u32 %r11, [s+64]; st.global.u32 [%rd2+8192], %r11;\ndone: ret;";
}

TEST(Init, BulkCopies) {
  const auto found = only(check(bulk_copy_of(""), {.fresh = true, .declarations = kBulkDeclarations}));
  EXPECT_EQ(found.first.at.bytes, 4u);
  ASSERT_TRUE(found.first.other.has_value());
  EXPECT_TRUE(check(bulk_copy_of("st.global.u32 [%rd1+64], %r1;"), {.fresh = true, .declarations = kBulkDeclarations})
                  .findings.empty());
}

TEST(Init, BlocksOfAClusterReadFromEachOther) {
  const std::string read = "barrier.cluster.arrive; barrier.cluster.wait;"
                           "mov.u32 %r10, %cluster_ctarank; xor.b32 %r10, %r10, 1;"
                           "mapa.shared::cluster.u32 %r11, s, %r10; ld.shared::cluster.u32 %r12, [%r11];"
                           "st.global.u32 [%rd2], %r12; barrier.cluster.arrive; barrier.cluster.wait;";
  const Way way{.blocks = 2, .threads = 1, .cluster = 2};
  EXPECT_EQ(only(check(read, way)).count, 2u);
  EXPECT_TRUE(check("st.shared.u32 [s], %r1;" + read, way).findings.empty());
  EXPECT_EQ(only(check("setp.eq.u32 %p1, %r3, 0; @%p1 st.shared.u32 [s], %r1;" + read, way)).threads,
            (std::set<exec::ToolFindingGroup::Thread>{{0, 0}}));
}

TEST(Init, ABlockOfAClusterReadsItsOwnMemory) {
  const std::string begin = "mov.u32 %r10, %cluster_ctarank; mapa.shared::cluster.u32 %r11, s, %r10; mov.u32 %r12, s;";
  for (const char* read :
       {"ld.shared.u32 %r13, [s+8];", "ld.shared.u32 %r13, [%r12+8];", "ld.shared.u32 %r13, [%r11+8];"}) {
    const auto found = only(
        check(begin + "setp.eq.u32 %p1, %r10, 0; @%p1 st.shared.u32 [s+8], %r1;" + read + "st.global.u32 [%rd2], %r13;",
              {.blocks = 2, .threads = 1, .cluster = 2}));
    EXPECT_EQ(found.first.at.address, 8u); // of the block with rank 1
    EXPECT_EQ(found.threads, (std::set<exec::ToolFindingGroup::Thread>{{1, 0}}));
  }
}

TEST(Init, Registers) {
  const auto found = only(check("add.u32 %r20, %r30, 1; st.global.u32 [%rd2], %r20;"));
  EXPECT_EQ(found.first.at.space, isa::Space::reg);
  EXPECT_EQ(found.threads.size(), 32u);
  EXPECT_EQ(only(check("@%p5 st.global.u32 [%rd2], %r1;")).first.at.bytes, 1u) << "a guard";
}

TEST(Init, RegistersOfSomeLanes) {
  const std::string begin = "setp.lt.u32 %p1, %r1, 10; @%p1 mov.u32 %r20, 5;",
                    end = "add.u32 %r20, %r20, 1; st.global.u32 [%rd2], %r20;";
  EXPECT_EQ(only(check(begin + end)).threads.size(), 22u);
  EXPECT_TRUE(check(begin + "@!%p1 mov.u32 %r20, 6;" + end).findings.empty());
}

// Compilers move values that they do not need, and compute with them before they know whether they need the result.
TEST(Init, OnlyNeededValuesCount) {
  EXPECT_TRUE(check("mov.u32 %r20, %r30; add.u32 %r21, %r20, 1; mov.u32 %r22, %r21;").findings.empty());
  const std::string sum = "mov.u32 %r20, %r30; mov.u32 %r21, %r20; add.u32 %r22, %r21, 1; mul.lo.u32 %r22, %r22, 3;";
  const auto found = only(check(sum + "st.global.u32 [%rd2], %r22;"));
  EXPECT_EQ(found.count, 32u);
  EXPECT_NE(found.first.detail.find("is stored"), std::string::npos) << found.first.detail;
  // It is reported where the program first computes with the value.
  const std::string loop = "again: setp.eq.u32 %p1, %r22, 0; @%p1 bra again;";
  EXPECT_EQ(only(check(sum + loop)).first.at.instruction, found.first.at.instruction);
  EXPECT_TRUE(check("mov.u32 %r20, %r30; mov.u32 %r20, 1; st.global.u32 [%rd2], %r20;").findings.empty());
  const std::string choice = "setp.lt.u32 %p1, %r1, 40; add.u32 %r31, %r30, 1; selp.u32 %r20, %r1, %r31, %p1;"
                             "add.u32 %r20, %r20, 1; st.global.u32 [%rd2], %r20;";
  EXPECT_TRUE(check(choice).findings.empty()) << "the other value is chosen";
  EXPECT_EQ(only(check("selp.u32 %r20, 1, 2, %p5; st.global.u32 [%rd2], %r20;")).first.at.bytes, 1u);
  EXPECT_EQ(only(check("and.b32 %r20, %r30, 31; mul.wide.u32 %rd10, %r20, 4; add.u64 %rd10, %rd10, %rd1;"
                       "ld.global.u32 %r21, [%rd10]; st.global.u32 [%rd2], %r21;"))
                .first.at.bytes,
            4u);
}

// Structures have padding, and libraries exchange the values of whole blocks in shared memory: what is stored is
// written, even if the register is not. What was computed and leaves the block counts.
TEST(Init, StoresOfUnwrittenRegisters) {
  const std::string exchange = "ld.shared.u32 %r11, [%r10]; st.global.u32 [%rd2], %r11;";
  EXPECT_TRUE(check(kShared + "st.shared.u32 [%r10], %r30;" + exchange).findings.empty());
  EXPECT_TRUE(check(kShared + "add.u32 %r31, %r30, 1; st.shared.u32 [%r10], %r31;" + exchange).findings.empty());
  EXPECT_TRUE(check("st.global.v2.u32 [%rd1], {%r1, %r30};", {.threads = 1}).findings.empty());
  EXPECT_EQ(only(check("add.u32 %r31, %r30, 1; st.global.v2.u32 [%rd1], {%r1, %r31};", {.threads = 1})).count, 1u);
}

const std::string kFunctions = R"(
.func (.param .b32 out) sum(.param .align 4 .b8 pair[8], .param .b32 which) {
  .reg .b32 %a<5>; .reg .b64 %w; .reg .pred %q; .local .align 4 .b8 mine[16];
  ld.param.u32 %a0, [pair]; ld.param.u32 %a1, [pair+4]; ld.param.u32 %a2, [which];
  setp.eq.u32 %q, %a2, 0; add.u32 %a3, %a0, %a1;
  @%q st.local.u32 [mine+8], %a3;
  ld.local.u32 %a3, [mine+8];
  st.param.b32 [out], %a3; ret;
}
)";

std::string call_of(const std::string& which) {
  return "{ .param .align 4 .b8 p[8]; .param .b32 w; .param .b32 o; st.param.u32 [p], %r1; st.param.u32 [p+4], %r1;"
         "st.param.u32 [w], " +
         which +
         "; call (o), sum, (p, w); ld.param.b32 %r20, [o]; }\n"
         "st.global.u32 [%rd2], %r20;";
}

// Each call has local memory of its own, whatever an earlier one has left there; parameters are written.
TEST(Init, FramesOfFunctions) {
  const Way way{.declarations = kFunctions};
  EXPECT_TRUE(check(call_of("0"), way).findings.empty());
  const auto found = only(check(call_of("0") + call_of("%r1"), way));
  EXPECT_EQ(found.first.at.space, isa::Space::local);
  EXPECT_EQ(found.threads.size(), 31u);
}

TEST(Init, MemoryOfTheStack) {
  const std::string grow = "alloca.u64 %rd10, 16; ",
                    read = "ld.local.u32 %r20, [%rd10]; st.global.u32 [%rd2], %r20; ret;";
  EXPECT_EQ(only(check(grow + read)).first.at.space, isa::Space::local);
  EXPECT_TRUE(check(grow + "st.local.u32 [%rd10], %r1;" + read).findings.empty());
}

// The order of the blocks decides what is written when: it is the same for any number of threads.
TEST(Init, FindingsDoNotDependOnTheNumberOfThreads) {
  const std::string body = "setp.gt.u32 %p1, %r2, 31; @%p1 ld.global.u32 %r10, [%rd2+-128]; @%p1 st.global.u32 "
                           "[%rd2+8192], %r10; setp.lt.u32 %p2, %r3, 7; @%p2 st.global.u32 [%rd2], %r1;";
  Way way{.blocks = 40, .threads = 32, .fresh = true};
  const auto first = only(check(body, way));
  EXPECT_EQ(first.count, 32u * 32u);
  for (const unsigned workers : {2u, 3u, 8u}) {
    way.workers = workers;
    const auto found = only(check(body, way));
    EXPECT_EQ(found.count, first.count) << workers;
    EXPECT_EQ(found.threads, first.threads) << workers;
    EXPECT_EQ(found.first.at.address, first.first.at.address) << workers;
  }
}

} // namespace init_test
} // namespace warplens::tests
