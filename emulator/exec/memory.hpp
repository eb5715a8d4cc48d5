// Device memory: one arena at a fixed address, so that addresses, and every report with them, are the same in each
// run; a device address is a host address. Allocations are 256-byte aligned, named and known to the bounds checks.
//
//   Arena arena = …;  void* a = *arena.allocate(1024, "a");   // 0x20000000
#pragma once

#include "emulator/base/expected.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace warplens::exec {

struct Allocation {
  std::uint64_t begin = 0;
  std::uint64_t end = 0; ///< one past the last byte
  std::string name;
  [[nodiscard]] std::uint64_t size() const { return end - begin; }
};

/// The arena of a context. Thread-safe.
class Arena {
public:
  /// Reserves address space (not memory). Only the first arena of a process gets the fixed address.
  static Expected<std::unique_ptr<Arena>> reserve();
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Zeroed bytes at a 256-byte boundary. Size 0 gives an allocation of no bytes. Error: out of memory.
  Expected<std::uint64_t> allocate(std::uint64_t size, std::string name);
  /// False where `address` is not the begin of an allocation.
  bool free(std::uint64_t address);

  /// All allocations by address: what a launch checks its accesses against.
  [[nodiscard]] std::vector<Allocation> snapshot() const;
  [[nodiscard]] std::uint64_t begin() const { return base_; }
  [[nodiscard]] std::uint64_t end() const { return base_ + size_; }

private:
  Arena(std::uint64_t base, std::uint64_t size) : base_(base), size_(size) {}
  mutable std::mutex mutex_;
  std::uint64_t base_ = 0;
  std::uint64_t size_ = 0;
  std::map<std::uint64_t, Allocation> allocations_; ///< by begin
};

/// Generic addresses of shared, local and parameter memory lie in windows that no host address can fall into.
constexpr std::uint64_t kSharedWindow = 0x0100'0000'0000'0000;
constexpr std::uint64_t kLocalWindow = 0x0200'0000'0000'0000;
constexpr std::uint64_t kParamWindow = 0x0300'0000'0000'0000;
constexpr std::uint64_t kWindowSize = std::uint64_t{1} << 32;
constexpr std::uint64_t kFunctionWindow = 0x0400'0000'0000'0000;
/// Shared memory of the CTA with rank r in the cluster also lies at (r + 1) * kClusterStride of each CTA's shared
/// space.
constexpr std::uint64_t kClusterStride = std::uint64_t{1} << 24;
/// With 32-bit addresses the windows lie at the top of the address space.
constexpr std::uint64_t kSharedWindow32 = 0xf000'0000;
constexpr std::uint64_t kFunctionWindow32 = 0xef00'0000;
constexpr std::uint64_t kLocalWindow32 = 0xf800'0000;
constexpr std::uint64_t kWindowSize32 = 0x0800'0000;

/// The address of a function, by its number in the module: good for calls only.
constexpr std::uint64_t function_address(std::uint32_t function, int address_bits) {
  return (address_bits == 32 ? kFunctionWindow32 : kFunctionWindow) + std::uint64_t{16} * (function + 1);
}

} // namespace warplens::exec
