// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/memory/heap.hpp"

#include "emulator/base/checked.hpp"

#include <algorithm>

namespace warplens::exec {

namespace {
constexpr std::uint64_t kHeapAlignment = 16;
constexpr std::uint64_t kHeapGap = 64; ///< behind each block, if blocks are checked
} // namespace

void Heap::check() {
  const std::lock_guard lock(mutex_);
  checks_ = true;
}

std::optional<std::uint64_t> Heap::span_of(std::uint64_t size) const {
  return (Checked(std::max(size, std::uint64_t{1})) + (checks_ ? kHeapGap : 0)).aligned(kHeapAlignment).value();
}

bool Heap::reuse_oldest() {
  if (freed_order_.empty()) return false;
  const auto oldest = freed_.find(freed_order_.front());
  freed_order_.pop_front();
  free_.give(oldest->first, *span_of(oldest->second.size));
  freed_.erase(oldest);
  return true;
}

std::uint64_t Heap::allocate(std::uint64_t size, const User& user) {
  const std::lock_guard lock(mutex_);
  const std::optional<std::uint64_t> span = span_of(size);
  if (!span || *span > range_.size()) return 0;
  std::optional<std::uint64_t> address = free_.take(*span, kHeapAlignment);
  while (!address && reuse_oldest()) address = free_.take(*span, kHeapAlignment);
  if (!address) return 0;
  used_[*address] = {*address, std::max(size, std::uint64_t{1}), user, {}};
  return *address;
}

bool Heap::free(std::uint64_t address, const User& user) {
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(address);
  if (found == used_.end()) return false;
  if (checks_) {
    found->second.freed = user;
    freed_.insert(*found);
    freed_order_.push_back(address);
  } else {
    free_.give(address, *span_of(found->second.size));
  }
  used_.erase(found);
  return true;
}

std::optional<Heap::Block> Heap::containing(const Blocks& blocks, std::uint64_t address) {
  const auto after = blocks.upper_bound(address);
  if (after == blocks.begin() || address >= std::prev(after)->second.end()) return std::nullopt;
  return std::prev(after)->second;
}

bool Heap::holds(std::uint64_t low, std::uint64_t high) const {
  const std::lock_guard lock(mutex_);
  const std::optional<Block> found = containing(used_, low);
  return found && high <= found->end();
}

std::optional<Heap::Block> Heap::block(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  return containing(used_, address);
}

std::optional<Heap::Block> Heap::freed(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  return containing(freed_, address);
}

std::optional<Heap::Block> Heap::nearest(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  std::optional<Block> best;
  std::uint64_t least = 0;
  const auto consider = [&](const Block& block) {
    const std::uint64_t away = address < block.begin ? block.begin - address : address - block.begin;
    if (best && away >= least) return;
    best = block;
    least = away;
  };
  for (const Blocks* blocks : {&used_, &freed_}) {
    const auto after = blocks->upper_bound(address);
    if (after != blocks->begin()) consider(std::prev(after)->second);
    if (after != blocks->end()) consider(after->second);
  }
  return best;
}

std::vector<Heap::Block> Heap::blocks() const {
  const std::lock_guard lock(mutex_);
  std::vector<Block> list;
  for (const auto& [begin, block] : used_) list.push_back(block);
  return list;
}

} // namespace warplens::exec
