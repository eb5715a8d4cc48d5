// SPDX-License-Identifier: Apache-2.0
// The addresses of device memory, allocations, and the memory around them.
#include "emulator/exec/memory/guarded_memory.hpp"
#include "emulator/exec/memory/heap.hpp"
#include "emulator/exec/memory/memory.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <map>
#include <new>
#include <random>

namespace warplens::tests {
namespace arena_test {

using exec::Arena;
using exec::Extents;

TEST(Arena, IsZeroedNamedAndReused) {
  auto arena = std::move(*exec::Arena::reserve());
  const std::uint64_t a = *arena->allocate(1000, "a"), b = *arena->allocate(0, "b"), c = *arena->allocate(5000, "c");
  EXPECT_EQ(a % 256, 0u);
  EXPECT_GE(b, a + 1000 + 256 - 255);
  EXPECT_NE(b, c);
  auto* bytes = reinterpret_cast<unsigned char*>(c);
  std::fill(bytes, bytes + 5000, 0xff);
  EXPECT_TRUE(arena->free(c));
  EXPECT_FALSE(arena->free(c));
  const std::uint64_t d = *arena->allocate(5000, "d");
  EXPECT_EQ(c, d);
  EXPECT_EQ(std::count(bytes, bytes + 5000, 0), 5000);
  EXPECT_FALSE(arena->allocate(std::uint64_t{1} << 60, "too large").has_value());
}

TEST(Arena, LiesAtTheSameAddressAgain) {
  for (int i = 0; i < 3; ++i) {
    const auto arena = std::move(*Arena::reserve());
    if (!arena->remark().empty()) GTEST_SKIP() << arena->remark(); // a sanitizer's memory is there
    EXPECT_EQ(*arena->allocate(4, "a"), 0x5000'0000u);
    EXPECT_EQ(*arena->allocate(std::uint64_t{2} << 30, "large"), 0x2000'0000'0000u);
  }
}

TEST(Arena, EveryContextHasMemoryThatThirtyTwoBitsReach) {
  std::vector<std::unique_ptr<Arena>> arenas;
  std::vector<std::uint64_t> first;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < 16; ++i) {
      arenas.push_back(std::move(*Arena::reserve()));
      const std::uint64_t a = *arenas.back()->allocate(1 << 20, "a");
      EXPECT_LT(a + (1 << 20), exec::kFunctionWindow32) << i;
      if (round == 0) first.push_back(a);
      EXPECT_EQ(a, first[i]) << i;
    }
    arenas.clear();
  }
}

TEST(Arena, KeepsAlignment) {
  const auto arena = std::move(*Arena::reserve());
  std::ignore = arena->allocate(1, "shifts the rest");
  for (std::uint64_t alignment = 1; alignment <= std::uint64_t{1} << 28; alignment *= 2) {
    const auto a = arena->allocate(16, "a", {.alignment = alignment});
    ASSERT_TRUE(a) << alignment;
    EXPECT_EQ(*a % std::max<std::uint64_t>(alignment, 256), 0u) << alignment;
  }
}

bool can_write(std::uint64_t address) { // as a system call, which does not end the test
  const int file = open("/dev/zero", O_RDONLY);
  const bool done = read(file, reinterpret_cast<void*>(address), 1) == 1;
  close(file);
  return done;
}

TEST(Arena, PagesWithoutAllocationsAreGuards) {
  const auto arena = std::move(*Arena::reserve());
  const std::uint64_t a = *arena->allocate(exec::kPageBytes + 1, "a");
  EXPECT_TRUE(can_write(a));
  EXPECT_TRUE(can_write(a + 2 * exec::kPageBytes - 1));
  EXPECT_FALSE(can_write(a + 2 * exec::kPageBytes));
  EXPECT_FALSE(can_write(a - 1));
}

TEST(Arena, NothingIsAccessibleAfterItsEnd) {
  auto arena = std::move(*Arena::reserve());
  const std::uint64_t a = *arena->allocate(100, "a"), far = *arena->allocate(std::uint64_t{2} << 30, "far");
  std::memset(exec::pointer(a), 1, 100);
  std::memset(exec::pointer(far), 1, 100);
  ASSERT_TRUE(can_write(a) && can_write(far));
  arena.reset();
  EXPECT_FALSE(can_write(a));
  EXPECT_FALSE(can_write(far));
  arena = std::move(*Arena::reserve());
  ASSERT_EQ(*arena->allocate(100, "a"), a);
  EXPECT_EQ(*static_cast<const char*>(exec::pointer(a)), 0);
}

// Allocations that share pages of the system with others, before or after them.
TEST(Arena, FreedMemoryIsZeroAndThatOfNeighboursIsNot) {
  const auto arena = std::move(*Arena::reserve());
  std::mt19937 random(7);
  std::map<std::uint64_t, std::size_t> used;
  const auto all_are = [](std::uint64_t begin, std::size_t size, unsigned char value) {
    const auto* const bytes = static_cast<const unsigned char*>(exec::pointer(begin));
    return std::count(bytes, bytes + size, value) == static_cast<std::ptrdiff_t>(size);
  };
  for (int i = 0; i < 3000; ++i) {
    if (used.size() > 20 || (!used.empty() && random() % 3 == 0)) {
      const auto one = std::next(used.begin(), static_cast<std::ptrdiff_t>(random() % used.size()));
      ASSERT_TRUE(all_are(one->first, one->second, 0xaa)) << i;
      ASSERT_TRUE(arena->free(one->first));
      used.erase(one);
      continue;
    }
    constexpr std::size_t kSizes[] = {0, 1, 256, 1000, 3840, 4096, 5000, 20'000};
    const std::size_t size = kSizes[random() % std::size(kSizes)];
    const std::uint64_t begin = *arena->allocate(size, "x");
    ASSERT_TRUE(all_are(begin, size, 0)) << i;
    std::memset(exec::pointer(begin), 0xaa, size);
    used[begin] = size;
  }
}

long faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

// To clear a part of a page that nobody has touched would make the system provide the page.
TEST(Arena, FreeingTouchesNoPageThatOthersDoNotShare) {
  const auto arena = std::move(*Arena::reserve());
  constexpr int kTimes = 500;
  const long before = faults();
  for (int i = 0; i < kTimes; ++i) arena->free(*arena->allocate(5000, "untouched"));
  EXPECT_LT(faults() - before, kTimes / 4);
}

// First fit, one by one.
class Naive {
public:
  void give(std::uint64_t begin, std::uint64_t size) {
    pieces_[begin] = size;
    for (auto p = pieces_.begin(); p != pieces_.end();) {
      const auto next = std::next(p);
      if (next == pieces_.end() || p->first + p->second != next->first) {
        p = next;
        continue;
      }
      p->second += next->second;
      pieces_.erase(next);
    }
  }
  std::optional<std::uint64_t> take(std::uint64_t size) {
    for (const auto& [begin, available] : pieces_) {
      if (available < size) continue;
      const std::uint64_t place = begin, rest = available - size;
      pieces_.erase(place);
      if (rest != 0) pieces_[place + size] = rest;
      return place;
    }
    return std::nullopt;
  }

private:
  std::map<std::uint64_t, std::uint64_t> pieces_;
};

TEST(Extents, AreFirstFit) {
  Extents extents;
  Naive naive;
  extents.give(4096, 1 << 16);
  naive.give(4096, 1 << 16);
  std::mt19937 random(1);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;
  for (int i = 0; i < 20'000; ++i) {
    if (random() % 2 == 0 || taken.empty()) {
      const std::uint64_t size = 1 + random() % 3000;
      const auto a = extents.take(size, 1);
      ASSERT_EQ(a, naive.take(size)) << i;
      if (a) taken.emplace_back(*a, size);
    } else {
      std::swap(taken[random() % taken.size()], taken.back());
      extents.give(taken.back().first, taken.back().second);
      naive.give(taken.back().first, taken.back().second);
      taken.pop_back();
    }
  }
}

TEST(Extents, AlignedPlacesLeaveTheRestFree) {
  Extents extents;
  extents.give(0x1010, 0x2000);
  EXPECT_EQ(extents.take(0x100, 0x1000), 0x2000u);
  EXPECT_EQ(extents.take(0xff0, 1), 0x1010u);
  EXPECT_EQ(extents.take(0xf10, 1), 0x2100u);
  EXPECT_EQ(extents.take(1, 1), std::nullopt);
  EXPECT_EQ(extents.take(~std::uint64_t{0}, std::uint64_t{1} << 63), std::nullopt);
}

double seconds_of(int allocations) {
  const auto arena = std::move(*Arena::reserve());
  std::vector<std::uint64_t> all;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < allocations; ++i) all.push_back(*arena->allocate(4 + i % 7 * 300, "v"));
  for (int i = 0; i < allocations; i += 2) arena->free(all[static_cast<std::size_t>(i)]);
  for (int i = 0; i < allocations; i += 2) std::ignore = arena->allocate(1000, "w");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(Arena, ManyAllocationsTakeTimeInProportion) {
  const double once = seconds_of(20'000), four = seconds_of(80'000);
  EXPECT_LT(four, 8 * once + 0.2); // 4, or 16 where each looks at all others
}

TEST(Heap, RefusesWhatWraps) {
  exec::Heap heap(4096, 1 << 20);
  EXPECT_EQ(heap.allocate(~std::uint64_t{0}), 0u);
  EXPECT_EQ(heap.allocate(~std::uint64_t{0} - 14), 0u);
  EXPECT_EQ(heap.allocate(0), 4096u);
  EXPECT_EQ(heap.allocate(1), 4112u);
}

TEST(AlignedBytes, EndAtAGuardAndAreZeroAgain) {
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{64}, std::size_t{4096}, std::size_t{100'000}, std::size_t{40} << 20})
    for (int round = 0; round < 3; ++round) {
      const exec::AlignedBytes bytes = exec::aligned_bytes(size);
      const auto begin = reinterpret_cast<std::uint64_t>(bytes.get()), end = begin + (size + 63) / 64 * 64;
      EXPECT_EQ(begin % 64, 0u);
      EXPECT_EQ(std::count(bytes.get(), bytes.get() + size, std::byte{}), static_cast<std::ptrdiff_t>(size)) << size;
      std::fill(bytes.get(), bytes.get() + size, std::byte{7});
      EXPECT_FALSE(can_write(end)) << size;
    }
  EXPECT_THROW(exec::aligned_bytes(~std::size_t{0}), std::bad_alloc);
  EXPECT_THROW(exec::aligned_bytes(std::size_t{1} << 60), std::bad_alloc);
}

TEST(Pages, AnAllocationLetsItsPagesBeReached) {
  const std::uint64_t page = exec::kPageBytes;
  const std::vector<exec::Allocation> all = {{10 * page + 256, 10 * page + 300, "a"},
                                             {13 * page, 15 * page, "b"},
                                             {40 * page + 100, 40 * page + 200, "host", false, exec::kHostPageBytes}};
  EXPECT_TRUE(exec::in_used_pages(all, 10 * page, 11 * page));
  EXPECT_FALSE(exec::in_used_pages(all, 10 * page - 1, 10 * page + 1));
  EXPECT_FALSE(exec::in_used_pages(all, 11 * page - 1, 11 * page + 1));
  EXPECT_TRUE(exec::in_used_pages(all, 14 * page, 15 * page));
  EXPECT_FALSE(exec::in_used_pages(all, 15 * page, 15 * page + 1));
  EXPECT_TRUE(exec::in_used_pages(all, 40 * page, 40 * page + 4096));
  EXPECT_FALSE(exec::in_used_pages(all, 40 * page + 4096, 40 * page + 4097));
  EXPECT_FALSE(exec::in_used_pages(all, ~std::uint64_t{0} - 3, ~std::uint64_t{0}));
  EXPECT_FALSE(exec::in_used_pages({}, 0, 4));
}

// For memcheck.
TEST(Arena, SharedPagesKeepTheirContentsAndAreAFile) {
  const auto arena = std::move(*Arena::reserve());
  constexpr std::uint64_t kBytes = 20'000;
  std::uint64_t all[3] = {};
  for (std::uint64_t& a : all) {
    a = *arena->allocate(kBytes, "shared");
    std::fill_n(reinterpret_cast<unsigned char*>(a), kBytes, static_cast<unsigned char>(1 + (&a - all)));
  }
  const auto holds = [&](int i, int value) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(all[i]);
    return std::count(bytes, bytes + kBytes, value) == static_cast<std::ptrdiff_t>(kBytes);
  };
  EXPECT_FALSE(arena->share(all[1] + 8).has_value());
  const auto place = arena->share(all[1]), second = arena->share(all[0]); // they have a page in common
  ASSERT_TRUE(place.has_value() && second.has_value());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(holds(i, i + 1)) << i;
  std::vector<unsigned char> seen(kBytes);
  const auto read = [&] {
    return pread(place->file, seen.data(), kBytes, static_cast<off_t>(place->offset)) == static_cast<ssize_t>(kBytes);
  };
  reinterpret_cast<unsigned char*>(all[1])[10'000] = 77;
  ASSERT_TRUE(read());
  EXPECT_EQ(seen[0], 2);
  EXPECT_EQ(seen[10'000], 77);
  EXPECT_TRUE(arena->free(all[1]));
  EXPECT_TRUE(holds(0, 1) && holds(2, 3));
  ASSERT_TRUE(read());
  EXPECT_EQ(seen[10'000], 77) << "whoever has mapped it keeps it";
  EXPECT_EQ(*arena->allocate(kBytes, "next"), all[1]);
  EXPECT_TRUE(holds(1, 0));
  reinterpret_cast<unsigned char*>(all[1])[10'000] = 5;
  ASSERT_TRUE(read());
  EXPECT_EQ(seen[10'000], 77) << "private again";
  ASSERT_TRUE(arena->share(all[1]).has_value());
  ASSERT_TRUE(read());
  EXPECT_EQ(seen[10'000], 5);
  EXPECT_EQ(seen[10'001], 0);
}

TEST(Arena, FreedMemoryIsNotUsedAgainSoon) {
  auto arena = std::move(*exec::Arena::reserve());
  const std::uint64_t before = *arena->allocate(1000, "before");
  EXPECT_TRUE(arena->free(before));
  EXPECT_EQ(*arena->allocate(1000, "again"), before);
  arena->keep_freed();
  EXPECT_TRUE(arena->free(before));
  const std::uint64_t after = *arena->allocate(1000, "after");
  EXPECT_NE(after, before);
  const std::vector<exec::Allocation> freed = arena->freed();
  ASSERT_EQ(freed.size(), 1u);
  EXPECT_EQ(freed.front().begin, before);
  EXPECT_EQ(freed.front().name, "again");
}

} // namespace arena_test
} // namespace warplens::tests
