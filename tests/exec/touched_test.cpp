// SPDX-License-Identifier: Apache-2.0
// Distinct sectors: the same as a set of them, and in any number of parts.
#include "emulator/exec/block/touched.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>

namespace warplens::exec {
namespace touched_test {

constexpr std::uint64_t kSectorBytes = 32;

/// The slow way.
class Sets {
public:
  void add(AccessKind kind, std::uint64_t at, std::uint64_t bytes) {
    for (std::uint64_t s = at / kSectorBytes; s <= (at + bytes - 1) / kSectorBytes; ++s)
      (kind == AccessKind::load ? loaded_ : written_).insert(s);
  }
  [[nodiscard]] Footprint count() const {
    Footprint result{loaded_.size(), written_.size(), 0};
    for (const std::uint64_t s : loaded_) result.only_loaded += written_.contains(s) ? 0 : 1;
    return result;
  }

private:
  std::set<std::uint64_t> loaded_, written_;
};

void expect_equal(const Footprint& found, const Footprint& expected) {
  EXPECT_EQ(found.loaded, expected.loaded);
  EXPECT_EQ(found.written, expected.written);
  EXPECT_EQ(found.only_loaded, expected.only_loaded);
}

class TouchedTest : public ::testing::Test {
protected:
  TouchedTest() {
    for (std::uint32_t i = 0; i < 6; ++i) {
      MemorySite site;
      site.index = i;
      site.kind = i % 3 == 0 ? AccessKind::load : i % 3 == 1 ? AccessKind::store : AccessKind::atomic;
      site.observed_bytes = static_cast<std::uint16_t>(i == 5 ? 64 : 1u << i);
      sites_.push_back(site);
    }
  }

  /// Random accesses, mostly one after the other; far ones lie in other pages.
  void feed(std::vector<TouchedSectors>& shards, int accesses) {
    for (int i = 0; i < accesses; ++i) {
      const MemorySite& site = sites_[random() % sites_.size()];
      const std::uint64_t width = site.observed_bytes;
      const auto number = [&](std::uint64_t below) { return random() % below; };
      const std::uint64_t base = kBase + width * number(number(4) == 0 ? 3'000'000 : 3'000);
      const Mask mask = number(2) == 0 ? ~Mask{0} : static_cast<Mask>(random()) | 1;
      TouchedSectors& shard = shards[number(shards.size())];
      if (number(3) == 0)
        irregular(shard, site, mask, base);
      else
        regular(shard, site, mask, base,
                {static_cast<std::int64_t>(width * number(12)), static_cast<std::int64_t>(width * number(3))});
    }
  }
  Sets sets_;

private:
  std::mt19937 random{7};
  static constexpr std::uint64_t kBase = std::uint64_t{1} << 40;

  void regular(TouchedSectors& shard, const MemorySite& site, Mask mask, std::uint64_t base,
               std::array<std::int64_t, 2> stride) {
    const bool one = random() % 2 == 0;
    if (one) stride[1] = stride[0];
    const std::int64_t half = one ? 16 * stride[0] : static_cast<std::int64_t>(site.observed_bytes * (random() % 999));
    shard.regular(site, mask, base, stride.data(), half);
    for (const int lane : EachLane(mask))
      sets_.add(site.kind,
                base + static_cast<std::uint64_t>(lane < 16 ? lane * stride[0] : half + (lane - 16) * stride[1]),
                site.observed_bytes);
  }
  void irregular(TouchedSectors& shard, const MemorySite& site, Mask mask, std::uint64_t base) {
    std::int64_t offsets[kWarpSize];
    for (std::int64_t& o : offsets) o = static_cast<std::int64_t>(site.observed_bytes * (random() % 5000));
    shard.irregular(site, mask, base, offsets);
    for (const int lane : EachLane(mask))
      sets_.add(site.kind, base + static_cast<std::uint64_t>(offsets[lane]), site.observed_bytes);
  }

  std::vector<MemorySite> sites_;
};

TEST_F(TouchedTest, AsASetOfThem) {
  std::vector<TouchedSectors> one;
  one.emplace_back(6);
  feed(one, 4000);
  expect_equal(one[0].count(), sets_.count());
}

TEST_F(TouchedTest, PartsMergeToTheSame) {
  std::vector<TouchedSectors> parts;
  for (int i = 0; i < 3; ++i) parts.emplace_back(6);
  feed(parts, 4000);
  parts[2].merge(parts[0]);
  parts[2].merge(parts[1]);
  expect_equal(parts[2].count(), sets_.count());
}

} // namespace touched_test
} // namespace warplens::exec
