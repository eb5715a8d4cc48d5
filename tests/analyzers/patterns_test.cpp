// SPDX-License-Identifier: Apache-2.0
// Access patterns of the lanes of a warp, computed by hand.
#include "analyzers/analyzer.hpp"
#include "tests/analyzers/accesses.hpp"

#include <gtest/gtest.h>

namespace warplens::analyzers {
namespace patterns_test {

using testing::WarpAccess;

template <class Address> Pattern pattern(exec::Mask mask, std::uint16_t bytes, Address&& address) {
  const WarpAccess access(mask, bytes, address);
  return classify(access.event(exec::AccessKind::load, isa::Space::global));
}

std::string text(const Pattern& pattern) {
  AccessSite site;
  site.add(pattern, 1);
  return site.pattern();
}

constexpr exec::Mask kAll = ~0u;

TEST(Patterns, Each) {
  const auto of = [](auto address) { return text(pattern(kAll, 4, address)); };
  EXPECT_EQ(of([](int lane) { return 128 + 4 * lane; }), "unit stride");
  EXPECT_EQ(of([](int) { return 128; }), "broadcast");
  EXPECT_EQ(of([](int lane) { return 128 + 12 * lane; }), "stride 12 bytes");
  EXPECT_EQ(of([](int lane) { return 4096 - 4 * lane; }), "stride -4 bytes");
  EXPECT_EQ(of([](int lane) { return 128 + 4 * (lane ^ 1); }), "permuted");
  EXPECT_EQ(of([](int lane) { return 128 + 4 * (lane * 7 % 32); }), "permuted");
  EXPECT_EQ(of([](int lane) { return lane / 16 * 4096 + lane % 16 * 4; }), "unit stride in groups of 16 lanes");
  EXPECT_EQ(of([](int lane) { return lane / 8 * 4096 + lane % 8 * 4; }), "unit stride in groups of 8 lanes");
  EXPECT_EQ(of([](int lane) { return lane / 8 * 4; }), "broadcast in groups of 8 lanes");
  EXPECT_EQ(of([](int lane) { return lane / 4 * 1000 + lane % 4 * 8; }), "stride 8 bytes in groups of 4 lanes");
  EXPECT_EQ(of([](int lane) { return lane * lane * 4; }), "random");
  EXPECT_EQ(of([](int lane) { return lane == 31 ? 120 : 4 * lane; }), "random"); // 30 twice, 31 missing
  EXPECT_EQ(text(pattern(1u << 7, 4, [](int lane) { return 4 * lane; })), "single lane");
}

TEST(Patterns, OfTheLanesThatTakePart) {
  // Each second lane: 16 words in a row, but in another order.
  const exec::Mask even = 0x55555555u;
  EXPECT_EQ(text(pattern(even, 4, [](int lane) { return 4 * (lane / 2 ^ 3); })), "permuted");
  // A row of 16 lanes with a hole, and half a row.
  EXPECT_EQ(text(pattern(0x00ff7fffu, 4, [](int lane) { return lane / 16 * 4096 + lane % 16 * 4; })),
            "unit stride in groups of 16 lanes");
  // Strides as long as the address space are no reason to stumble.
  const Pattern far = pattern(kAll, 4, [](int lane) {
    return (lane % 2 == 0 ? std::uint64_t{0} : std::uint64_t{1} << 63) + static_cast<std::uint64_t>(lane / 2 * 8);
  });
  EXPECT_EQ(far.kind, Pattern::Kind::grouped);
  EXPECT_EQ(far.group, 2u);
}

TEST(Patterns, OfASite) {
  AccessSite a, b;
  a.add({Pattern::Kind::strided, 8}, 3);
  b.add({Pattern::Kind::strided, 8}, 3);
  b.add({Pattern::Kind::single_lane}, 100); // has no pattern
  a.merge(b);
  EXPECT_EQ(a.pattern(), "stride 8 bytes");
  EXPECT_EQ(a.stride(), 8);
  AccessSite c;
  c.add({Pattern::Kind::strided, 12}, 1);
  a.merge(c);
  EXPECT_EQ(a.pattern(), "several strides");
  EXPECT_EQ(a.stride(), 0);
  c.add({Pattern::Kind::random}, 9);
  EXPECT_EQ(c.pattern(), "mostly random");
  EXPECT_EQ(c.count(Pattern::Kind::random), 9u);
}

} // namespace patterns_test
} // namespace warplens::analyzers
