// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/memory/address_space.hpp"

#include "emulator/exec/memory/memory.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <mutex>
#include <vector>

namespace warplens::exec {

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20, kGiB = std::uint64_t{1} << 30;

// Above the heaps of programs that are not position-independent, below the 32-bit windows. The first context gets most
// of it.
constexpr std::uint64_t kLow = 0x5000'0000, kLowEnd = kFunctionWindow32, kFirstLow = 1536 * kMiB, kNextLow = 64 * kMiB;
// Between the system's mappings at the bottom and at the top of the address space.
constexpr std::uint64_t kHigh = 0x2000'0000'0000, kHighSize = 64 * kGiB;
constexpr std::size_t kPlaces = 1 + (kLowEnd - kLow - kFirstLow) / kNextLow;
// Used if those are occupied, for example under sanitizers.
constexpr std::uint64_t kOtherLow = 0x1000'0000, kOtherHigh = 0x10'0000'0000;

AddressRange map(std::uint64_t begin, std::uint64_t size) {
  // `begin` is only a hint, which the system follows where it can. The thread sanitizer replaces a hint that does not
  // suit it by 0, where MAP_FIXED_NOREPLACE would then map.
  void* const p = mmap(pointer(begin), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return {};
  const auto got = reinterpret_cast<std::uint64_t>(p);
  if (begin != 0 && got != begin) {
    munmap(p, size);
    return {};
  }
  return {got, got + size};
}

// A process whose address space is limited keeps three quarters of it, …
std::uint64_t most() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kHighSize;
  return limit.rlim_cur / 4;
}

// … so a place may be smaller than usual. This also happens if other mappings are above it (tables of sanitizers).
constexpr std::uint64_t kLeast = 16 * kMiB;

std::uint64_t admitted(std::uint64_t size) {
  const std::uint64_t limit = most();
  while (size > limit && size > kLeast) size = size / 2 / kPageBytes * kPageBytes;
  return size;
}

AddressRange map_what_fits(std::uint64_t begin, std::uint64_t wanted) {
  for (std::uint64_t size = admitted(wanted); size >= kLeast; size = size / 2 / kPageBytes * kPageBytes)
    if (const AddressRange range = map(begin, size); range.size() != 0) return range;
  return {};
}

AddressRange low_of(std::size_t number) {
  return number == 0 ? map_what_fits(kLow, kFirstLow)
                     : map_what_fits(kLow + kFirstLow + (number - 1) * kNextLow, kNextLow);
}

AddressRange high_of(std::size_t number) { return map_what_fits(kHigh + number * kHighSize, kHighSize); }

AddressRange low_anywhere(std::uint64_t wanted) {
  for (const std::uint64_t size : {wanted, 256 * kMiB, 64 * kMiB, 16 * kMiB})
    for (std::uint64_t at = kOtherLow; size <= admitted(wanted) && at + size <= kLowEnd; at += kNextLow)
      if (const AddressRange range = map(at, size); range.size() != 0) return range;
  return {};
}

AddressRange high_anywhere(std::size_t number) {
  if (const AddressRange range = map_what_fits(kOtherHigh + number * kHighSize, kHighSize); range.size() != 0)
    return range;
  for (std::uint64_t size = admitted(kHighSize); size >= kLeast; size /= 4) {
    const AddressRange range = map(0, size);
    if (range.size() == 0) continue;
    // Pages of device memory begin at their multiples.
    const std::uint64_t begin = (range.begin + kPageBytes - 1) / kPageBytes * kPageBytes;
    if (range.begin != begin) munmap(pointer(range.begin), begin - range.begin);
    return {begin, range.end / kPageBytes * kPageBytes};
  }
  return {};
}

MemoryPlace reserve(std::size_t number) {
  MemoryPlace place;
  if (number < kPlaces) place = {low_of(number), high_of(number), true};
  place.usual = place.low.size() != 0 && place.high.size() != 0;
  if (place.low.size() == 0) place.low = low_anywhere(number == 0 ? kFirstLow : kNextLow);
  if (place.high.size() == 0) place.high = high_anywhere(number);
  return place;
}

struct Numbered {
  MemoryPlace place;
  bool reserved = false, taken = false;
};

struct NumberedPlaces {
  std::mutex mutex;
  std::vector<Numbered> list;
  NumberedPlaces() : list(1) {
    MemoryPlace& first = list.front().place;
    first = {low_of(0), high_of(0), true};
    list.front().reserved = first.low.size() != 0 && first.high.size() != 0;
    if (list.front().reserved) return;
    for (const AddressRange& range : {first.low, first.high}) // whatever is free when it is needed
      if (range.size() != 0) munmap(pointer(range.begin), range.size());
  }
};

NumberedPlaces& places() {
  static NumberedPlaces& instance = *new NumberedPlaces; // never destroyed: contexts may outlive everything else
  return instance;
}

[[maybe_unused]] const NumberedPlaces& held_from_the_beginning = places();

} // namespace

std::optional<MemoryPlace> take_place() {
  NumberedPlaces& all = places();
  const std::lock_guard lock(all.mutex);
  auto free = std::find_if(all.list.begin(), all.list.end(), [](const Numbered& n) { return !n.taken; });
  if (free == all.list.end()) free = all.list.insert(free, Numbered{});
  if (!free->reserved) free->place = reserve(static_cast<std::size_t>(free - all.list.begin()));
  free->reserved = free->place.low.size() + free->place.high.size() != 0;
  if (!free->reserved) return std::nullopt;
  free->taken = true;
  return free->place;
}

void give_back(const MemoryPlace& place) {
  NumberedPlaces& all = places();
  const std::lock_guard lock(all.mutex);
  for (Numbered& n : all.list)
    if (n.taken && n.place.low.begin == place.low.begin && n.place.high.begin == place.high.begin) n.taken = false;
}

} // namespace warplens::exec
