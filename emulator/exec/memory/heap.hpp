// SPDX-License-Identifier: Apache-2.0
// The heap of a device, for malloc() and free() in kernels (CUDA C++ Programming Guide, "Dynamic Global Memory
// Allocation").
//
//   Heap heap(begin, 8 << 20);  heap.allocate(100)  ->  begin: the lowest block that is large enough
//
// Launches that use it run their CTAs one after the other, so that addresses are the same in each run. Other launches
// may look up blocks at the same time, for memcheck:
//
//   heap.check();   heap.holds(begin, begin + 101) == false;   heap.free(begin);   heap.freed(begin)->size == 100
#pragma once

#include "emulator/exec/memory/address_space.hpp"
#include "emulator/exec/memory/extents.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace warplens::exec {

/// The thread that allocated or freed a block.
struct HeapUser {
  std::uint64_t launch = 0; ///< 0: the device runtime, for itself
  std::uint64_t cta = 0;
  std::uint32_t thread = 0, instruction = 0;
};

struct HeapBlock {
  std::uint64_t begin = 0, size = 0;
  HeapUser allocated = {}, freed = {};
  [[nodiscard]] std::uint64_t end() const { return begin + size; }
};

class Heap {
public:
  using User = HeapUser;
  using Block = HeapBlock;

  Heap(std::uint64_t begin, std::uint64_t size) : range_{begin, begin + size} { free_.give(begin, size); }

  /// From now on, gaps separate the blocks, and freed memory is not used again before there is no other.
  void check();

  /// 16-byte aligned; 0 if no block is large enough.
  std::uint64_t allocate(std::uint64_t size, const User& user = {});
  /// False if `address` is not a block.
  bool free(std::uint64_t address, const User& user = {});

  [[nodiscard]] const AddressRange& range() const { return range_; }
  /// Whether [low, high) is in one block.
  [[nodiscard]] bool holds(std::uint64_t low, std::uint64_t high) const;
  /// The block that contains the address, …
  [[nodiscard]] std::optional<Block> block(std::uint64_t address) const;
  /// … or did when it was freed, if its memory has not been used again.
  [[nodiscard]] std::optional<Block> freed(std::uint64_t address) const;
  /// The block that begins nearest to the address, also a freed one; empty: there is none.
  [[nodiscard]] std::optional<Block> nearest(std::uint64_t address) const;
  /// All blocks, by address.
  [[nodiscard]] std::vector<Block> blocks() const;

private:
  using Blocks = std::map<std::uint64_t, Block>; ///< by begin
  static std::optional<Block> containing(const Blocks& blocks, std::uint64_t address);
  [[nodiscard]] std::optional<std::uint64_t> span_of(std::uint64_t size) const;
  bool reuse_oldest();

  AddressRange range_;
  mutable std::mutex mutex_;
  Extents free_;
  Blocks used_;
  bool checks_ = false;
  Blocks freed_;                          ///< not used again yet; …
  std::deque<std::uint64_t> freed_order_; ///< … the oldest first
};

} // namespace warplens::exec
