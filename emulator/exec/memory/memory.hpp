// SPDX-License-Identifier: Apache-2.0
// Device memory: an arena at the same address in each process, which makes reports reproducible. A device address is a
// host address. Allocations are 256-byte aligned and named; the bounds checks use them.
//
//   Arena arena = …;  void* a = *arena.allocate(1024, "a");   // 0x50000000
#pragma once

#include "emulator/base/expected.hpp"
#include "emulator/exec/memory/address_space.hpp"
#include "emulator/exec/memory/extents.hpp"
#include "emulator/exec/memory/shared_pages.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace warplens::exec {

/// The page size of a GPU: accesses past the end of an allocation succeed within its pages (tests/data/hardware).
constexpr std::uint64_t kPageBytes = std::uint64_t{2} << 20;
constexpr std::uint64_t kHostPageBytes = 4096;

struct Allocation {
  std::uint64_t begin = 0;
  std::uint64_t end = 0; ///< one past the last byte
  std::string name;
  bool constant = false;                 ///< a .const variable: kernels may only read it
  std::uint64_t page_bytes = kPageBytes; ///< size of its pages
  bool host = false;                     ///< memory of the host, which kernels access over the bus
  [[nodiscard]] std::uint64_t size() const { return end - begin; }
};

/// Whether each page that [low, high) touches contains an allocation; `allocations` are sorted by address.
bool in_used_pages(std::span<const Allocation> allocations, std::uint64_t low, std::uint64_t high);

/// The arena of a context. Thread-safe.
class Arena {
public:
  struct Options {
    std::uint64_t alignment = 256; ///< a power of two, at least 256
    bool constant = false;
    std::uint64_t page_bytes = kPageBytes; ///< Allocation::page_bytes
    bool host = false;                     ///< Allocation::host
  };

  /// Reserves address space (not memory).
  static Expected<std::unique_ptr<Arena>> reserve();
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Zeroed bytes at the lowest free address. Size 0 gives an empty allocation. Error: out of memory.
  Expected<std::uint64_t> allocate(std::uint64_t size, std::string name, Options options);
  Expected<std::uint64_t> allocate(std::uint64_t size, std::string name) {
    return allocate(size, std::move(name), Options{});
  }
  /// False if `address` is not the start of an allocation.
  bool free(std::uint64_t address);

  /// Where other processes find an allocation.
  struct Shared {
    int file = -1;
    std::uint64_t offset = 0; ///< in bytes
  };
  /// From now on, the pages of the allocation that begins there are in a file, until it is freed. Nobody may write
  /// these pages during the call. Error: no such allocation, out of memory.
  Expected<Shared> share(std::uint64_t address);

  /// From now on, freed memory is not used again while there is other: for memcheck.
  void keep_freed();
  /// What is freed and not used again, sorted by address.
  [[nodiscard]] std::vector<Allocation> freed() const;

  /// All allocations, sorted by address. A launch checks its accesses against them.
  [[nodiscard]] std::vector<Allocation> snapshot() const;
  /// The address ranges of current and future device memory.
  [[nodiscard]] std::array<AddressRange, 2> ranges() const { return {place_.low, place_.high}; }
  [[nodiscard]] std::uint64_t size() const { return place_.low.size() + place_.high.size(); }
  /// A remark for the user if addresses differ from those of other processes; usually empty.
  [[nodiscard]] std::string remark() const;

private:
  explicit Arena(const MemoryPlace& place);
  bool make_accessible(std::uint64_t begin, std::uint64_t end);

  mutable std::mutex mutex_;
  const MemoryPlace place_;
  Extents free_;
  std::array<std::vector<bool>, 2> accessible_; ///< pages of place_.low and place_.high; the others are guards
  bool reuse_oldest();

  std::map<std::uint64_t, Allocation> allocations_; ///< by begin
  std::optional<SharedPages> shared_;               ///< since the first share()
  bool keeps_freed_ = false;
  std::map<std::uint64_t, Allocation> freed_; ///< by begin; …
  std::deque<std::uint64_t> freed_order_;     ///< … the oldest first
  std::uint64_t freed_bytes_ = 0;
};

/// Generic addresses of shared, local and parameter memory are in windows outside the range of host addresses.
constexpr std::uint64_t kSharedWindow = 0x0100'0000'0000'0000;
constexpr std::uint64_t kLocalWindow = 0x0200'0000'0000'0000;
constexpr std::uint64_t kParamWindow = 0x0300'0000'0000'0000;
constexpr std::uint64_t kWindowSize = std::uint64_t{1} << 32;
constexpr std::uint64_t kFunctionWindow = 0x0400'0000'0000'0000;
/// Shared memory of the CTA with rank r lies at r * kClusterStride of the shared space of its cluster, as on an H100
/// (tests/data/hardware/cluster_addresses.txt). Events and traps name its own bytes of a CTA by their offset, those of
/// others by the address plus kClusterStride: Cluster::place().
constexpr std::uint64_t kClusterStride = std::uint64_t{1} << 24;
/// With 32-bit addresses, the windows are at the top of the address space.
constexpr std::uint64_t kSharedWindow32 = 0xf000'0000;
constexpr std::uint64_t kFunctionWindow32 = 0xef00'0000;
constexpr std::uint64_t kLocalWindow32 = 0xf800'0000;
constexpr std::uint64_t kWindowSize32 = 0x0800'0000;

/// The address of a function, by its number in the module. Only calls can use it.
constexpr std::uint64_t function_address(std::uint32_t function, int address_bits) {
  return (address_bits == 32 ? kFunctionWindow32 : kFunctionWindow) + std::uint64_t{16} * (function + 1);
}

} // namespace warplens::exec
