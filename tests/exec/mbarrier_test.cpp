// SPDX-License-Identifier: Apache-2.0
// mbarrier objects in isolation: phases, pending counts and bytes according to the manual (9.7.13.15).
#include "emulator/exec/access/mbarrier.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

namespace warplens::exec {
namespace mbarrier_test {

Mbarrier of(std::uint32_t count) {
  std::uint64_t bits = 0;
  EXPECT_EQ(Mbarrier::create(count, bits), nullptr);
  return Mbarrier(bits);
}

TEST(Mbarrier, CountsFrom1To1048575) {
  std::uint64_t bits = 5;
  for (const std::uint32_t wrong : {0u, 1u << 20, ~0u}) EXPECT_NE(Mbarrier::create(wrong, bits), nullptr) << wrong;
  EXPECT_EQ(bits, 5u) << "a refused object is left as it was";
  for (const std::uint32_t count : {1u, 77u, (1u << 20) - 1}) {
    const Mbarrier b = of(count);
    EXPECT_TRUE(b.exists());
    EXPECT_EQ(b.pending(), count);
    EXPECT_FALSE(b.odd_phase());
  }
  EXPECT_FALSE(Mbarrier(0).exists()) << "zeroed memory holds no object";
}

TEST(Mbarrier, APhaseEndsWithTheLastArrivalAndTheNextExpectsAsMany) {
  Mbarrier b = of(3);
  EXPECT_EQ(b.arrive(1), nullptr);
  EXPECT_EQ(b.pending(), 2u);
  EXPECT_EQ(b.arrive(2), nullptr);
  EXPECT_TRUE(b.odd_phase());
  EXPECT_EQ(b.pending(), 3u);
  EXPECT_EQ(b.arrive(3), nullptr);
  EXPECT_FALSE(b.odd_phase());
}

TEST(Mbarrier, RefusesMoreArrivalsThanAreExpected) {
  Mbarrier b = of(2);
  const std::uint64_t before = b.bits();
  EXPECT_NE(b.arrive(3), nullptr);
  EXPECT_NE(b.arrive(0), nullptr);
  EXPECT_EQ(b.bits(), before);
}

TEST(Mbarrier, BytesHoldAPhaseOpen) {
  Mbarrier b = of(1);
  EXPECT_EQ(b.expect(48), nullptr);
  EXPECT_EQ(b.arrive(1), nullptr);
  EXPECT_FALSE(b.odd_phase());
  EXPECT_NE(b.arrive(1), nullptr) << "all arrivals of the phase are there";
  EXPECT_EQ(b.complete(32), nullptr);
  EXPECT_FALSE(b.odd_phase());
  EXPECT_EQ(b.complete(16), nullptr);
  EXPECT_TRUE(b.odd_phase());
  EXPECT_EQ(b.pending(), 1u);
}

TEST(Mbarrier, BytesMayComeInBeforeTheyAreExpected) {
  Mbarrier b = of(1);
  EXPECT_EQ(b.complete(48), nullptr);
  EXPECT_EQ(b.arrive(1), nullptr);
  EXPECT_FALSE(b.odd_phase());
  EXPECT_EQ(b.expect(48), nullptr);
  EXPECT_TRUE(b.odd_phase());
}

TEST(Mbarrier, CountsBytesUpTo1048575EitherWay) {
  constexpr std::uint32_t kMost = Mbarrier::kMaxCount;
  Mbarrier b = of(1);
  EXPECT_EQ(b.expect(kMost), nullptr);
  EXPECT_NE(b.expect(1), nullptr);
  EXPECT_NE(b.expect(~0u), nullptr);
  EXPECT_EQ(b.complete(kMost), nullptr);
  EXPECT_FALSE(b.odd_phase()) << "the arrival is missing";
  EXPECT_EQ(b.complete(kMost), nullptr);
  EXPECT_NE(b.complete(1), nullptr);
  EXPECT_EQ(b.expect(kMost), nullptr);
  EXPECT_EQ(b.arrive(1), nullptr);
  EXPECT_TRUE(b.odd_phase());
}

TEST(Mbarrier, ADroppedArrivalIsMissingFromTheNextPhaseOn) {
  Mbarrier b = of(3);
  EXPECT_EQ(b.drop(2), nullptr);
  EXPECT_EQ(b.arrive(3), nullptr);
  EXPECT_TRUE(b.odd_phase());
  EXPECT_EQ(b.pending(), 1u);
  EXPECT_NE(b.drop(2), nullptr);
}

TEST(Mbarrier, CopiesThatArriveAddTheirOwnArrival) {
  Mbarrier b = of(1);
  EXPECT_EQ(b.add_pending(), nullptr);
  EXPECT_EQ(b.pending(), 2u);
  EXPECT_EQ(b.arrive(1), nullptr);
  EXPECT_FALSE(b.odd_phase());
  Mbarrier full = of(Mbarrier::kMaxCount);
  EXPECT_NE(full.add_pending(), nullptr);
}

} // namespace mbarrier_test
} // namespace warplens::exec
