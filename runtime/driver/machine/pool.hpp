// SPDX-License-Identifier: Apache-2.0
// Memory pools: the source of cuMemAllocAsync. Addresses are assigned at once, and memory freed in stream order returns
// to the machine when the stream reaches the free; a pool therefore holds only its settings and statistics.
#pragma once

#include "runtime/driver/machine/memory.hpp"

#include <array>
#include <mutex>

namespace warplens::runtime {

class Pool {
public:
  explicit Pool(const CUmemPoolProps& properties) : properties_(properties) {}

  /// Throws Failure CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_INVALID_VALUE for a size of zero.
  CUdeviceptr allocate(std::size_t bytes);
  void was_freed(std::uint64_t bytes);

  [[nodiscard]] const CUmemPoolProps& properties() const { return properties_; }
  /// Throw Failure CUDA_ERROR_INVALID_VALUE for an unknown attribute or an invalid value.
  [[nodiscard]] std::uint64_t attribute(CUmemPool_attribute attribute) const;
  void set_attribute(CUmemPool_attribute attribute, std::uint64_t value);

private:
  CUmemPoolProps properties_;
  mutable std::mutex mutex_;
  std::uint64_t release_threshold_ = 0, used_ = 0, used_high_ = 0;
  std::array<std::uint64_t, 3> reuse_{1, 1, 1}; ///< the three reuse attributes, which have no effect here
};

} // namespace warplens::runtime
