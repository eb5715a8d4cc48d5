// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/pool.hpp"

#include "runtime/driver/machine/serve.hpp"

#include <algorithm>

namespace warplens::runtime {

CUdeviceptr Pool::allocate(std::size_t bytes) {
  Memory& memory = Machine::instance().memory();
  const std::uint64_t address = memory.allocate(bytes, Allocation::Kind::pool, this);
  const std::lock_guard lock(mutex_);
  used_ += bytes;
  used_high_ = std::max(used_high_, used_);
  return address;
}

void Pool::was_freed(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  used_ -= bytes;
}

std::uint64_t Pool::attribute(CUmemPool_attribute attribute) const {
  const std::lock_guard lock(mutex_);
  switch (attribute) {
  case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
  case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
  case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: return reuse_[static_cast<std::size_t>(attribute) - 1];
  case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: return release_threshold_;
  case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: // unused memory is not kept
  case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: return used_;
  case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
  case CU_MEMPOOL_ATTR_USED_MEM_HIGH: return used_high_;
  default: throw Failure{CUDA_ERROR_INVALID_VALUE, {}};
  }
}

void Pool::set_attribute(CUmemPool_attribute attribute, std::uint64_t value) {
  const std::lock_guard lock(mutex_);
  switch (attribute) {
  case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
  case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
  case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
    reuse_[static_cast<std::size_t>(attribute) - 1] = value;
    return;
  case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: release_threshold_ = value; return;
  case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
  case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
    require(value == 0); // restarts
    used_high_ = used_;
    return;
  default: throw Failure{CUDA_ERROR_INVALID_VALUE, {}};
  }
}

} // namespace warplens::runtime
