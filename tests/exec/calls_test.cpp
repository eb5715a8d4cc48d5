// SPDX-License-Identifier: Apache-2.0
// Calls: results and counts, which must not depend on the number of workers or on watchers.
#include "emulator/exec/calls/device_printf.hpp"
#include "emulator/exec/memory/heap.hpp"
#include "tests/exec/kernel_test.hpp"

#include <random>

namespace warplens::tests {
namespace calls_test {

// Hofstadter's G: G(0) = 0, G(n) = n - G(G(n - 1)); each lane has a different n, so all depths occur at once.
constexpr const char* kHofstadter = R"(
.func (.param .b32 r) g(.param .b32 n)
{
  .reg .b32 %r<6>; .reg .pred %p;
  ld.param.u32 %r1, [n];
  mov.u32 %r4, 0;
  setp.eq.u32 %p, %r1, 0;
  @%p bra DONE;
  sub.u32 %r2, %r1, 1;
  call (%r3), g, (%r2);
  call (%r3), g, (%r3);
  sub.u32 %r4, %r1, %r3;
DONE:
  st.param.b32 [r], %r4;
  ret;
}
)";
constexpr const char* kCallG = "rem.u32 %r10, %r2, 37; call (%r11), g, (%r10); st.global.u32 [%rd2], %r11; ret;";

std::uint32_t hofstadter(std::uint32_t n) { return n == 0 ? 0 : n - hofstadter(hofstadter(n - 1)); }

TEST(Calls, EveryLaneRecursesOnItsOwn) {
  const Ran ran = run_kernel(kernel_of(kCallG, kHofstadter), {8, 96, 0, nullptr, 3});
  ASSERT_EQ(ran.trap, "");
  for (std::uint32_t i = 0; i < ran.words.size(); ++i) EXPECT_EQ(ran.words[i], hofstadter(i % 37)) << i;
}

// A random function tree without recursion: calls under guards and in loops, early returns, all in registers.
TEST(Calls, RandomTreesGiveWhatTheyShould) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    constexpr std::uint32_t kFunctions = 6;
    std::vector<std::uint32_t> modulus, add;
    std::string text;
    for (std::uint32_t f = 0; f < kFunctions; ++f) {
      modulus.push_back(2 + static_cast<std::uint32_t>(random() % 5));
      add.push_back(static_cast<std::uint32_t>(random() % 1000));
      const std::string callee = f == 0 ? "" : "call (%v), f" + std::to_string(f - 1) + ", (%v);";
      text += ".func (.reg .u32 r) f" + std::to_string(f) + "(.reg .u32 a) { .reg .u32 %v, %m, %i; .reg .pred %p, %q;" +
              "rem.u32 %m, a, " + std::to_string(modulus[f]) + "; add.u32 r, a, " + std::to_string(add[f]) +
              "; setp.eq.u32 %p, %m, 0; @%p ret; mov.u32 %v, r; mov.u32 %i, 0;" + "LOOP: setp.ne.u32 %q, %m, 1; @%q " +
              (callee.empty() ? "add.u32 %v, %v, 13;" : callee) +
              " add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %m; @%p bra LOOP; add.u32 r, %v, %m; ret; }\n";
    }
    const auto expected = [&](const auto& self, std::uint32_t f, std::uint32_t a) -> std::uint32_t {
      const std::uint32_t m = a % modulus[f];
      if (m == 0) return a + add[f];
      std::uint32_t v = a + add[f], i = 0;
      do {
        if (m != 1) v = f == 0 ? v + 13 : self(self, f - 1, v);
      } while (++i < m);
      return v + m;
    };
    const Ran ran = run_kernel(kernel_of("call (%r10), f5, (%r2); st.global.u32 [%rd2], %r10; ret;", text), {2, 64});
    ASSERT_EQ(ran.trap, "") << text;
    for (std::uint32_t i = 0; i < 128; ++i) ASSERT_EQ(ran.words[i], expected(expected, 5, i)) << i << "\n" << text;
  }
}

// What a watcher is told of a kernel with functions.
class Counts final : public exec::Watcher {
public:
  std::unique_ptr<exec::Shard> make_shard() override { return std::make_unique<Shard>(*this); }
  void finish(std::vector<std::unique_ptr<exec::Shard>>, const std::vector<exec::InstructionCount>& c) override {
    counts = c;
  }
  std::vector<exec::InstructionCount> counts;
  std::uint64_t local = 0, param = 0, global = 0;

private:
  struct Shard final : exec::Shard {
    explicit Shard(Counts& c) : counts(c) {}
    void access(const exec::Access& a) override {
      (a.space == isa::Space::local    ? counts.local
       : a.space == isa::Space::global ? counts.global
                                       : counts.param) += a.count;
    }
    Counts& counts;
  };
};

