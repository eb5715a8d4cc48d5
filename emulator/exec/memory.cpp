#include "emulator/exec/memory.hpp"

#include <fmt/format.h>

#include <sys/mman.h>

namespace warplens::exec {

namespace {

constexpr std::uint64_t kAlignment = 256;
// Between two allocations lie at least this many bytes that belong to nobody: small overruns are always seen.
constexpr std::uint64_t kGap = 256;

struct Candidate {
  std::uint64_t base, size;
};
// Low, so that the first gigabytes have 32-bit addresses; the later ones are for processes that use that range.
constexpr Candidate kCandidates[] = {
    {0x2000'0000, std::uint64_t{64} << 30},
    {0x2000'0000, 0x5000'0000},
    {0x1000'0000'0000, std::uint64_t{64} << 30},
    {0, std::uint64_t{16} << 30},
};

} // namespace

Expected<std::unique_ptr<Arena>> Arena::reserve() {
  for (const Candidate& c : kCandidates) {
    const int fixed = c.base != 0 ? MAP_FIXED_NOREPLACE : 0;
    void* p = mmap(reinterpret_cast<void*>(c.base), c.size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
    if (p == MAP_FAILED) continue;
    const auto base = reinterpret_cast<std::uint64_t>(p);
    if (c.base != 0 && base != c.base) { // a kernel without MAP_FIXED_NOREPLACE
      munmap(p, c.size);
      continue;
    }
    return std::unique_ptr<Arena>(new Arena(base, c.size));
  }
  return failure("cannot reserve address space for device memory", "is the address space limited (ulimit -v)?");
}

Arena::~Arena() { munmap(reinterpret_cast<void*>(base_), size_); }

Expected<std::uint64_t> Arena::allocate(std::uint64_t size, std::string name) {
  const std::lock_guard lock(mutex_);
  const auto out_of_memory = [&] {
    return failure(fmt::format("out of device memory: '{}' asks for {} bytes, the arena has {}", name, size, size_));
  };
  if (size > size_) return out_of_memory();
  // First fit: the lowest gap that is large enough, so that addresses do not depend on history more than needed.
  std::uint64_t begin = base_;
  for (const auto& [start, a] : allocations_) {
    if (start >= begin && start - begin >= size + kGap) break;
    begin = (a.end + kGap + kAlignment - 1) / kAlignment * kAlignment;
  }
  if (begin + size + kGap > base_ + size_) return out_of_memory();
  allocations_.emplace(begin, Allocation{begin, begin + size, std::move(name)});
  return begin;
}

bool Arena::free(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return false;
  // Give the pages back; the next owner finds zeros.
  const std::uint64_t size = found->second.size();
  constexpr std::uint64_t kPage = 4096;
  const std::uint64_t first = (address + kPage - 1) / kPage * kPage, last = (address + size) / kPage * kPage;
  auto* bytes = reinterpret_cast<std::byte*>(address);
  if (last > first) {
    madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
    std::fill(bytes, bytes + (first - address), std::byte{});
    std::fill(reinterpret_cast<std::byte*>(last), bytes + size, std::byte{});
  } else {
    std::fill(bytes, bytes + size, std::byte{});
  }
  allocations_.erase(found);
  return true;
}

std::vector<Allocation> Arena::snapshot() const {
  const std::lock_guard lock(mutex_);
  std::vector<Allocation> list;
  list.reserve(allocations_.size());
  for (const auto& [begin, a] : allocations_) list.push_back(a);
  return list;
}

} // namespace warplens::exec
