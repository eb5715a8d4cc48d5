// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/virtual_memory.hpp"

#include "api/session/limits.hpp"
#include "runtime/driver/machine/serve.hpp"

#include <algorithm>
#include <sys/mman.h>
#include <unistd.h>

namespace warplens::runtime {

namespace {

void require_granular(std::uint64_t address, std::uint64_t size) {
  require(size != 0 && size % kGranularity == 0 && address % kGranularity == 0);
}

void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }

} // namespace

PhysicalMemory::PhysicalMemory(std::uint64_t size, const CUmemAllocationProp& properties)
    : size_(size), properties_(properties) {
  Machine::instance().memory().claim(size);
  file_ = memfd_create("warplens", MFD_CLOEXEC);
  if (file_ >= 0 && ftruncate(file_, static_cast<off_t>(size)) == 0) return;
  if (file_ >= 0) close(file_);
  Machine::instance().memory().unclaim(size);
  throw Failure{CUDA_ERROR_OUT_OF_MEMORY, {}};
}

PhysicalMemory::~PhysicalMemory() {
  close(file_);
  Machine::instance().memory().unclaim(size_);
}

VirtualMemory& VirtualMemory::instance() {
  static VirtualMemory& memory = *new VirtualMemory; // never destroyed, like the machine
  return memory;
}

std::uint64_t VirtualMemory::reserve(std::uint64_t size, std::uint64_t alignment) {
  require_granular(0, size);
  require((alignment & (alignment - 1)) == 0);
  alignment = std::max(alignment, kGranularity);
  require((Checked(size) + alignment).valid(), CUDA_ERROR_OUT_OF_MEMORY);
  // A hint in an unused range, so that addresses are the same in each process.
  static std::uint64_t hint = 0x2800'0000'0000;
  const std::lock_guard lock(mutex_);
  void* const all =
      mmap(pointer(hint), size + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require(all != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY);
  hint += size + alignment;
  const auto begin = reinterpret_cast<std::uint64_t>(all);
  const std::uint64_t address = (begin + alignment - 1) / alignment * alignment;
  if (address != begin) munmap(all, address - begin);
  if (address != begin + alignment) munmap(pointer(address + size), begin + alignment - address);
  reserved_[address] = size;
  return address;
}

void VirtualMemory::free(std::uint64_t address, std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  const auto found = reserved_.find(address);
  require(found != reserved_.end() && found->second == size);
  const auto mapped = mappings_.lower_bound(address);
  require(mapped == mappings_.end() || mapped->first >= address + size);
  munmap(pointer(address), size);
  reserved_.erase(found);
}

void VirtualMemory::map(std::uint64_t address, std::uint64_t size, std::uint64_t offset,
                        std::shared_ptr<PhysicalMemory> memory) {
  require_granular(address, size);
  require(offset % kGranularity == 0 && offset <= memory->size() && size <= memory->size() - offset);
  const std::lock_guard lock(mutex_);
  const auto after = reserved_.upper_bound(address);
  require(after != reserved_.begin());
  const auto& [begin, reserved] = *std::prev(after);
  require(address - begin < reserved && size <= reserved - (address - begin));
  const auto next = mappings_.lower_bound(address + size);
  require(next == mappings_.begin() || std::prev(next)->first + std::prev(next)->second.size <= address);
  void* const at = mmap(pointer(address), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory->file(),
                        static_cast<off_t>(offset));
  require(at != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY);
  mappings_[address] = {size, std::move(memory), CU_MEM_ACCESS_FLAGS_PROT_NONE};
}

std::pair<std::map<std::uint64_t, VirtualMemory::Mapping>::iterator,
          std::map<std::uint64_t, VirtualMemory::Mapping>::iterator>
VirtualMemory::whole(std::uint64_t address, std::uint64_t size) {
  require_granular(address, size);
  const auto first = mappings_.find(address);
  auto last = first;
  std::uint64_t at = address;
  while (last != mappings_.end() && last->first == at && at < address + size) at += (last++)->second.size;
  require(at == address + size);
  return {first, last};
}

void VirtualMemory::unmap(std::uint64_t address, std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  const auto [first, last] = whole(address, size);
  mappings_.erase(first, last);
  publish();
  require(mmap(pointer(address), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) !=
              MAP_FAILED,
          CUDA_ERROR_OUT_OF_MEMORY);
}

void VirtualMemory::allow(std::uint64_t address, std::uint64_t size, CUmemAccess_flags access) {
  const std::lock_guard lock(mutex_);
  const auto [first, last] = whole(address, size);
  for (auto m = first; m != last; ++m) m->second.access = access;
  publish();
}

void VirtualMemory::publish() {
  std::map<std::uint64_t, std::uint64_t> runs;
  for (const auto& [address, mapping] : mappings_) {
    if (mapping.access == CU_MEM_ACCESS_FLAGS_PROT_NONE) continue;
    const bool adjoins = !runs.empty() && runs.rbegin()->first + runs.rbegin()->second == address;
    // Separate reservations stay separate.
    if (adjoins && !reserved_.contains(address))
      runs.rbegin()->second += mapping.size;
    else
      runs[address] = mapping.size;
  }
  Memory& memory = Machine::instance().memory();
  for (const auto& [address, size] : runs_)
    if (const auto same = runs.find(address); same == runs.end() || same->second != size)
      memory.free(address, Allocation::Kind::virtual_range);
  for (const auto& [address, size] : runs)
    if (const auto same = runs_.find(address); same == runs_.end() || same->second != size)
      memory.add({Allocation::Kind::virtual_range, address, size, 0, 0, this, nullptr});
  runs_ = std::move(runs);
}

CUmemAccess_flags VirtualMemory::access(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  const auto after = mappings_.upper_bound(address);
  require(after != mappings_.begin() && address < std::prev(after)->first + std::prev(after)->second.size);
  return std::prev(after)->second.access;
}

std::shared_ptr<PhysicalMemory> VirtualMemory::memory_at(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  const auto after = mappings_.upper_bound(address);
  require(after != mappings_.begin() && address < std::prev(after)->first + std::prev(after)->second.size);
  return std::prev(after)->second.memory;
}

} // namespace warplens::runtime
