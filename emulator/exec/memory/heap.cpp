// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/memory/heap.hpp"

#include "emulator/base/checked.hpp"

#include <algorithm>

namespace warplens::exec {

namespace {
constexpr std::uint64_t kHeapAlignment = 16;
}

std::uint64_t Heap::allocate(std::uint64_t size) {
  const std::optional<std::uint64_t> whole = Checked(std::max(size, std::uint64_t{1})).aligned(kHeapAlignment).value();
  if (!whole) return 0;
  const std::optional<std::uint64_t> address = free_.take(*whole, kHeapAlignment);
  if (!address) return 0;
  used_[*address] = *whole;
  return *address;
}

bool Heap::free(std::uint64_t address) {
  const auto block = used_.find(address);
  if (block == used_.end()) return false;
  free_.give(address, block->second);
  used_.erase(block);
  return true;
}

} // namespace warplens::exec
