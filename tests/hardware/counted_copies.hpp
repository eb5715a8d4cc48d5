// SPDX-License-Identifier: Apache-2.0
// Loads and stores of matrices, asynchronous copies and products of warp groups whose counters were asked of hardware:
// one of each in a kernel.
//
//   for (const CountedCopy& c : counted_copies()) load(counted_kernel(c)), launch("k", map of c, memory) …
#pragma once

#include "tests/programs/hopper/gpu.hpp"

#include <string>
#include <vector>

namespace warplens::tests {

struct CountedCopy {
  std::string group;                  ///< matrices, cp.async, bulk, tensor, products, scattered
  std::string name;                   ///< with its group, differs from all others
  std::string body;                   ///< PTX
  std::vector<std::uint32_t> offsets; ///< the first words of memory: what each lane adds to the begin of shared memory
  gpu::Tensor tensor;                 ///< of a copy by tensor map: its address is an offset in memory
  std::vector<std::uint32_t> box;
  bool im2col = false;
  std::uint32_t channels = 0, pixels = 0; ///< of im2col
  int bytes = 0;                          ///< that the mbarrier of each block expects, if it waits
  int threads = 32, blocks = 1;           ///< blocks: a cluster
  int mask = 1;                           ///< blocks whose mbarriers wait
};
std::vector<CountedCopy> counted_copies();

constexpr std::size_t kCountedMemory = std::size_t{1} << 22; ///< bytes of global memory
constexpr unsigned kCountedShared = 1 << 17;                 ///< bytes of shared memory

/// k(map, memory)
std::string counted_kernel(const CountedCopy& copy);
std::vector<std::uint32_t> counted_memory(const CountedCopy& copy);

} // namespace warplens::tests
