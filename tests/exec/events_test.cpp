// SPDX-License-Identifier: Apache-2.0
// Events one by one: each access and branch of the CTAs that a shard asks for, with its warp, in program order.
#include "tests/exec/kernel_test.hpp"

#include <map>
#include <set>

namespace warplens::tests {
namespace events_test {

using exec::WarpId;

struct Seen {
  std::vector<std::uint64_t> bases;     ///< of the first lane, in order
  std::vector<exec::Mask> masks, taken; ///< of accesses, of branches
  std::vector<std::uint64_t> barrier_steps;
};

/// Follows the odd CTAs.
class Follower final : public exec::Watcher {
public:
  struct Shard final : exec::Shard {
    std::map<std::pair<std::uint64_t, std::uint32_t>, Seen> warps;
    std::set<std::uint64_t> ended;
    std::uint64_t held_back = 0;
    exec::EachWanted wanted;
    std::uint32_t spaces_of_first = ~0u; ///< of each CTA's warp 0
    [[nodiscard]] exec::EachWanted each_wanted() const override { return wanted; }
    [[nodiscard]] std::uint32_t each_spaces(const WarpId& id) const override {
      EXPECT_EQ(id.cta % 2, 1u);
      return id.warp == 0 ? spaces_of_first : ~0u;
    }
    bool begin_cta(std::uint64_t cta) override { return cta % 2 == 1; }
    void end_cta(std::uint64_t cta) override { ended.insert(cta); }
    // By the addresses and by the halves, if both exist.
    std::uint64_t base_of(const exec::Access& a) const {
      const int first = std::countr_zero(a.mask);
      EXPECT_EQ(a.addresses == nullptr, !wanted.addresses && a.halves != nullptr);
      for (exec::Mask rest = a.halves != nullptr && a.addresses != nullptr ? a.mask : 0; rest != 0; rest &= rest - 1)
        EXPECT_EQ(a.addresses[std::countr_zero(rest)], place(*a.halves, std::countr_zero(rest)));
      return a.addresses != nullptr ? a.addresses[first] : place(*a.halves, first);
    }
    static std::uint64_t place(const exec::HalfWarps& h, int lane) {
      const std::int64_t from = lane < 16 ? lane * h.stride[0] : h.half + (lane - 16) * h.stride[1];
      return h.base + static_cast<std::uint64_t>(from);
    }
    Seen& of(const WarpId& id) { return warps[{id.cta, id.warp}]; }
    void access(const exec::Access& a) override { held_back += a.count; }
    void each_access(const WarpId& id, const exec::Access& a) override {
      EXPECT_EQ(a.count, 1u);
      of(id).bases.push_back(base_of(a));
      of(id).masks.push_back(a.mask);
    }
    void each_branch(const WarpId& id, const exec::Branch& b) override { of(id).taken.push_back(b.taken); }
    void barrier(const exec::Barrier& b) override {
      EXPECT_EQ(b.number, 3u);
      of(b.of).barrier_steps.push_back(b.steps);
    }
  };
  std::unique_ptr<exec::Shard> make_shard() override {
    auto shard = std::make_unique<Shard>();
    shard->wanted = total.wanted;
    shard->spaces_of_first = total.spaces_of_first;
    return shard;
  }
  void finish(std::vector<std::unique_ptr<exec::Shard>> shards, const std::vector<exec::InstructionCount>&) override {
    for (const auto& shard : shards) {
      auto& one = static_cast<Shard&>(*shard);
      total.warps.merge(one.warps);
      total.ended.merge(one.ended);
      total.held_back += one.held_back;
    }
  }
  Shard total;
};

// Warp w stores w + 1 times to its own words; then lane 5 alone; then an irregular load.
constexpr const char* kBody = "shr.u32 %r10, %r1, 5; mov.u32 %r11, 0;\n"
                              "LOOP: st.global.u32 [%rd2], %r11; add.u32 %r11, %r11, 1;\n"
                              "setp.le.u32 %p1, %r11, %r10; @%p1 bra LOOP;\n"
                              "bar.sync 3; setp.eq.u32 %p2, %r1, 5; @%p2 st.global.u32 [%rd2+0], %r1;\n"
                              "mul.lo.u32 %r12, %r1, %r1; and.b32 %r12, %r12, 63; mul.wide.u32 %rd10, %r12, 4;\n"
                              "add.u64 %rd10, %rd1, %rd10; ld.global.u32 %r13, [%rd10]; ret;";

TEST(Events, OneByOneForTheCtasThatAreAskedFor) {
  for (const unsigned workers : {1u, 4u}) {
    Follower follower;
    How how{.blocks = 7, .threads = 64, .workers = workers, .watcher = &follower};
    ASSERT_EQ(run_kernel(kernel_of(kBody), how).trap, "");
    const Follower::Shard& seen = follower.total;
    EXPECT_EQ(seen.ended.size(), 7u);
    EXPECT_EQ(seen.held_back, 7u * (1 + 1 + 1 + 2 + 1)); // held back or not, all of them are counted
    std::uint64_t first = 0;
    for (std::uint64_t cta = 1; cta < 7; cta += 2) {
      const Seen &a = seen.warps.at({cta, 0}), &b = seen.warps.at({cta, 1});
      if (cta == 1) first = a.bases[0];
      EXPECT_EQ(a.bases[0], first + (cta - 1) * 256);
      EXPECT_EQ(a.masks, (std::vector<exec::Mask>{~0u, 1u << 5, ~0u}));
      EXPECT_EQ(a.bases[1], a.bases[0] + 20);
      EXPECT_EQ(b.bases.size(), 3u);
      EXPECT_EQ(b.bases[0], a.bases[0] + 128);
      EXPECT_EQ(b.bases[0], b.bases[1]);
      EXPECT_EQ(a.taken, (std::vector<exec::Mask>{0}));
      EXPECT_EQ(b.taken, (std::vector<exec::Mask>{~0u, 0}));
    }
    EXPECT_TRUE(seen.warps.at({0, 0}).bases.empty()); // not asked for, but barriers are told of all
    EXPECT_TRUE(seen.warps.at({0, 0}).taken.empty());
    const Seen &a = seen.warps.at({0, 0}), &b = seen.warps.at({0, 1});
    ASSERT_EQ(a.barrier_steps.size(), 1u);
    EXPECT_EQ(b.barrier_steps.at(0) - a.barrier_steps[0], 4u); // one more turn of the loop
  }
}

TEST(Events, OneByOneOnlyOfWhatIsWanted) {
  for (const isa::Space space : {isa::Space::global, isa::Space::shared}) {
    Follower follower;
    follower.total.wanted = {exec::EachWanted::bit(space), false};
    How how{.blocks = 2, .threads = 64, .watcher = &follower};
    ASSERT_EQ(run_kernel(kernel_of(kBody), how).trap, "");
    const Seen& seen = follower.total.warps.at({1, 0});
    EXPECT_EQ(seen.bases.size(), space == isa::Space::global ? 3u : 0u);
    EXPECT_TRUE(seen.taken.empty());
    EXPECT_EQ(follower.total.held_back, 2u * 6);
  }
}

TEST(Events, OneByOneOnlyOfTheWarpsThatAreWanted) {
  Follower follower;
  follower.total.spaces_of_first = exec::EachWanted::bit(isa::Space::shared);
  How how{.blocks = 3, .threads = 64, .workers = 1, .watcher = &follower};
  ASSERT_EQ(run_kernel(kernel_of(kBody), how).trap, "");
  const Seen &a = follower.total.warps.at({1, 0}), &b = follower.total.warps.at({1, 1});
  EXPECT_TRUE(a.bases.empty());
  EXPECT_EQ(a.taken, (std::vector<exec::Mask>{0})); // branches have no space
  EXPECT_EQ(b.bases.size(), 3u);
  EXPECT_EQ(follower.total.held_back, 3u * (1 + 1 + 1 + 2 + 1));
}

TEST(Events, InShortAndNotTogether) {
  Follower full, brief;
  brief.total.wanted = {.addresses = false, .together = false};
  for (Follower* follower : {&full, &brief}) {
    How how{.blocks = 2, .threads = 64, .watcher = follower};
    ASSERT_EQ(run_kernel(kernel_of(kBody), how).trap, "");
  }
  for (const std::uint32_t warp : {0u, 1u}) {
    const std::vector<std::uint64_t>&a = full.total.warps.at({1, warp}).bases,
          &b = brief.total.warps.at({1, warp}).bases;
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i] - a[0], b[i] - b[0]); // each run has its own memory
  }
  EXPECT_EQ(full.total.held_back, 2u * 6);
  EXPECT_EQ(brief.total.held_back, 6u); // of the CTA that is not told one by one
}

} // namespace events_test
} // namespace warplens::tests