TEST(Calls, CountsAreThoseOfThePartsThatRan) {
  Counts counts;
  How how{1, 32};
  how.watcher = &counts;
  const Ran ran = run_kernel(kernel_of(R"(
    setp.lt.u32 %p1, %r1, 8;
    @%p1 call f, (%r1);
    st.global.u32 [%rd2], 1;
    ret;)",
                                       R"(
.func f(.param .b32 n)
{
  .reg .b32 %r<3>; .reg .pred %p;
  .local .b32 kept;
  ld.param.u32 %r1, [n];
  st.local.u32 [kept], %r1;
  setp.lt.u32 %p, %r1, 2;
  @%p exit;
  setp.lt.u32 %p, %r1, 4;
  @%p ret;
  ld.local.u32 %r2, [kept];
  ret;
})"),
                             how);
  ASSERT_EQ(ran.trap, "");
  // The kernel has 7 instructions before these four; then the function's eight come.
  ASSERT_EQ(counts.counts.size(), 11u + 8u);
  const auto expect = [&](std::size_t i, std::uint64_t warps, std::uint64_t lanes, std::uint64_t on) {
    EXPECT_EQ(counts.counts[i].warps, warps) << i;
    EXPECT_EQ(counts.counts[i].lanes, lanes) << i;
    EXPECT_EQ(counts.counts[i].lanes_on, on) << i;
  };
  expect(8, 1, 32, 8);  // the call
  expect(9, 1, 30, 30); // two lanes have exited in it
  expect(11, 1, 8, 8);  // ld.param
  expect(14, 1, 8, 2);  // exit
  expect(15, 1, 6, 6);
  expect(16, 1, 6, 2); // ret
  expect(17, 1, 4, 4);
  expect(18, 1, 4, 4);
  EXPECT_EQ(counts.local, 2u); // one store, one load
  EXPECT_EQ(counts.param, 0u); // nobody is told how arguments are handed over
  EXPECT_EQ(counts.global, 1u);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.words[i], i < 2 ? 0u : 1u);
}

TEST(Calls, WatchedRunsGiveTheSame) {
  Counts counts;
  How how{4, 64};
  const Ran plain = run_kernel(kernel_of(kCallG, kHofstadter), how);
  how.watcher = &counts;
  EXPECT_EQ(run_kernel(kernel_of(kCallG, kHofstadter), how).words, plain.words);
}

TEST(Calls, DivergentTargetsComeBackTogether) {
  std::string text;
  for (int f = 0; f < 5; ++f)
    text += ".func (.param .b32 r) f" + std::to_string(f) +
            "(.param .b32 a) { .reg .b32 %r<3>; ld.param.u32 %r1, [a]; mad.lo.u32 %r2, %r1, 10, " + std::to_string(f) +
            "; st.param.b32 [r], %r2; ret; }\n";
  std::string choice = "mov.u64 %rd12, f0;";
  for (int f = 1; f < 5; ++f)
    choice += " setp.eq.u32 %p3, %r10, " + std::to_string(f) + "; @%p3 mov.u64 %rd12, f" + std::to_string(f) + ";";
  const Ran ran = run_kernel(kernel_of(std::string(R"(
    mov.u32 %r12, 0;
    mov.u32 %r13, 0;
    shape: .callprototype (.param .b32 _) _ (.param .b32 _);
    LOOP:
    add.u32 %r10, %r1, %r12;
    rem.u32 %r10, %r10, 5;
)") + choice + R"(
    setp.ne.u32 %p2, %r10, 3;
    mov.u32 %r14, 7;
    @%p2 call (%r14), %rd12, (%r1), shape;
    vote.sync.ballot.b32 %r15, 1, -1;
    popc.b32 %r15, %r15;
    mad.lo.u32 %r13, %r15, 1000000, %r13;
    add.u32 %r13, %r13, %r14;
    add.u32 %r12, %r12, 1;
    setp.lt.u32 %p1, %r12, 3;
    @%p1 bra LOOP;
    st.global.u32 [%rd2], %r13;
    ret;)",
                                       text));
  ASSERT_EQ(ran.trap, "");
  for (std::uint32_t i = 0; i < 32; ++i) {
    std::uint32_t expected = 3 * 32 * 1000000;
    for (std::uint32_t j = 0; j < 3; ++j) expected += (i + j) % 5 == 3 ? 7 : 10 * i + (i + j) % 5;
    EXPECT_EQ(ran.words[i], expected) << i;
  }
}

TEST(Calls, TheStackOfOneCtaIsNotSeenByTheNext) {
  // Each thread goes as deep as its number; the bounds of local memory are those of the stack that this made.
  const Ran ran = run_kernel(kernel_of("call (%r10), g, (%r2); st.global.u32 [%rd2], %r10; ret;", R"(
.func (.param .b32 r) g(.param .b32 n)
{
  .local .align 8 .b8 room[400];
  .reg .b32 %r<6>; .reg .pred %p;
  ld.param.u32 %r1, [n];
  st.local.u32 [room+396], %r1;
  mov.u32 %r3, 0;
  setp.eq.u32 %p, %r1, 0;
  @%p bra DONE;
  sub.u32 %r2, %r1, 1;
  call (%r3), g, (%r2);
  ld.local.u32 %r4, [room+396];
  add.u32 %r3, %r3, %r4;
DONE:
  st.param.b32 [r], %r3;
  ret;
})"),
                             {6, 64});
  ASSERT_EQ(ran.trap, "");
  for (std::uint32_t i = 0; i < ran.words.size(); ++i) EXPECT_EQ(ran.words[i], i * (i + 1) / 2) << i;
}

