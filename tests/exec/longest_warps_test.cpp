// SPDX-License-Identifier: Apache-2.0
// The warps that execute the most, and what they executed.
#include "emulator/exec/block/longest_warps.hpp"

#include "tests/exec/kernel_test.hpp"

namespace warplens::tests {
namespace longest_warps_test {

using exec::LongestWarps;

class Listener final : public exec::Watcher {
public:
  std::unique_ptr<exec::Shard> make_shard() override { return std::make_unique<exec::Shard>(); }
  void longest_warps(const LongestWarps& of) override {
    EXPECT_FALSE(finished);
    longest = of;
  }
  void finish(std::vector<std::unique_ptr<exec::Shard>>, const std::vector<exec::InstructionCount>& of) override {
    finished = true;
    counts = of;
  }
  LongestWarps longest;
  std::vector<exec::InstructionCount> counts;
  bool finished = false;
};

Listener watched(const std::string& body, std::uint32_t blocks, std::uint32_t threads, unsigned workers) {
  Listener listener;
  How how{.blocks = blocks, .threads = threads, .workers = workers, .watcher = &listener};
  EXPECT_EQ(run_kernel(kernel_of(body), how).trap, "");
  EXPECT_TRUE(listener.finished);
  return listener;
}

// Warp w of block b repeats a loop of three instructions `turns` + 1 times; the 7 before it are those of kernel_of().
std::string turns(const std::string& count) {
  return count + " mov.u32 %r11, 0;\nLOOP: add.u32 %r11, %r11, 1; setp.le.u32 %p1, %r11, %r10; @%p1 bra LOOP; ret;";
}
constexpr std::size_t kBefore = 7;

TEST(LongestWarps, WhatTheyExecuted) {
  // In block b, warp b modulo 4 repeats the loop b times, and the others once.
  const std::string body = turns("shr.u32 %r12, %r1, 5; and.b32 %r13, %r3, 3; setp.eq.u32 %p2, %r12, %r13;\n"
                                 "selp.u32 %r10, %r3, 0, %p2;");
  for (const unsigned workers : {1u, 3u}) {
    const Listener seen = watched(body, 10, 128, workers);
    const std::size_t loop = kBefore + 5;
    ASSERT_EQ(seen.longest.launch_times.size(), loop + 4);
    EXPECT_EQ(seen.longest.of_launch, loop + 3 * 10 + 1);
    EXPECT_EQ(seen.longest.of_ctas, 10 * (loop + 1) + 3 * (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10));
    for (std::size_t i = 0; i < loop + 4; ++i) {
      const bool in_loop = i >= loop && i < loop + 3;
      EXPECT_EQ(seen.longest.launch_times[i], in_loop ? 10u : 1u) << i;
      EXPECT_EQ(seen.longest.cta_times[i], in_loop ? 55u : 10u) << i;
      EXPECT_EQ(seen.counts[i].warps, in_loop ? 55u + 30u : 40u) << i;
    }
  }
}

TEST(LongestWarps, TheFirstOfEquals) {
  // Warps of even and of odd number take different branches of the same length.
  const std::string body = "shr.u32 %r10, %r2, 5; add.u32 %r10, %r10, 1; and.b32 %r10, %r10, 1;\n"
                           "setp.eq.u32 %p1, %r10, 0; @%p1 bra ODD; add.u32 %r11, %r10, 1; bra END;\n"
                           "ODD: add.u32 %r11, %r10, 2; bra END; END: ret;";
  for (const unsigned workers : {1u, 3u}) {
    const Listener seen = watched(body, 9, 96, workers);
    const std::size_t even = kBefore + 5, odd = even + 2;
    EXPECT_EQ(seen.longest.launch_times[even], 1u); // of block 0, warp 0
    EXPECT_EQ(seen.longest.launch_times[odd], 0u);
    EXPECT_EQ(seen.longest.cta_times[even], 5u); // warp 0 of the blocks 0, 2, 4, 6 and 8
    EXPECT_EQ(seen.longest.cta_times[odd], 4u);
  }
}

TEST(LongestWarps, DoNotDependOnTheOrderOfBlocks) {
  const std::vector<std::uint64_t> a = {1, 4}, b = {2, 3}, c = {9, 0};
  exec::LongestVisits forward(2), backward(2);
  forward.add(3, 10, a);
  forward.add(5, 10, b);
  forward.add(7, 8, c);
  backward.add(7, 8, c);
  backward.add(5, 10, b);
  exec::LongestVisits other(2);
  other.add(3, 10, a);
  backward.merge(other);
  for (const exec::LongestVisits& v : {forward, backward}) {
    EXPECT_EQ(v.cta, 3u);
    EXPECT_EQ(v.of_launch, 10u);
    EXPECT_EQ(v.of_ctas, 28u);
    EXPECT_EQ(v.launch_times, a);
    EXPECT_EQ(v.cta_times, (std::vector<std::uint64_t>{12, 7}));
  }
}

} // namespace longest_warps_test
} // namespace warplens::tests
