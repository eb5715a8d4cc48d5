// SPDX-License-Identifier: Apache-2.0
// The heap of a device, for malloc() and free() in kernels (CUDA C++ Programming Guide, "Dynamic Global Memory
// Allocation").
//
//   Heap heap(begin, 8 << 20);  heap.allocate(100)  ->  begin: the lowest block that is large enough
//
// Not thread-safe: launches that use it run their CTAs one after the other, so that addresses are the same in each run.
#pragma once

#include "emulator/exec/memory/extents.hpp"

#include <cstdint>
#include <map>

namespace warplens::exec {

class Heap {
public:
  Heap(std::uint64_t begin, std::uint64_t size) { free_.give(begin, size); }

  /// 16-byte aligned; 0 if no block is large enough.
  std::uint64_t allocate(std::uint64_t size);
  /// False if `address` is not a block.
  bool free(std::uint64_t address);

private:
  Extents free_;
  std::map<std::uint64_t, std::uint64_t> used_; ///< size by address
};

} // namespace warplens::exec
