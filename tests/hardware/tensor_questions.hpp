// SPDX-License-Identifier: Apache-2.0
// Copies by tensor map that were asked of hardware: the maps, the copies, and the kernels that make them.
//
//   for (const TensorQuestion& q : tensor_questions()) encode(q), load(tensor_kernel(q)) …
//
// A block of 128 threads copies 16 KiB of `source` to shared memory (which begins at a multiple of 1024), makes one
// copy, and stores these 16 KiB to `out`, with a word: 2 if its
// mbarrier has completed a phase by tensor_bytes(), 1 if not. Of a cluster, the
// first block copies.
#pragma once

#include "tests/programs/hopper/gpu.hpp"

#include <string>
#include <vector>

namespace warplens::tests {

struct TensorQuestion {
  std::string what = "load"; ///< load, store, prefetch, or an operation of a reduction: add, min …
  gpu::Tensor tensor;        ///< its address is an offset in the memory of tensor_memory()
  std::vector<std::uint32_t> box;
  bool im2col = false;
  std::vector<int> lower, upper; ///< of im2col
  std::uint32_t channels = 0, pixels = 0;
  std::vector<int> at;      ///< coordinates
  std::vector<int> offsets; ///< of loads by im2col
  int shared = 0;           ///< the begin in shared memory, from the image's
  int blocks = 1, mask = 0; ///< of a cluster, multicast
  std::string after;        ///< `tensormap.replace` of these fields first

  [[nodiscard]] bool loads() const { return what == "load"; }
  [[nodiscard]] std::string text() const; ///< as JSON, without braces
};
std::vector<TensorQuestion> tensor_questions();

constexpr int kImage = 16384, kTensorMemory = 1 << 17;

/// Global memory, and shared memory before the copy.
std::vector<std::uint32_t> tensor_memory(const TensorQuestion& q);
std::vector<std::uint32_t> shared_memory(const TensorQuestion& q);

/// The bytes that the mbarrier of each block expects.
int tensor_bytes(const TensorQuestion& q);

/// k(map, memory, source, out)
std::string tensor_kernel(const TensorQuestion& q);

} // namespace warplens::tests