TEST(Heap, GivesTheLowestBlockThatFitsAndJoinsFreeOnes) {
  exec::Heap heap(1024, 160);
  const std::uint64_t a = heap.allocate(1), b = heap.allocate(17), c = heap.allocate(0);
  EXPECT_EQ(a, 1024u);
  EXPECT_EQ(b, 1040u);
  EXPECT_EQ(c, 1072u);
  EXPECT_EQ(heap.allocate(100), 0u);
  EXPECT_TRUE(heap.free(b));
  EXPECT_FALSE(heap.free(b));
  EXPECT_FALSE(heap.free(b + 8));
  EXPECT_EQ(heap.allocate(16), b);
  EXPECT_TRUE(heap.free(a));
  EXPECT_TRUE(heap.free(b));
  EXPECT_TRUE(heap.free(c));
  EXPECT_EQ(heap.allocate(160), 1024u);
  EXPECT_EQ(heap.allocate(~std::uint64_t{0}), 0u);
}

// For memcheck: gaps, and freed memory is used again only when there is no other, the oldest first.
TEST(Heap, ChecksItsBlocks) {
  exec::Heap heap(1024, 400);
  heap.check();
  const std::uint64_t a = heap.allocate(40), b = heap.allocate(40);
  EXPECT_GE(b, a + 40 + 16);
  EXPECT_TRUE(heap.holds(a, a + 40));
  EXPECT_FALSE(heap.holds(a, a + 41));
  EXPECT_TRUE(heap.free(a));
  EXPECT_TRUE(heap.free(b));
  EXPECT_FALSE(heap.free(a));
  EXPECT_FALSE(heap.holds(a, a + 1));
  ASSERT_TRUE(heap.freed(a + 39));
  EXPECT_EQ(heap.freed(a + 39)->begin, a);
  EXPECT_FALSE(heap.freed(a + 40));
  EXPECT_GT(heap.allocate(40), b);
  EXPECT_EQ(heap.allocate(40), a) << "the oldest";
  EXPECT_EQ(heap.allocate(40), b);
  EXPECT_EQ(heap.blocks().size(), 3u);
}

std::string printed(const std::string& format, const std::vector<std::uint64_t>& words, int* arguments = nullptr) {
  const exec::PrintfMemory memory{
      [&](std::uint64_t offset, int bytes) -> std::optional<std::uint64_t> {
        if (offset / 8 >= words.size()) return std::nullopt;
        std::uint64_t value = words[offset / 8] >> 8 * (offset % 8);
        return bytes == 4 ? value & 0xffffffffu : value;
      },
      [](std::uint64_t address) { return std::optional<std::string>("text" + std::to_string(address)); }};
  const auto result = exec::printed_text(format, memory);
  if (result && arguments != nullptr) *arguments = result->arguments;
  return result ? result->text : "unreadable";
}

TEST(DevicePrintf, TakesArgumentsAtTheirAlignment) {
  int arguments = 0;
  EXPECT_EQ(printed("%d %lld %d %d", {0xdeadbeef00000001, 5, 0x0000000300000002}, &arguments), "1 5 2 3");
  EXPECT_EQ(arguments, 4);
  EXPECT_EQ(printed("%s", {7}), "text7");
  EXPECT_EQ(printed("%d", {}), "unreadable");
  EXPECT_EQ(printed("%5.1f|", {0x3ff8000000000000}), "  1.5|");
  EXPECT_EQ(printed("%-*d|", {0x0000000700000004}), "7   |");
  EXPECT_EQ(printed("%*d|", {0x00000007fffffffc}), "7   |"); // a negative width is a flag and a width
}

TEST(DevicePrintf, PrintsWhatItDoesNotKnowAsItIs) {
  int arguments = -1;
  EXPECT_EQ(printed("%n 50% %", {}, &arguments), "%n 50% %");
  EXPECT_EQ(arguments, 0);
  std::string format, expected;
  std::vector<std::uint64_t> words;
  for (int i = 0; i < 34; ++i) format += "%lld ", words.push_back(static_cast<std::uint64_t>(i));
  for (int i = 0; i < 32; ++i) expected += std::to_string(i) + " ";
  EXPECT_EQ(printed(format, words, &arguments), expected + "%lld %lld ");
  EXPECT_EQ(arguments, 32);
}

} // namespace calls_test
} // namespace warplens::tests
