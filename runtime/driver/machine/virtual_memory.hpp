// Virtual memory management: addresses and memory apart (CUDA Driver API reference, "Virtual Memory Management").
//
//   address = reserve(size);   handle = create(size);   map(address, size, handle);   allow(address, size, true);
//
// Memory is a file without a name, so that it can be mapped at several addresses. What is mapped and accessible stands
// in Memory, as the longest runs there are: an access may cross from one mapping into the next.
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

constexpr std::uint64_t kGranularity = 2 << 20; ///< of addresses and sizes, bytes

/// All functions throw Failure CUDA_ERROR_INVALID_VALUE for ranges that are not what they should be.
class VirtualMemory {
public:
  static VirtualMemory& instance();

  std::uint64_t reserve(std::uint64_t size, std::uint64_t alignment);
  void free(std::uint64_t address, std::uint64_t size); ///< nothing may be mapped there
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
  /// The mappings that cover the range without a gap.
  std::pair<std::map<std::uint64_t, Mapping>::iterator, std::map<std::uint64_t, Mapping>::iterator>
  whole(std::uint64_t address, std::uint64_t size);

  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> reserved_; ///< size by address
  std::map<std::uint64_t, Mapping> mappings_;       ///< by address
  std::map<std::uint64_t, std::uint64_t> runs_;     ///< what stands in Memory
};

} // namespace warplens::runtime
