#include "emulator/exec/heap.hpp"

#include <algorithm>
#include <iterator>

namespace warplens::exec {

namespace {
constexpr std::uint64_t kAlignment = 16;
}

std::uint64_t Heap::allocate(std::uint64_t size) {
  if (size > ~std::uint64_t{0} - kAlignment) return 0;
  size = std::max((size + kAlignment - 1) / kAlignment, std::uint64_t{1}) * kAlignment;
  const auto found = std::find_if(free_.begin(), free_.end(), [&](const auto& block) { return block.second >= size; });
  if (found == free_.end()) return 0;
  const auto [address, available] = *found;
  free_.erase(found);
  if (available > size) free_[address + size] = available - size;
  used_[address] = size;
  return address;
}

bool Heap::free(std::uint64_t address) {
  const auto block = used_.find(address);
  if (block == used_.end()) return false;
  auto here = free_.emplace(address, block->second).first;
  used_.erase(block);
  // One block with the free ones on both sides.
  const auto after = std::next(here);
  if (after != free_.end() && here->first + here->second == after->first) {
    here->second += after->second;
    free_.erase(after);
  }
  if (here == free_.begin()) return true;
  const auto before = std::prev(here);
  if (before->first + before->second == here->first) {
    before->second += here->second;
    free_.erase(here);
  }
  return true;
}

} // namespace warplens::exec
