// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/block/touched.hpp"

#include <algorithm>
#include <bit>
#include <new>

namespace warplens::exec {

namespace {
// An atomic operation loads what it writes; that it is written says more.
bool writes(const MemorySite& site) { return site.kind != AccessKind::load; }
} // namespace

std::uint64_t* TouchedSectors::words_of(std::uint64_t page, bool written) {
  if (page != recent_) {
    Page& found = pages_[page];
    if (!found) found.reset(static_cast<std::uint64_t*>(std::calloc(2 * kWords, sizeof(std::uint64_t))));
    if (!found) throw std::bad_alloc();
    recent_ = page;
    words_of_recent_ = found.get();
  }
  return words_of_recent_ + (written ? kWords : 0);
}

void TouchedSectors::mark(bool written, std::uint64_t low, std::uint64_t high) {
  std::uint64_t sector = low / kSectorBytes;
  const std::uint64_t last = (high - 1) / kSectorBytes;
  while (sector <= last) {
    const std::uint64_t end = std::min(last, sector | 63), word = sector / 64;
    words_of(word / kWords, written)[word % kWords] |= ~std::uint64_t{0} >> (63 - (end - sector)) << sector % 64;
    sector = end + 1;
  }
}

// Words are aligned to their width, so that those of up to a sector lie in one.
template <class AddressOf> void TouchedSectors::mark_lanes(const MemorySite& site, Mask lanes, AddressOf&& address_of) {
  const bool written = writes(site);
  const std::uint64_t bytes = site.observed_bytes;
  if (bytes > kSectorBytes || !std::has_single_bit(bytes)) {
    for (const int lane : EachLane(lanes)) mark(written, address_of(lane), address_of(lane) + bytes);
    return;
  }
  std::uint64_t page = ~std::uint64_t{0}, *words = nullptr;
  const auto mark_one = [&](std::uint64_t at) {
    if (at / kPageBytes != page) [[unlikely]] {
      page = at / kPageBytes;
      words = words_of(page, written);
    }
    const std::uint64_t sector = at / kSectorBytes;
    words[sector / 64 % kWords] |= std::uint64_t{1} << sector % 64;
  };
  const int first = std::countr_zero(lanes), end = first + std::popcount(lanes);
  if (kWarpSize - std::countl_zero(lanes) == end) // the usual case, in which no bits have to be searched for
    for (int lane = first; lane < end; ++lane) mark_one(address_of(lane));
  else
    for (const int lane : EachLane(lanes)) mark_one(address_of(lane));
}

void TouchedSectors::begin(const MemorySite& site, std::uint64_t low, std::uint64_t high) {
  Run& run = runs_[site.index];
  if (run.high > run.low) mark(run.written, run.low, run.high);
  run = {low, high, writes(site)};
}

void TouchedSectors::halves(const MemorySite& site, Mask mask, std::uint64_t base, const std::int64_t* stride,
                            std::int64_t half) {
  for (int h = 0; h < 2; ++h, base += static_cast<std::uint64_t>(half)) {
    const Mask lanes = mask >> 16 * h & 0xffff;
    if (lanes == 0) continue;
    const auto step = static_cast<std::uint64_t>(stride[h]);
    const int first = std::countr_zero(lanes), count = std::popcount(lanes);
    const std::uint64_t low = base + static_cast<std::uint64_t>(first) * step;
    const bool without_gaps = lanes >> first == (Mask{1} << count) - 1 && step <= kSectorBytes;
    if (step == 0 || without_gaps) {
      mark(writes(site), low, low + static_cast<std::uint64_t>(count - 1) * step + site.observed_bytes);
      continue;
    }
    mark_lanes(site, lanes, [&](int lane) { return base + static_cast<std::uint64_t>(lane) * step; });
  }
}

void TouchedSectors::irregular(const MemorySite& site, Mask mask, std::uint64_t base, const std::int64_t* offsets) {
  mark_lanes(site, mask, [&](int lane) { return base + static_cast<std::uint64_t>(offsets[lane]); });
}

void TouchedSectors::flush() {
  for (Run& run : runs_) {
    if (run.high > run.low) mark(run.written, run.low, run.high);
    run = {};
  }
}

void TouchedSectors::merge(TouchedSectors& other) {
  other.flush();
  for (const auto& [number, from] : other.pages_) {
    std::uint64_t* const to = words_of(number, false);
    for (std::size_t i = 0; i < 2 * kWords; ++i) to[i] |= from[i];
  }
}

void TouchedSectors::fields(Archive& a) {
  flush();
  const std::size_t pages = a.size(pages_.size());
  auto own = pages_.begin();
  for (std::size_t i = 0; a.good() && i < pages; ++i) {
    std::uint64_t number = a.reads() ? 0 : (own++)->first;
    a(number);
    a.bytes(words_of(number, false), 2 * kWords * sizeof(std::uint64_t));
  }
}

Footprint TouchedSectors::count() {
  flush();
  Footprint result;
  const auto bits = [](std::uint64_t word) { return static_cast<std::uint64_t>(std::popcount(word)); };
  for (const auto& [number, page] : pages_)
    for (std::size_t i = 0; i < kWords; ++i) {
      result.loaded += bits(page[i]);
      result.only_loaded += bits(page[i] & ~page[kWords + i]);
      result.written += bits(page[kWords + i]);
    }
  return result;
}

} // namespace warplens::exec
