// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/memory.hpp"

#include "runtime/driver/machine/board.hpp"
#include "runtime/driver/machine/host_checks.hpp"
#include "runtime/driver/machine/serve.hpp"

#include <fmt/format.h>

namespace warplens::runtime {

namespace {

constexpr const char* kNames[] = {"device", "managed", "host",   "registered", "array",
                                  "module", "pool",    "mapped", "imported"};

bool is_host_writable(Allocation::Kind kind) {
  return kind == Allocation::Kind::managed || kind == Allocation::Kind::host || kind == Allocation::Kind::registered;
}

bool counts(Allocation::Kind kind) {
  return kind != Allocation::Kind::host && kind != Allocation::Kind::registered &&
         kind != Allocation::Kind::virtual_range && kind != Allocation::Kind::imported;
}

/// Outside the arena.
bool is_elsewhere(Allocation::Kind kind) {
  return kind == Allocation::Kind::registered || kind == Allocation::Kind::virtual_range ||
         kind == Allocation::Kind::imported;
}

bool others_write(const Allocation& a) { return is_host_writable(a.kind) || a.shared != nullptr; }

} // namespace

void Memory::count(const Allocation& a) {
  if (counts(a.kind)) used_ += a.size;
  if (others_write(a)) ++written_by_others_;
  if (is_elsewhere(a.kind)) ++in_shared_pages_;
  if (is_elsewhere(a.kind))
    api_->admit(a.begin, a.size, fmt::format("{} memory {}", kNames[static_cast<std::size_t>(a.kind)], a.id),
                a.kind == Allocation::Kind::registered);
}

void Memory::uncount(const Allocation& a) {
  if (counts(a.kind)) used_ -= a.size;
  if (others_write(a)) --written_by_others_;
  if (is_elsewhere(a.kind)) --in_shared_pages_;
  if (is_elsewhere(a.kind)) api_->withdraw(a.begin);
}

std::uint64_t Memory::allocate(std::uint64_t size, Allocation::Kind kind, const void* owner, unsigned flags) {
  require(size != 0);
  const std::lock_guard lock(mutex_);
  if (counts(kind)) require(size <= limit_ && used_ <= limit_ - size, CUDA_ERROR_OUT_OF_MEMORY);
  // Small pieces of host and managed memory share pages with others; large ones end exactly at their size
  // (tests/data/hardware).
  const bool ends_exactly =
      (kind == Allocation::Kind::host || kind == Allocation::Kind::managed) && size > exec::kPageBytes;
  const auto buffer = api::Buffer::allocate(
      api_, size, fmt::format("{} memory {}", kNames[static_cast<std::size_t>(kind)], next_id_),
      {.page_bytes = ends_exactly ? exec::kHostPageBytes : exec::kPageBytes, .host = kind == Allocation::Kind::host});
  require(static_cast<bool>(buffer), CUDA_ERROR_OUT_OF_MEMORY);
  const std::uint64_t begin = (*buffer)->address();
  Allocation& made = allocations_[begin];
  made = {kind, begin, size, next_id_++, flags, owner, *buffer};
  count(made);
  tell_allocated(made, (*buffer)->name());
  return begin;
}

void Memory::add(Allocation allocation) {
  const std::lock_guard lock(mutex_);
  allocation.id = next_id_++;
  count(allocation);
  tell_allocated(allocation, allocation.buffer ? allocation.buffer->name() : "");
  allocations_[allocation.begin] = std::move(allocation);
}

bool Memory::free(std::uint64_t address, Allocation::Kind kind) {
  const std::lock_guard lock(mutex_);
  const auto found = allocations_.find(address);
  if (found == allocations_.end() || found->second.kind != kind) return false;
  uncount(found->second);
  allocations_.erase(found);
  tell_freed(address);
  return true;
}

std::optional<Allocation> Memory::begin_free(std::uint64_t address, Allocation::Kind kind) {
  const std::lock_guard lock(mutex_);
  const auto found = allocations_.find(address);
  if (found == allocations_.end() || found->second.kind != kind || found->second.dying) return std::nullopt;
  found->second.dying = true;
  tell_dying(address);
  return found->second;
}

std::shared_ptr<Shared> Memory::share(std::uint64_t address) {
  const std::lock_guard nobody_writes(writing_);
  HostChecks* const checks = host_checks();
  if (checks != nullptr) checks->open_pages();
  std::shared_ptr<Shared> shared = share_unwritten(address);
  if (checks != nullptr) checks->close_pages();
  return shared;
}

std::shared_ptr<Shared> Memory::share_unwritten(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto after = allocations_.upper_bound(address);
  require(after != allocations_.begin());
  Allocation& a = std::prev(after)->second;
  require(address < a.end() && a.kind == Allocation::Kind::device && !a.dying);
  if (a.shared) return a.shared;
  std::shared_ptr<Shared> shared = Shared::make(SharedKind::memory);
  const Expected<exec::Arena::Shared> place = api_->arena().share(a.begin);
  if (!place) throw Failure{CUDA_ERROR_OUT_OF_MEMORY, render(place.error(), {})};
  shared_ever_ = true;
  (*shared)->offset = place->offset;
  (*shared)->size = a.size;
  (*shared)->file = place->file;
  uncount(a);
  a.shared = shared;
  count(a);
  return shared;
}

void Memory::free_all_of(const void* owner) {
  const std::lock_guard lock(mutex_);
  std::erase_if(allocations_, [&](const auto& entry) {
    if (entry.second.owner != owner) return false;
    uncount(entry.second);
    tell_defined(entry.second);
    return true;
  });
}

std::vector<Allocation> Memory::host_writable() const {
  const std::lock_guard lock(mutex_);
  std::vector<Allocation> list;
  for (const auto& [begin, allocation] : allocations_)
    if (is_host_writable(allocation.kind)) list.push_back(allocation);
  return list;
}

std::optional<Allocation> Memory::find(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return std::nullopt;
  const Allocation& candidate = std::prev(after)->second;
  if (address >= candidate.end()) return std::nullopt;
  return candidate;
}

bool Memory::covers(std::uint64_t address, std::uint64_t size) const {
  const std::lock_guard lock(mutex_);
  const auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return false;
  const Allocation& candidate = std::prev(after)->second;
  return size <= candidate.size && address - candidate.begin <= candidate.size - size;
}

bool Memory::overlaps(std::uint64_t address, std::uint64_t size) const {
  const std::lock_guard lock(mutex_);
  const auto after = allocations_.lower_bound(address + size);
  return after != allocations_.begin() && std::prev(after)->second.end() > address;
}

bool Memory::has_room(std::uint64_t size) const {
  const std::lock_guard lock(mutex_);
  return size <= limit_ && used_ <= limit_ - size;
}

void Memory::claim(std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  require(size <= limit_ && used_ <= limit_ - size, CUDA_ERROR_OUT_OF_MEMORY);
  used_ += size;
}

void Memory::unclaim(std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  used_ -= size;
}

std::uint64_t Memory::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

} // namespace warplens::runtime
