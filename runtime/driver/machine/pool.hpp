// Memory pools: what cuMemAllocAsync allocates from. Addresses are given out at once, and memory that is freed in
// stream order goes back to the machine when the stream comes there; so a pool holds only its settings and its numbers.
#pragma once

#include "runtime/driver/machine/memory.hpp"

#include <array>
#include <mutex>

namespace warplens::runtime {

class Pool {
public:
  explicit Pool(const CUmemPoolProps& properties) : properties_(properties) {}

  /// Throws Failure CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_INVALID_VALUE for no bytes.
  CUdeviceptr allocate(std::size_t bytes);
  void was_freed(std::uint64_t bytes);

  [[nodiscard]] const CUmemPoolProps& properties() const { return properties_; }
  /// Throw Failure CUDA_ERROR_INVALID_VALUE: no such attribute, or a value that it cannot have.
  [[nodiscard]] std::uint64_t attribute(CUmemPool_attribute attribute) const;
  void set_attribute(CUmemPool_attribute attribute, std::uint64_t value);

private:
  CUmemPoolProps properties_;
  mutable std::mutex mutex_;
  std::uint64_t release_threshold_ = 0, used_ = 0, used_high_ = 0;
  std::array<std::uint64_t, 3> reuse_{1, 1, 1}; ///< the three attributes about reuse, which change nothing here
};

} // namespace warplens::runtime
