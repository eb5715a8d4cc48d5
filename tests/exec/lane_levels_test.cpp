// SPDX-License-Identifier: Apache-2.0
// Every handler of the table, at every level, with all or some lanes active: the results are bitwise equal.
#include "emulator/exec/decode/levels.hpp"
#include "emulator/exec/state/warp.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>

namespace warplens::exec {
namespace lane_levels_test {

constexpr std::uint32_t kRow = 16 * kWarpSize;
constexpr std::uint32_t kRows = 10;
constexpr std::uint32_t kAlways = kRegisterFile, kFirst = kAlways + kRow, kSecond = kFirst + kRow,
                        kSources = kSecond + kRow;

struct FreeWarp {
  void operator()(Warp* warp) const { std::free(warp); }
};
using WarpMemory = std::unique_ptr<Warp, FreeWarp>;

WarpMemory fresh_warp() {
  void* memory = std::aligned_alloc(64, kRegisterFile + kRows * kRow);
  std::memset(memory, 0, kRegisterFile + kRows * kRow);
  return WarpMemory(new (memory) Warp);
}

// Values that matter: zeros, ones, infinities, NaNs, subnormals, extremes, and random bits.
std::uint64_t interesting(std::mt19937_64& random) {
  constexpr std::uint64_t kCorners[] = {0,
                                        1,
                                        0x8000000000000000,
                                        ~std::uint64_t{0},
                                        0x3ff0000000000000,
                                        0x7ff0000000000000,
                                        0xfff0000000000001,
                                        0x000fffffffffffff,
                                        0x3f8000003f800000,
                                        0x7f8000007f800000,
                                        0x8000000080000000,
                                        0x007fffff807fffff,
                                        0xff8000007fc00000,
                                        0x3c007c0080000001,
                                        0x7fffffff7fffffff,
                                        0x4f0000005f000000,
                                        31,
                                        32,
                                        33,
                                        63,
                                        64,
                                        255};
  const std::uint64_t pick = random();
  return pick % 3 == 0   ? kCorners[pick / 3 % std::size(kCorners)]
         : pick % 3 == 1 ? random()
                         : random() >> (pick / 3 % 64);
}

using LaneBits = unsigned __int128;

LaneBits lane_bits(const Warp* warp, std::uint32_t offset, int bytes, int lane) {
  LaneBits value = 0;
  std::memcpy(&value, reinterpret_cast<const char*>(warp) + offset + lane * bytes, static_cast<std::size_t>(bytes));
  return value;
}

int destination_bytes(const isa::Entry& entry, const isa::Form& form) {
  const isa::Type type = isa::operand_type(entry.operands.items[0], form);
  return isa::bits(type) == 1 ? 0 : isa::bytes(type);
}

class LaneLevels : public testing::Test {
protected:
  WarpMemory start_ = fresh_warp();
  std::mt19937_64 random_{20260101};

  void fill() {
    for (std::uint32_t offset = kFirst; offset < kRegisterFile + kRows * kRow; offset += 8)
      *row<std::uint64_t>(start_.get(), offset) = interesting(random_);
    predicate(start_.get(), kAlways) = kFullMask;
  }
  WarpMemory run(const Level& level, std::size_t entry, int variant, Mask mask) {
    WarpMemory warp = fresh_warp();
    std::memcpy(static_cast<void*>(warp.get()), start_.get(), kRegisterFile + kRows * kRow);
    warp->active = mask;
    Op op;
    op.guard = kAlways;
    op.dst[0] = kFirst;
    op.dst[1] = kSecond;
    for (std::uint32_t i = 0; i < 4; ++i) op.src[i] = kSources + i * kRow;
    op.extra = kSources + 4 * kRow; // a fifth source
    EXPECT_EQ(level.lanes()[entry][variant](&op, warp.get()), &op + 1);
    return warp;
  }
};

TEST_F(LaneLevels, RowsFollowTheTable) {
  const auto table = isa::table();
  for (const Level& level : levels()) {
    ASSERT_EQ(level.lanes().size(), table.size());
    for (std::size_t e = 0; e < table.size(); ++e) {
      const int wanted = table[e].family == isa::Family::lane ? table[e].pattern.variants() : 0;
      EXPECT_EQ(static_cast<int>(level.lanes()[e].size()), wanted) << table[e].opcode << table[e].pattern_text;
    }
  }
}

// A lane that is alone is computed by itself: its bits are those that it has among others.
TEST_F(LaneLevels, ALaneAloneHasTheSameBits) {
  const auto table = isa::table();
  for (std::size_t e = 0; e < table.size(); ++e) {
    if (table[e].family != isa::Family::lane) continue;
    for (int variant = 0; variant < table[e].pattern.variants(); ++variant) {
      const isa::Form form = table[e].pattern.expand(variant);
      const int bytes = destination_bytes(table[e], form);
      int different = 0;
      for (const Level& level : levels()) {
        fill();
        const WarpMemory all = run(level, e, variant, kFullMask);
        for (int lane = 0; lane < kWarpSize; ++lane) {
          const WarpMemory alone = run(level, e, variant, Mask{1} << lane);
          if (bytes == 0)
            different += (predicate(alone.get(), kFirst) ^ predicate(all.get(), kFirst)) >> lane & 1;
          else
            different += lane_bits(alone.get(), kFirst, bytes, lane) != lane_bits(all.get(), kFirst, bytes, lane);
        }
        EXPECT_EQ(different, 0) << table[e].opcode << table[e].pattern_text << " variant " << variant << " at "
                                << level.name;
      }
    }
  }
}

TEST_F(LaneLevels, EveryLevelAndEveryMaskAgree) {
  const auto table = isa::table();
  int variants = 0;
  for (std::size_t e = 0; e < table.size(); ++e) {
    if (table[e].family != isa::Family::lane) continue;
    for (int variant = 0; variant < table[e].pattern.variants(); ++variant, ++variants) {
      const isa::Form form = table[e].pattern.expand(variant);
      const int bytes = destination_bytes(table[e], form);
      const auto where = [&](const Level& level) {
        return std::string(table[e].opcode) + std::string(table[e].pattern_text) + " variant " +
               std::to_string(variant) + " at " + std::string(level.name);
      };
      for (int round = 0; round < 4; ++round) {
        fill();
        const WarpMemory expected = run(levels().back(), e, variant, kFullMask);
        const Mask some = static_cast<Mask>(random_()), one = Mask{1} << random_() % kWarpSize;
        for (const Level& level : levels())
          for (const Mask mask : {kFullMask, some, one, Mask{0}}) {
            const WarpMemory got = run(level, e, variant, mask);
            for (int lane = 0; lane < kWarpSize; ++lane) {
              const bool acts = (mask >> lane & 1) != 0;
              const WarpMemory& wanted = acts ? expected : start_;
              if (bytes == 0) {
                ASSERT_EQ(predicate(got.get(), kFirst) >> lane & 1, predicate(wanted.get(), kFirst) >> lane & 1)
                    << where(level);
                continue;
              }
              const LaneBits a = lane_bits(got.get(), kFirst, bytes, lane),
                             b = lane_bits(wanted.get(), kFirst, bytes, lane);
              ASSERT_TRUE(a == b) << where(level) << " lane " << lane;
            }
            const Mask changed = predicate(got.get(), kSecond) ^ predicate(expected.get(), kSecond);
            ASSERT_EQ(changed & mask, 0u) << where(level) << " second result";
          }
      }
    }
  }
  EXPECT_GT(variants, 1500);
}

} // namespace lane_levels_test
} // namespace warplens::exec
