// SPDX-License-Identifier: Apache-2.0
// Virtual memory management: separate addresses and memory (CUDA Driver API reference, "Virtual Memory Management").
//
//   address = reserve(size);   handle = create(size);   map(address, size, handle);   allow(address, size, true);
//
// Memory is an anonymous file, so that it can be mapped at several addresses. Memory has an entry for each maximal run
// of mapped and accessible addresses: an access can cross from one mapping into the next.
#pragma once

#include "runtime/abi/driver.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace warplens::runtime {

/// Memory without an address.
class PhysicalMemory {
public:
  /// Throws Failure CUDA_ERROR_OUT_OF_MEMORY.
  PhysicalMemory(std::uint64_t size, const CUmemAllocationProp& properties);
  ~PhysicalMemory();
  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;
  [[nodiscard]] int file() const { return file_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const CUmemAllocationProp& properties() const { return properties_; }

private:
  int file_ = -1;
  std::uint64_t size_;
  CUmemAllocationProp properties_;
};

constexpr std::uint64_t kGranularity = 2 << 20; ///< for addresses and sizes, bytes

/// All functions throw Failure CUDA_ERROR_INVALID_VALUE for invalid ranges.
class VirtualMemory {
public:
  static VirtualMemory& instance();

  std::uint64_t reserve(std::uint64_t size, std::uint64_t alignment);
  void free(std::uint64_t address, std::uint64_t size); ///< nothing can be mapped there
  void map(std::uint64_t address, std::uint64_t size, std::uint64_t offset, std::shared_ptr<PhysicalMemory> memory);
  void unmap(std::uint64_t address, std::uint64_t size); ///< whole mappings
  void allow(std::uint64_t address, std::uint64_t size, CUmemAccess_flags access);
  [[nodiscard]] CUmemAccess_flags access(std::uint64_t address) const;
  [[nodiscard]] std::shared_ptr<PhysicalMemory> memory_at(std::uint64_t address) const;

private:
  struct Mapping {
    std::uint64_t size;
    std::shared_ptr<PhysicalMemory> memory;
    CUmemAccess_flags access;
  };
  void publish();
  /// The mappings that cover the range without gaps.
  std::pair<std::map<std::uint64_t, Mapping>::iterator, std::map<std::uint64_t, Mapping>::iterator>
  whole(std::uint64_t address, std::uint64_t size);

  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> reserved_; ///< size by address
  std::map<std::uint64_t, Mapping> mappings_;       ///< by address
  std::map<std::uint64_t, std::uint64_t> runs_;     ///< the entries in Memory
};

} // namespace warplens::runtime
