// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/memory/memory.hpp"

#include "emulator/base/checked.hpp"
#include "emulator/exec/memory/guarded_memory.hpp"

#include <fmt/format.h>

#include <sys/mman.h>

#include <algorithm>
#include <iterator>

namespace warplens::exec {

namespace {

constexpr std::uint64_t kAllocationAlignment = 256;
// At least this many unused bytes follow each allocation, so that small overruns are always detected.
constexpr std::uint64_t kGap = 256;

// Freed memory that is not used again: of address space, as the memory itself is returned to the system.
constexpr std::uint64_t kMostFreed = std::uint64_t{64} << 30;

/// The space that an allocation takes, including the gap.
Checked span_of(std::uint64_t size) { return (Checked(size) + kGap).aligned(kAllocationAlignment); }

/// Only what was made accessible: for the system, to map the whole place anew takes longer than all else that a context
/// of a small launch costs.
void make_inaccessible(const std::vector<bool>& pages, std::uint64_t base, bool shared) {
  for (auto at = std::find(pages.begin(), pages.end(), true); at != pages.end();) {
    const auto end = std::find(at, pages.end(), false);
    const std::uint64_t begin = base + static_cast<std::uint64_t>(at - pages.begin()) * kPageBytes;
    const std::uint64_t bytes = static_cast<std::uint64_t>(end - at) * kPageBytes;
    // Without shared pages, the system's tables of the range can stay.
    if (shared || madvise(pointer(begin), bytes, MADV_DONTNEED) != 0 || mprotect(pointer(begin), bytes, PROT_NONE) != 0)
      (void)mmap(pointer(begin), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    at = std::find(end, pages.end(), true);
  }
}

/// The pages of the system in which only one allocation is. Others are cleared when it is freed, for which the system
/// has to provide those that nobody has touched.
AddressRange own_pages(const std::map<std::uint64_t, Allocation>& allocations, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t page = system_page_bytes(), low = begin / page * page,
                      high = Checked(end).aligned(page).saturated();
  AddressRange own{Checked(begin).aligned(page).saturated(), end / page * page};
  const auto after = allocations.upper_bound(begin), before = allocations.lower_bound(begin);
  if (after == allocations.end() || after->first >= high) own.end = high;
  if (before == allocations.begin()) return {low, own.end};
  const Allocation& last = std::prev(before)->second;
  if (last.begin + span_of(last.size()).saturated() <= low) own.begin = low;
  return own;
}

} // namespace

bool in_used_pages(std::span<const Allocation> allocations, std::uint64_t low, std::uint64_t high) {
  if (low >= high) return false;
  const auto first_byte = [](const Allocation& a) { return a.begin / a.page_bytes * a.page_bytes; };
  const auto end_of_pages = [](const Allocation& a) { return Checked(a.end).aligned(a.page_bytes).saturated(); };
  for (std::uint64_t at = low; at < high;) {
    const auto after = std::upper_bound(allocations.begin(), allocations.end(), at,
                                        [](std::uint64_t x, const Allocation& a) { return x < a.begin; });
    if (after != allocations.begin() && end_of_pages(*(after - 1)) > at)
      at = end_of_pages(*(after - 1));
    else if (after != allocations.end() && first_byte(*after) <= at && end_of_pages(*after) > at)
      at = end_of_pages(*after);
    else
      return false;
  }
  return true;
}

Expected<std::unique_ptr<Arena>> Arena::reserve() {
  if (const std::optional<MemoryPlace> place = take_place()) return std::unique_ptr<Arena>(new Arena(*place));
  return failure("cannot reserve address space for device memory", "is the address space limited (ulimit -v)?");
}

Arena::Arena(const MemoryPlace& place) : place_(place) {
  const std::array<AddressRange, 2> both = ranges();
  for (std::size_t i = 0; i < both.size(); ++i) {
    free_.give(both[i].begin, both[i].size());
    accessible_[i].resize(both[i].size() / kPageBytes);
  }
}

Arena::~Arena() {
  for (std::size_t i = 0; i < accessible_.size(); ++i)
    make_inaccessible(accessible_[i], ranges()[i].begin, shared_.has_value());
  give_back(place_);
}

std::string Arena::remark() const {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return {}; // their tables occupy the usual place
#endif
  if (place_.usual) return {};
  const bool has_low = place_.low.size() != 0;
  return fmt::format("device memory is at {} in this process because its usual place is taken or the address space is "
                     "limited (ulimit -v): addresses differ from those of other runs{}",
                     has_low ? fmt::format("{:#x} and {:#x}", place_.low.begin, place_.high.begin)
                             : fmt::format("{:#x}", place_.high.begin),
                     has_low ? "" : ", and 32-bit modules cannot run");
}

// Pages remain accessible: a kernel may still be running when the memory is freed.
bool Arena::make_accessible(std::uint64_t begin, std::uint64_t end) {
  const std::size_t zone = begin >= place_.low.begin && begin < place_.low.end ? 0 : 1;
  const std::uint64_t base = ranges()[zone].begin;
  std::vector<bool>& pages = accessible_[zone];
  std::size_t page = (begin - base) / kPageBytes;
  const std::size_t last = (end - 1 - base) / kPageBytes;
  while (page <= last) {
    if (pages[page]) {
      ++page;
      continue;
    }
    std::size_t until = page;
    while (until <= last && !pages[until]) ++until;
    if (mprotect(reinterpret_cast<void*>(base + page * kPageBytes), (until - page) * kPageBytes,
                 PROT_READ | PROT_WRITE) != 0)
      return false;
    for (; page < until; ++page) pages[page] = true;
  }
  return true;
}

Expected<std::uint64_t> Arena::allocate(std::uint64_t size, std::string name, Options options) {
  const std::lock_guard lock(mutex_);
  const std::optional<std::uint64_t> span = span_of(size).value();
  const auto take = [&] { return free_.take(*span, std::max(options.alignment, kAllocationAlignment)); };
  std::optional<std::uint64_t> begin = span ? take() : std::nullopt;
  while (span && !begin && reuse_oldest()) begin = take();
  if (begin && make_accessible(*begin, *begin + *span)) {
    allocations_.emplace(
        *begin, Allocation{*begin, *begin + size, std::move(name), options.constant, options.page_bytes, options.host});
    return *begin;
  }
  if (begin) free_.give(*begin, *span);
  return failure(fmt::format("out of device memory: '{}' needs {} bytes, the arena has {}", name, size, this->size()));
}

bool Arena::free(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return false;
  // Return the memory to the system; the next owner gets zeros. This includes the gap: overruns may have written it.
  const std::uint64_t end = address + span_of(found->second.size()).saturated();
  const std::uint64_t page = system_page_bytes();
  std::uint64_t first = Checked(address).aligned(page).saturated(), last = end / page * page;
  if (!shared_) { // otherwise, which pages are shared depends on the allocation
    const AddressRange own = own_pages(allocations_, address, end);
    first = own.begin, last = own.end;
  }
  const auto clear = [](std::uint64_t from, std::uint64_t to) {
    std::fill(reinterpret_cast<std::byte*>(from), reinterpret_cast<std::byte*>(to), std::byte{});
  };
  if (last > first) {
    if (shared_) shared_->drop(first, last);
    madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
    clear(address, std::max(address, first));
    clear(std::min(last, end), end);
  } else {
    clear(address, end);
  }
  if (keeps_freed_) {
    freed_.insert(*found);
    freed_order_.push_back(address);
    freed_bytes_ += end - address;
    while (freed_bytes_ > kMostFreed && reuse_oldest()) {
    }
  } else {
    free_.give(address, end - address);
  }
  allocations_.erase(found);
  return true;
}

Expected<Arena::Shared> Arena::share(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return failure(fmt::format("no allocation begins at {:#x}", address));
  if (!shared_) shared_.emplace(ranges());
  if (!shared_->share(address, std::max(found->second.end, address + 1)))
    return failure(fmt::format("no memory to share '{}' with other processes", found->second.name));
  return Shared{shared_->file(), shared_->offset_of(address)};
}

bool Arena::reuse_oldest() {
  if (freed_order_.empty()) return false;
  const auto oldest = freed_.find(freed_order_.front());
  const std::uint64_t span = span_of(oldest->second.size()).saturated();
  free_.give(oldest->first, span);
  freed_bytes_ -= span;
  freed_order_.pop_front();
  freed_.erase(oldest);
  return true;
}

void Arena::keep_freed() {
  const std::lock_guard lock(mutex_);
  keeps_freed_ = true;
}

std::vector<Allocation> Arena::freed() const {
  const std::lock_guard lock(mutex_);
  std::vector<Allocation> list;
  list.reserve(freed_.size());
  for (const auto& [begin, a] : freed_) list.push_back(a);
  return list;
}

std::vector<Allocation> Arena::snapshot() const {
  const std::lock_guard lock(mutex_);
  std::vector<Allocation> list;
  list.reserve(allocations_.size());
  for (const auto& [begin, a] : allocations_) list.push_back(a);
  return list;
}

} // namespace warplens::exec
