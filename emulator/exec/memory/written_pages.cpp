// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/memory/written_pages.hpp"

#include "emulator/exec/memory/address_space.hpp"
#include "emulator/exec/memory/guarded_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <new>
#include <thread>

namespace warplens::exec {

namespace {

// Protecting parts splits mappings, of which Linux allows 65530. If there is much memory, parts have the size of a huge
// page: a smaller one would make the system replace the huge page by many pages.
constexpr std::uint64_t kMostParts = 16384, kSmallPart = std::uint64_t{64} << 10, kHugePage = std::uint64_t{2} << 20,
                        kMuch = std::uint64_t{32} << 20;

std::atomic<WrittenPages*> active{nullptr};

struct sigaction before_us;

} // namespace

WrittenPages::WrittenPages(std::span<const Allocation> allocations) {
  const std::uint64_t page = system_page_bytes();
  std::uint64_t bytes = 0;
  for (const Allocation& a : allocations) {
    if (a.constant || a.size() == 0) continue;
    const std::uint64_t begin = a.begin / page * page, end = (a.end + page - 1) / page * page;
    if (regions_.empty() || regions_.back().end < begin) regions_.push_back({begin, begin, nullptr, 0, 0, {}, {}});
    bytes += end - std::min(end, regions_.back().end);
    regions_.back().end = std::max(regions_.back().end, end);
  }
  part_bytes_ = std::bit_ceil(std::max(bytes < kMuch ? kSmallPart : kHugePage, bytes / kMostParts));
  for (Region& region : regions_) {
    // Copies lie in huge pages as the parts do.
    region.room_bytes = region.end - region.begin + 2 * part_bytes_;
    void* const room =
        mmap(nullptr, region.room_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) {
      let_go();
      throw std::bad_alloc();
    }
    region.room = static_cast<std::byte*>(room);
    region.shift = (region.begin - reinterpret_cast<std::uint64_t>(room)) % part_bytes_;
    region.parts = std::vector<Part>(part_of(region, region.end - 1) + 1);
    region.copied.resize(region.page_of(region.end));
  }
  active = this;
  watching_ = true;
  struct sigaction ours {};
  ours.sa_sigaction = on_fault;
  ours.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigemptyset(&ours.sa_mask);
  bool all = sigaction(SIGSEGV, &ours, &before_us) == 0;
  for (const Region& region : regions_)
    all = all && mprotect(pointer(region.begin), region.end - region.begin, PROT_READ) == 0;
  if (all) return;
  let_go();
  throw std::bad_alloc();
}

WrittenPages::~WrittenPages() { let_go(); }

void WrittenPages::let_go() {
  stop();
  for (Region& region : regions_) {
    for (Part& part : region.parts) delete[] part.codes.load();
    if (region.room != nullptr) munmap(region.room, region.room_bytes);
  }
  regions_.clear();
}

void WrittenPages::stop() {
  if (!watching_) return;
  watching_ = false;
  for (const Region& region : regions_)
    (void)mprotect(pointer(region.begin), region.end - region.begin, PROT_READ | PROT_WRITE);
  sigaction(SIGSEGV, &before_us, nullptr);
  active = nullptr;
}

void WrittenPages::restore() {
  each([](std::uint64_t page, const std::byte* before, const std::uint8_t*) {
    std::memcpy(pointer(page), before, kHostPageBytes);
  });
}

WrittenPages::Region* WrittenPages::region_of(std::uint64_t address) {
  const auto after = std::upper_bound(regions_.begin(), regions_.end(), address,
                                      [](std::uint64_t at, const Region& region) { return at < region.begin; });
  return after == regions_.begin() || address >= std::prev(after)->end ? nullptr : &*std::prev(after);
}

// Results often begin as zeros: to compare them costs less than new memory for a copy.
void WrittenPages::copy(Region& region, const AddressRange& at) {
#ifdef MADV_POPULATE_READ
  // Otherwise, each page of which nothing was read or written yet is a fault. An older system ignores this.
  (void)madvise(pointer(at.begin), at.size(), MADV_POPULATE_READ);
#endif
  for (std::uint64_t page = at.begin; page < at.end; page += kHostPageBytes) {
    if (std::memcmp(pointer(page), kZeros.data(), kHostPageBytes) == 0) continue;
    std::memcpy(region.copy_of(page), pointer(page), kHostPageBytes);
    region.copied[region.page_of(page)] = 1;
  }
}

// Of several threads that write to a part for the first time, one copies it, and the others wait.
bool WrittenPages::open(std::uint64_t address) {
  Region* const region = region_of(address);
  if (region == nullptr) return false;
  const std::uint64_t number = part_of(*region, address);
  Part& part = region->parts[number];
  std::uint8_t expected = kProtected;
  if (part.state.compare_exchange_strong(expected, kCopying)) {
    const AddressRange at = range_of(*region, number);
    copy(*region, at);
    if (mprotect(pointer(at.begin), at.size(), PROT_READ | PROT_WRITE) != 0) return false;
    part.state = kOpen;
    return true;
  }
  while (part.state != kOpen) std::this_thread::yield();
  return true;
}

void WrittenPages::on_fault(int signal, siginfo_t* info, void* context) {
  WrittenPages* const watched = active;
  if (watched != nullptr && watched->open(reinterpret_cast<std::uint64_t>(info->si_addr))) return;
  if ((before_us.sa_flags & SA_SIGINFO) != 0) return before_us.sa_sigaction(signal, info, context);
  sigaction(signal, &before_us, nullptr); // the instruction runs again, and ends the process
}

void WrittenPages::reduced(std::uint64_t address, std::uint8_t code) {
  Region* const region = region_of(address);
  if (region == nullptr) return;
  std::atomic<std::uint8_t*>& codes = region->parts[part_of(*region, address)].codes;
  std::uint8_t* list = codes.load(std::memory_order_acquire);
  if (list == nullptr) {
    auto* const made = new std::uint8_t[part_bytes_ / 4]();
    if (codes.compare_exchange_strong(list, made))
      list = made;
    else
      delete[] made;
  }
  const std::uint64_t word = address % part_bytes_ / 4, words = (code & kWide) != 0 ? 2 : 1;
  for (std::uint64_t i = word; i < word + words; ++i) {
    const std::atomic_ref<std::uint8_t> known(list[i]);
    const std::uint8_t now = known.load(std::memory_order_relaxed);
    if (now == code) continue;
    known.store(now == 0 ? code : code_of(Reduction::mixed, 4), std::memory_order_relaxed);
  }
}

namespace {

template <class U> U combined_words(Reduction reduction, U before, U one, U other) {
  using S = std::make_signed_t<U>;
  switch (reduction) {
  case Reduction::add: return one + other - before;
  case Reduction::conjunction: return one & other;
  case Reduction::disjunction: return one | other;
  case Reduction::exclusive: return one ^ other ^ before;
  case Reduction::minimum: return std::min(one, other);
  case Reduction::maximum: return std::max(one, other);
  case Reduction::signed_minimum: return static_cast<U>(std::min(static_cast<S>(one), static_cast<S>(other)));
  case Reduction::signed_maximum: return static_cast<U>(std::max(static_cast<S>(one), static_cast<S>(other)));
  case Reduction::none:
  case Reduction::mixed: break;
  }
  return one;
}

} // namespace

std::uint64_t combined(std::uint8_t code, std::uint64_t before, std::uint64_t one, std::uint64_t other) {
  const auto reduction = static_cast<Reduction>(code & (kWide - 1));
  if ((code & kWide) != 0) return combined_words<std::uint64_t>(reduction, before, one, other);
  return combined_words<std::uint32_t>(reduction, static_cast<std::uint32_t>(before), static_cast<std::uint32_t>(one),
                                       static_cast<std::uint32_t>(other));
}

} // namespace warplens::exec
